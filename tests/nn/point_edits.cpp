#include <heed/autograd/ops.h>
#include <heed/nn/attention.h>
#include <heed/nn/embedding.h>
#include <heed/nn/recurrent.h>
#include <heed/nn/transformer.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;
using nn::Mask;

/// Other values in the places that modules show.
namespace {

/// The values that a module shows under one name, in order.
std::vector<Tensor> shown(nn::Module& module, const std::string& name, const std::function<void()>& run) {
  std::vector<Tensor> values;
  const HookHandle hook = module.register_point_hook([&](const nn::Point& point) {
    if (point.name == name) values.push_back(point.value.data());
  });
  run();
  return values;
}

nn::PointEdit give(const Tensor& value) {
  return [value](const nn::Point&) { return Variable(value); };
}

void expect_edits_everywhere(nn::MultiHeadAttention& layer) {
  const Variable x = random_tensor({2, 5, 8}), y = random_tensor({2, 5, 8}, 2);
  for (const std::string name : {"input", "query", "key", "value", "scores", "weights", "heads", "output"}) {
    const Tensor other = shown(layer, name, [&] { layer(y); }).at(0);
    const HookHandle edit = layer.register_point_edit(name, give(other));
    Variable output;
    const auto seen = shown(layer, name, [&] { output = layer(x); });
    EXPECT_TRUE(identical(seen.at(0), other)) << "hooks are shown the value that goes on";
  }
  // From the weights on, all that is left of x is its values.
  const Tensor weights = random_tensor({2, 2, 5, 5});
  const HookHandle edit = layer.register_point_edit("weights", give(weights));
  const auto value = shown(layer, "value", [&] { layer(x); }).at(0);
  const auto heads = shown(layer, "heads", [&] { layer(x); }).at(0);
  const Variable split = Variable(value).reshape({2, 5, 2, 4}).transpose(1, 2);
  const Variable want = matmul(weights, split).transpose(1, 2).reshape({2, 5, 8});
  EXPECT_TRUE(close(heads, want.data(), kF32));
}

}  // namespace

TEST(point_edits, put_their_value_into_every_point_of_an_attention) {
  nn::MultiHeadAttention products({.width = 8, .heads = 2});
  expect_edits_everywhere(products);
  nn::MultiHeadAttention sums(
      {.width = 8, .heads = 2, .score = nn::each_head<nn::AdditiveScore>({.hidden = 3})});
  expect_edits_everywhere(sums);
}

TEST(point_edits, of_scores_are_masked_and_normalized_like_those_they_replace) {
  nn::DotProductAttention layer;
  const Variable q = random_tensor({1, 3, 4}), k = random_tensor({1, 5, 4}), v = random_tensor({1, 5, 4}, 3);
  const Mask mask = Mask::valid_lengths(ids({3}));
  const HookHandle edit = layer.register_point_edit("scores", give(zeros({1, 1, 3, 5})));
  const nn::Attended attended = layer.attend(q, k, v, mask);
  const double third = 1.0 / 3;
  EXPECT_TRUE(close(attended.weights.data().select(1, 0), tensor_of({{third, third, third, 0, 0}}), kExact));
}

TEST(point_edits, that_change_nothing_change_no_bit_except_that_scores_and_weights_may_round) {
  const Mask mask = Mask::causal_order();
  nn::MultiHeadAttention layer({.width = 8, .heads = 2});
  const auto run = [&](const char* name) {
    const HookHandle edit =
        layer.register_point_edit(name, [](const nn::Point& point) { return point.value; });
    const Variable x(random_tensor({2, 5, 8}), true);
    const Variable output = layer(x, mask);
    output.backward(random_tensor(output.shape(), 8));
    return std::pair{output.data(), x.grad().data()};
  };
  const auto plain = run("of no such name");
  for (const char* name : {"input", "query", "key", "value", "heads", "output"}) {
    EXPECT_TRUE(identical(run(name).first, plain.first)) << name;
    EXPECT_TRUE(identical(run(name).second, plain.second)) << name;
  }
  for (const char* name : {"scores", "weights"}) {
    EXPECT_TRUE(close(run(name).first, plain.first, kF32)) << name;
    EXPECT_TRUE(close(run(name).second, plain.second, kF32)) << name;
  }
}

TEST(point_edits, let_gradients_through_the_value_that_they_give) {
  nn::MultiHeadAttention layer({.width = 8, .heads = 2});
  const Variable scale(tensor_of({0.5}), true);
  const HookHandle edit =
      layer.register_point_edit("weights", [&](const nn::Point& point) { return point.value * scale; });
  const Variable output = layer(random_tensor({1, 3, 8}));
  sum(output).backward();
  // The output without its bias is linear in the scale.
  const double bias = sum(Variable(layer.state_dict().at("out_proj.bias"))).item() * 3;
  EXPECT_NEAR(scale.grad().item(), (sum(output).item() - bias) / 0.5, 1e-4);
}

TEST(point_edits, wanted_in_the_shape_and_type_of_what_they_replace) {
  nn::DotProductAttention layer;
  const Variable x = random_tensor({1, 3, 4});
  const auto run_with = [&](const char* name, const Tensor& other) {
    const HookHandle edit = layer.register_point_edit(name, give(other));
    layer(x, x, x);
  };
  expect_error<ShapeError>(
      [&] {
        run_with("value", zeros({1, 4, 3}));
      },
      "[point] \"value\": wanted (1, 3, 4) in the place of f32(1, 3, 4), came f32(1, 4, 3)");
  expect_error<DTypeError>(
      [&] {
        run_with("weights", zeros({1, 1, 3, 3}, DType::f64));
      },
      "[point] \"weights\": wanted f32 in the place of f32(1, 1, 3, 3), came f64(1, 1, 3, 3)");
}

TEST(point_edits, come_in_order_and_end_with_their_handles) {
  nn::Embedding layer({.rows = 3, .width = 2});
  HookHandle first = layer.register_point_edit("output", [](const nn::Point& p) { return p.value * 0 + 2; });
  const HookHandle second =
      layer.register_point_edit("output", [](const nn::Point& p) { return p.value * 3; });
  EXPECT_EQ(layer(ids({1})).data().at({0, 0}), 6);
  first.remove();
  EXPECT_TRUE(
      close(layer(ids({1})).data(), (Variable(layer.weight().data()).slice(0, 1, 2) * 3).data(), kExact));
}

TEST(points, of_recurrent_layers_are_their_states_step_by_step) {
  nn::GRU gru({.inputs = 3, .hidden = 4, .layers = 2});
  nn::GRUResult result;
  const auto states = shown(gru.get_submodule("layers.1"), "state", [&] {
    result = gru(Variable(random_tensor({2, 5, 3})));
  });
  ASSERT_EQ(states.size(), 5);
  for (int64_t t = 0; t < 5; ++t)
    EXPECT_TRUE(identical(states[static_cast<size_t>(t)], result.output.data().select(1, t).contiguous()));
}

TEST(points, of_recurrent_layers_leave_out_rows_that_have_ended) {
  nn::GRU gru({.inputs = 3, .hidden = 4});
  nn::GRUResult result;
  const auto states = shown(gru.get_submodule("layers.0"), "state", [&] {
    result = gru(Variable(random_tensor({3, 5, 3})), ids({1, 4, 2}));
  });
  const std::vector<std::vector<int64_t>> rows{{1, 2, 0}, {1, 2}, {1}, {1}};  // from the longest on
  ASSERT_EQ(states.size(), rows.size());
  for (size_t t = 0; t < rows.size(); ++t) {
    const Variable output = result.output.select(1, static_cast<int64_t>(t));
    for (size_t i = 0; i < rows[t].size(); ++i)
      EXPECT_TRUE(identical(states[t].select(0, static_cast<int64_t>(i)).contiguous(),
                            output.select(0, rows[t][i]).data().contiguous()));
  }
}

TEST(points, of_a_residual_split_its_gradient) {
  for (const nn::NormPlace place : {nn::NormPlace::pre, nn::NormPlace::post}) {
    nn::Residual residual({.width = 4, .norm = place});
    std::map<std::string, std::shared_ptr<const Tensor>> grads;
    const HookHandle hook = residual.register_point_hook(
        [&](const nn::Point& point) { grads[std::string(point.name)] = point.watch_grad(); });
    const Variable x(random_tensor({2, 3, 4}), true);
    Variable inner;
    const Variable y = residual(x, [&](const Variable& branch) { return inner = branch * 2; });
    y.backward(random_tensor(y.shape(), 5));
    EXPECT_TRUE(identical(*grads.at("input"), x.grad().data()));
    ASSERT_TRUE(grads.contains("branch") && grads.contains("residual"));
    if (place == nn::NormPlace::post) {
      const Variable past = *grads.at("residual");
      EXPECT_TRUE(close(x.grad().data(), (past * 3).data(), kExact)) << "once past f and twice through it";
    }
  }
}
