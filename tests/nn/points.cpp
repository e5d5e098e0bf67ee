#include <heed/autograd/checkpoint.h>
#include <heed/autograd/ops.h>
#include <heed/nn/attention.h>
#include <heed/nn/transformer_model.h>
#include <heed/tensor/compare.h>

#include <map>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;
using nn::Mask;

/// What modules show to those who watch them.
namespace {

/// The values and gradients of one module's last call, by the names of its points.
struct Record {
  explicit Record(nn::Module& module)
      : hook(module.register_point_hook([this](const nn::Point& point) {
          names.emplace_back(point.name);
          values[names.back()] = point.value.data();
          grads[names.back()] = point.watch_grad();
        })) {}

  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  std::vector<std::string> names;
  std::map<std::string, Tensor> values;
  std::map<std::string, std::shared_ptr<const Tensor>> grads;
  HookHandle hook;
};

const std::vector<std::string> kPoints{"input",  "query",   "key",   "value",
                                       "scores", "weights", "heads", "output"};

/// Output of run(x), gradient of x and those of all parameters of the layer.
template <class Run>
std::map<std::string, Tensor> results_of(nn::Module& layer, const Variable& x, Run&& run) {
  manual_seed(4);
  layer.zero_grad();
  const Variable output = run(x);
  output.backward(random_tensor(output.shape(), 8));
  std::map<std::string, Tensor> all{{"output", output.data()}};
  if (x.requires_grad()) all["x"] = x.grad().data();
  for (const auto& [name, parameter] : layer.named_parameters()) all[name] = parameter.grad().data();
  return all;
}

}  // namespace

TEST(points, every_attention_shows_the_same_names_and_watching_changes_no_bit) {
  const Tensor x = random_tensor({2, 40, 8});
  const Mask mask = Mask::valid_lengths(ids({40, 0}));
  nn::DotProductAttention dot({.dropout = 0.3});
  nn::SelfAttention single({.width = 8, .head_width = 4, .dropout = 0.3});
  nn::MultiHeadAttention heads({.width = 8, .heads = 2, .dropout = 0.3, .rotary = true});
  nn::AdditiveAttention additive({.query_width = 8, .key_width = 8, .hidden = 5, .dropout = 0.3});
  nn::MultiHeadAttention sums(
      {.width = 8, .heads = 2, .dropout = 0.3, .score = nn::each_head<nn::AdditiveScore>({.hidden = 5})});
  nn::AttentionPooling<nn::BilinearScore> pooling(
      {.score = {.query_width = 8, .key_width = 8}, .dropout = 0.3});
  const auto check = [&](auto& layer, const Shape& pairs, auto&& run) {
    const auto without = results_of(layer, Variable(x, true), run);
    const Record record(layer);
    EXPECT_TRUE(same_numbers(results_of(layer, Variable(x, true), run), without));
    EXPECT_EQ(record.names, kPoints);
    for (const std::string name : {"scores", "weights"}) {
      EXPECT_EQ(record.values.at(name).shape(), pairs);
      EXPECT_EQ(record.grads.at(name)->shape(), pairs);
    }
    for (const auto& [name, grad] : record.grads) EXPECT_TRUE(kernels::all_finite(*grad)) << name;
    EXPECT_TRUE(
        close(*record.grads.at("output"), random_tensor(record.values.at("output").shape(), 8), kExact));
    const Tensor of_hidden = record.grads.at("scores")->select(0, 1);
    EXPECT_TRUE(close(of_hidden, zeros(of_hidden.shape()), kExact));
  };
  check(dot, {2, 1, 40, 40}, [&](const Variable& in) { return dot(in, in, in, mask); });
  check(single, {2, 1, 40, 40}, [&](const Variable& in) { return single(in, mask); });
  check(heads, {2, 2, 40, 40}, [&](const Variable& in) { return heads(in, mask); });
  check(sums, {2, 2, 40, 40}, [&](const Variable& in) { return sums(in, mask); });
  check(additive, {2, 40, 40}, [&](const Variable& in) { return additive(in, in, in, mask); });
  check(pooling, {2, 40, 40}, [&](const Variable& in) { return pooling(in, in, in, mask); });
}

TEST(points, of_multi_head_attention_obey_its_formula_forward_and_backward) {
  nn::MultiHeadAttention layer({.width = 8, .heads = 2});
  layer.to(DType::f64);
  const Mask mask = Mask::valid_lengths(ids({6, 4})) & Mask::causal_order();
  const Variable x = f64_leaf({2, 6, 8});
  Record record(layer);
  const Variable output = layer(x, mask);
  output.backward(random_tensor(output.shape(), 8).to(DType::f64));
  const auto value = [&](const char* name) { return Variable(record.values.at(name)); };
  const auto slope = [&](const char* name) { return Variable(*record.grads.at(name)); };
  // (batch, length, heads * d) -> (batch, heads, length, d)
  const auto split = [](const Variable& v) { return v.reshape({2, 6, 2, 4}).transpose(1, 2); };
  const auto join = [](const Variable& v) { return v.transpose(1, 2).reshape({2, 6, 8}); };
  const auto expect_same = [](const Variable& got, const Variable& want) {
    EXPECT_TRUE(close(got.data(), want.data(), {.relative = 1e-9, .absolute = 1e-9}));
  };
  const Variable q = split(value("query")), k = split(value("key")), v = split(value("value"));
  expect_same(value("input"), x);
  expect_same(value("scores"), matmul(q, k.transpose(2, 3)) * 0.5);
  expect_same(value("weights"), masked_softmax(value("scores"), mask));
  expect_same(value("heads"), join(matmul(value("weights"), v)));
  expect_same(value("output"), output);
  const Variable weights = value("weights"), of_heads = split(slope("heads"));
  expect_same(slope("weights"), matmul(of_heads, v.transpose(2, 3)));
  const Variable mean = (weights * slope("weights")).sum({-1}, true);
  expect_same(slope("scores"), weights * (slope("weights") - mean));
  expect_same(slope("value"), join(matmul(weights.transpose(2, 3), of_heads)));
  expect_same(slope("query"), join(matmul(slope("scores"), k)) * 0.5);
  expect_same(slope("key"), join(matmul(slope("scores").transpose(2, 3), q)) * 0.5);
  expect_same(slope("input"), x.grad());
}

TEST(points, of_a_named_layer_deep_in_a_model_are_found_without_touching_a_bit) {
  nn::TransformerModel model(
      {.source_vocabulary = 11,
       .target_vocabulary = 13,
       .stack = {.width = 8, .feed_forward = 16, .heads = 2, .layers = 2, .dropout = 0.1}});
  const Tensor source = ids({{1, 2, 3, 4}, {5, 6, 0, 0}}), target = ids({{1, 2, 3}, {4, 5, 6}});
  const Tensor lengths = ids({4, 2});
  nn::Module& layer = model.get_submodule("decoder.layers.1.cross_attention");
  const auto run = [&](const Variable&) { return model(source, lengths, target); };
  const Variable none = zeros({});
  const auto without = results_of(model, none, run);
  const Record record(layer);
  EXPECT_TRUE(same_numbers(results_of(model, none, run), without));
  EXPECT_EQ(record.names, kPoints);
  EXPECT_EQ(record.grads.at("weights")->shape(), Shape({2, 2, 3, 4}));
}

TEST(points, are_shown_to_nobody_after_the_handle_is_gone) {
  nn::MultiHeadAttention layer({.width = 8, .heads = 2});
  const Variable x(random_tensor({1, 3, 8}), true);
  Record record(layer), other(layer);
  layer(x);
  record.hook.remove();
  layer(x);
  EXPECT_EQ(record.names.size(), 8);
  EXPECT_EQ(other.names.size(), 16);
}

TEST(points, have_values_but_no_gradients_without_a_graph) {
  nn::MultiHeadAttention layer({.width = 8, .heads = 2});
  Record record(layer);
  const NoGrad guard;
  layer(random_tensor({1, 3, 8}));
  EXPECT_EQ(record.values.at("scores").shape(), Shape({1, 2, 3, 3}));
  for (const auto& [name, grad] : record.grads) EXPECT_FALSE(grad->defined()) << name;
}

TEST(points, of_a_checkpointed_layer_get_their_gradients_in_the_second_run) {
  nn::MultiHeadAttention layer({.width = 8, .heads = 2});
  const Tensor numbers = random_tensor({2, 5, 8}), upstream = random_tensor({2, 5, 8}, 2);
  Record plain(layer);
  const Variable x(numbers, true);
  layer(x).backward(upstream);
  plain.hook.remove();
  Record record(layer);
  const Variable y(numbers, true);
  checkpoint([&](const Variable& in) { return layer(in); }, y).backward(upstream);
  EXPECT_EQ(record.names.size(), 16);
  EXPECT_TRUE(identical(y.grad().data(), *plain.grads.at("input"))) << "what goes in is watched outside";
  for (const std::string& name : std::span(kPoints).subspan(1))
    EXPECT_TRUE(identical(*record.grads.at(name), *plain.grads.at(name))) << name;
}

TEST(points, are_shown_by_a_layer_of_ones_own) {
  struct Gate : nn::Layer<Gate> {
    Variable forward(const Variable& x) {
      const Variable open = sigmoid(x);
      point("gate", open);
      return x * open;
    }
  } gate;
  Record record(gate);
  const Variable x(tensor_of({0, 2}), true);
  gate(x).sum().backward();
  EXPECT_EQ(record.names, std::vector<std::string>{"gate"});
  EXPECT_TRUE(close(*record.grads.at("gate"), {0, 2}, kExact));
  EXPECT_EQ(record.values.at("gate").at({0}), 0.5);
}
