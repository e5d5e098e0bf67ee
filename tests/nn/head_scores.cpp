#include <heed/nn/head_scores.h>

#include <heed/autograd/gradcheck.h>
#include <heed/autograd/ops.h>
#include <heed/nn/attention.h>
#include <heed/tensor/kernels/comparison.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;
using nn::each_head;
using nn::Mask;
using nn::MultiHeadAttention;

/// Multi-head attention by any score.
namespace {

constexpr int64_t kWidth = 6, kHeads = 2, kHeadWidth = 3;

/// The parameters of one head's score, and its queries (batch, queries, d) and keys (batch, keys, d).
struct Head {
  std::map<std::string, Variable> parameters;
  Variable q, k;
  const Variable& operator[](const std::string& name) const { return parameters.at(name); }
  /// (batch, queries, 1, d) and (batch, 1, keys, d)
  Variable queries() const { return q.unsqueeze(2); }
  Variable keys() const { return k.unsqueeze(1); }
};

/// A score of one's own: a(q, k) = -|q - k|_1 / reach.
struct NearScoreOptions {
  double reach = 1;
};

class NearScore : public nn::Layer<NearScore> {
 public:
  using Options = NearScoreOptions;
  explicit NearScore(const Options& options) : reach_(options.reach) {}
  Variable forward(const Variable& q, const Variable& k) {
    return -sum(abs(q.unsqueeze(2) - k.unsqueeze(1)), {-1}) / reach_;
  }

 private:
  double reach_;
};

/// A score with what it is, written out for all pairs at once.
struct Kind {
  std::string name;
  nn::ScoreChoice score;
  std::function<Variable(const Head&)> formula;  // (batch, queries, keys)
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"uniform", each_head<nn::UniformScore>(),
       [](const Head& head) { return ((head.queries() + head.keys()) * 0).sum({-1}); }},
      {"key", each_head<nn::KeyScore>(),
       [](const Head& head) {
         return (head.queries() * 0 + head.keys() * head["weight"].select(0, 0)).sum({-1});
       }},
      {"gaussian", each_head<nn::GaussianScore>({.w = 1.5}),
       [](const Head& head) { return ((head.queries() - head.keys()) * 1.5).pow(2).sum({-1}) * -0.5; }},
      {"gaussian_learnable", each_head<nn::GaussianScore>({.w = 1.5, .learnable = true}),
       [](const Head& head) { return ((head.queries() - head.keys()) * head["w"]).pow(2).sum({-1}) * -0.5; }},
      {"dot", each_head<nn::DotScore>({.scaled = false}),
       [](const Head& head) { return (head.queries() * head.keys()).sum({-1}); }},
      {"scaled_dot",
       {},
       [](const Head& head) { return (head.queries() * head.keys()).sum({-1}) / std::sqrt(3.0); }},
      {"bilinear", each_head<nn::BilinearScore>(),
       [](const Head& head) {
         return (matmul(head.q, head["weight"]).unsqueeze(2) * head.keys()).sum({-1});
       }},
      {"additive", each_head<nn::AdditiveScore>({.hidden = 4}),
       [](const Head& head) {
         const Variable q = linear(head.queries(), head["q_proj.weight"]),
                        k = linear(head.keys(), head["k_proj.weight"]);
         return (tanh(q + k) * head["w_v"]).sum({-1});
       }},
      {"near", each_head<NearScore>({.reach = 2}),
       [](const Head& head) { return abs(head.queries() - head.keys()).sum({-1}) * -0.5; }}};
  return all;
}

class HeadScores : public testing::TestWithParam<size_t> {
 protected:
  const Kind& kind() const { return kinds()[GetParam()]; }
  nn::MultiHeadAttentionOptions options() const {
    return {.width = kWidth, .heads = kHeads, .score = kind().score};
  }
};

INSTANTIATE_TEST_SUITE_P(Kind, HeadScores, testing::Range<size_t>(0, kinds().size()),
                         [](const auto& place) { return kinds()[place.param].name; });

/// Head by head, and softmax under what `seen`, numbers 0 and 1 (batch, heads, queries, keys), lets through:
/// output and weights.
Variables by_formula(const nn::Module& layer, const Kind& kind, const Variable& q, const Variable& k,
                     const Variable& v, const Tensor& seen) {
  std::map<std::string, Variable> state;
  for (const auto& [name, parameter] : layer.named_parameters()) state.emplace(name, parameter);
  Variables pooled, all_weights;
  for (int64_t h = 0; h < kHeads; ++h) {
    const auto project = [&](const Variable& x, const std::string& name) {
      const auto rows = [&](const char* kind_of) {
        return state.at(name + kind_of).slice(0, h * kHeadWidth, (h + 1) * kHeadWidth);
      };
      return linear(x, rows("_proj.weight"), rows("_proj.bias"));
    };
    Head head{{}, project(q, "q"), project(k, "k")};
    const std::string prefix = fmt::format("score.{}.", h);
    for (const auto& [name, parameter] : state)
      if (name.starts_with(prefix)) head.parameters.emplace(name.substr(prefix.size()), parameter);
    const Variable shares = kind.formula(head).exp() * Variable(seen.select(1, h));
    const Variable total = shares.sum({-1}, true);  // 0 where nothing is seen
    const Variable weights =
        shares / (total + Variable(kernels::eq(total.data(), scalar(0, DType::f64)).to(DType::f64)));
    all_weights.push_back(weights);
    pooled.push_back(matmul(weights, project(v, "v")));
  }
  return {linear(concat(pooled, 2), state.at("out_proj.weight"), state.at("out_proj.bias")),
          stack(all_weights, 1)};
}

/// The gradients of the inputs and of all parameters; zeros where none comes.
std::map<std::string, Tensor> gradients_of(nn::Module& layer, const NamedVariables& inputs,
                                           const Variables& outputs) {
  NamedVariables leaves = layer.named_parameters();
  leaves.insert(leaves.end(), inputs.begin(), inputs.end());
  for (auto& [name, leaf] : leaves) leaf.zero_grad();
  Variable total = scalar(0, DType::f64);  // each number of each output counts differently
  for (size_t i = 0; i < outputs.size(); ++i)
    total += (outputs[i] * random_tensor(outputs[i].shape(), 20 + i).to(DType::f64)).sum();
  total.backward();
  std::map<std::string, Tensor> grads;
  for (const auto& [name, leaf] : leaves)
    grads[name] = leaf.grad().defined() ? leaf.grad().data() : zeros_like(leaf.data());
  return grads;
}

TEST_P(HeadScores, are_the_formula_of_each_head_with_all_gradients) {
  MultiHeadAttention layer(options());
  layer.to(DType::f64);
  for (const auto& [name, parameter] : layer.named_parameters())
    if (name.ends_with("bias")) Tensor(parameter.data()).copy_from(random_tensor(parameter.shape(), 5));
  const Variable q = f64_leaf({2, 3, kWidth}, 1), k = f64_leaf({2, 4, kWidth}, 2),
                 v = f64_leaf({2, 4, kWidth}, 3);
  const Variable some = tensor_of(
      {{{1, 1, 0, 1}, {0, 0, 0, 0}, {1, 1, 1, 1}}, {{0, 1, 0, 0}, {1, 1, 1, 0}, {1, 0, 0, 1}}}, DType::f64);
  const Tensor seen = stack(Variables{some, 1 - some}, 1).data();  // what one head sees, the other does not
  const Mask mask = Mask::valid_pairs(seen.to(DType::boolean));
  const auto attended = layer.attend_with_weights(q, layer.project(k, v), mask);
  const Variables got{attended.output, attended.weights}, wanted = by_formula(layer, kind(), q, k, v, seen);
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(close(got[i].data(), wanted[i].data(), kF64)) << i;
  const NamedVariables inputs{{"q", q}, {"k", k}, {"v", v}};
  const auto got_grads = gradients_of(layer, inputs, got), wanted_grads = gradients_of(layer, inputs, wanted);
  for (const auto& [name, grad] : wanted_grads) EXPECT_TRUE(close(got_grads.at(name), grad, kF64)) << name;
}

TEST_P(HeadScores, have_gradients_and_second_derivatives_that_differences_confirm) {
  MultiHeadAttention layer({.width = 4, .heads = 2, .score = kind().score});
  layer.to(DType::f64);
  const Mask mask = Mask::valid_lengths(ids({3, 1}));
  Variables inputs{f64_leaf({2, 2, 4}, 1), f64_leaf({2, 3, 4}, 2), f64_leaf({2, 3, 4}, 3)};
  expect_gradients(layer, inputs, [&] {
    const auto attended = layer.attend_with_weights(inputs[0], layer.project(inputs[1], inputs[2]), mask);
    return Variables{attended.output, attended.weights};
  });
  for (const Variable& parameter : layer.parameters()) inputs.push_back(parameter);
  const auto report = gradgradcheck(
      [&](std::span<const Variable> at) { return Variables{layer(at[0], at[1], at[2], mask)}; }, inputs);
  EXPECT_TRUE(report) << report.failure;
}

TEST_P(HeadScores, that_see_nothing_give_zeros_and_finite_gradients) {
  MultiHeadAttention layer(options());
  layer.to(DType::f64);
  const Variable x = f64_leaf({2, 3, kWidth});
  const Mask mask = Mask::valid_lengths(ids({3, 0})) & Mask::causal_order();
  const auto attended = layer.attend_with_weights(x, layer.project(x, x), mask);
  for (const Variable& nothing : {attended.output, attended.weights}) {  // the bias is 0
    const Tensor of_sample = nothing.data().select(0, 1);
    EXPECT_TRUE(close(of_sample, zeros(of_sample.shape()), kExact));
  }
  const auto grads = gradients_of(layer, {{"x", x}}, {attended.output, attended.weights});
  EXPECT_TRUE(close(grads.at("x").select(0, 1), zeros({3, kWidth}), kExact));
  for (const auto& [name, grad] : grads) EXPECT_TRUE(kernels::all_finite(grad)) << name;
}

TEST_P(HeadScores, keys_that_were_kept_give_what_the_whole_sequence_gives) {
  for (const bool rotary : {false, true}) {
    MultiHeadAttention layer({.width = 8, .heads = 2, .rotary = rotary, .score = kind().score});
    const Variable x(random_tensor({2, 5, 8}));
    const Tensor whole = layer(x, Mask::causal_order()).data();
    nn::KeysValues kept = layer.project(x.slice(1, 0, 1), x.slice(1, 0, 1));
    for (int64_t t = 0; t < 5; ++t) {
      const Variable now = x.slice(1, t, t + 1);
      if (t > 0) {
        const nn::KeysValues added = layer.project(now, now, t);
        kept = {concat({kept.keys, added.keys}, 1), concat({kept.values, added.values}, 1)};
      }
      EXPECT_TRUE(close(layer.attend(now, kept).data(), whole.slice(1, t, t + 1), {.absolute = 1e-5})) << t;
    }
  }
}

TEST_P(HeadScores, show_their_weights_without_changing_a_bit) {
  MultiHeadAttention layer({.width = kWidth, .heads = kHeads, .dropout = 0.3, .score = kind().score});
  const Variable q(random_tensor({2, 3, kWidth}, 1)), k(random_tensor({2, 5, kWidth}, 2));
  const Mask mask = Mask::valid_lengths(ids({5, 2}));
  for (const bool training : {true, false}) {
    layer.train(training);
    manual_seed(9);
    const Tensor without = layer(q, k, k, mask).data();
    manual_seed(9);
    const auto attended = layer.attend_with_weights(q, layer.project(k, k), mask);
    EXPECT_TRUE(identical(attended.output.data(), without));
    EXPECT_TRUE(close(attended.weights.sum({-1}).data(), ones({2, kHeads, 3}), kF32)) << "before dropout";
    manual_seed(10);
    EXPECT_EQ(identical(layer(q, k, k, mask).data(), without), !training) << "dropout is drawn in training";
  }
}

TEST_P(HeadScores, the_order_of_keys_with_their_values_changes_nothing) {
  MultiHeadAttention layer(options());
  const std::vector<int64_t> order{3, 0, 4, 1, 2};
  const Tensor q = random_tensor({2, 3, kWidth}, 1), k = random_tensor({2, 5, kWidth}, 2),
               v = random_tensor({2, 5, kWidth}, 3);
  EXPECT_TRUE(
      close(layer(q, reordered(k, 1, order), reordered(v, 1, order)).data(), layer(q, k, v).data(), kF32));
}

TEST_P(HeadScores, of_one_head_leave_the_others_alone) {
  MultiHeadAttention layer(options());
  const Variable q(random_tensor({2, 3, kWidth}, 1)), k(random_tensor({2, 5, kWidth}, 2));
  Variable heads;  // (batch, queries, heads * d)
  const HookHandle hook = layer.register_point_hook([&](const nn::Point& point) {
    if (point.name == "heads") heads = point.value;
  });
  const auto columns_of = [&](int64_t h) {
    layer(q, k, k);
    return heads.slice(2, h * kHeadWidth, (h + 1) * kHeadWidth);
  };
  const Tensor first = columns_of(0).data().clone(), second = columns_of(1).data().clone();
  columns_of(0).sum().backward();
  bool has_own = false;
  for (const auto& [name, parameter] : layer.named_parameters()) {
    if (name.starts_with("score.1.")) {
      EXPECT_TRUE(close(parameter.grad().data(), zeros(parameter.shape()), kExact)) << name;
      Tensor(parameter.data()).copy_from(random_tensor(parameter.shape(), 7));
      has_own = true;
    }
  }
  EXPECT_TRUE(identical(columns_of(0).data().clone(), first));
  EXPECT_EQ(identical(columns_of(1).data().clone(), second), !has_own);
}

TEST_P(HeadScores, have_defined_results_where_there_is_nothing) {
  MultiHeadAttention layer(options());
  const auto attend = [&](int64_t batch, int64_t queries, int64_t keys) {
    const Tensor k = zeros({batch, keys, kWidth});
    return layer(ones({batch, queries, kWidth}), k, k).data();
  };
  EXPECT_TRUE(identical(attend(2, 3, 0), zeros({2, 3, kWidth})));
  EXPECT_EQ(attend(0, 3, 4).shape(), Shape({0, 3, kWidth}));
  EXPECT_EQ(attend(2, 0, 4).shape(), Shape({2, 0, kWidth}));
}

TEST_P(HeadScores, go_through_a_file_with_all_their_parameters) {
  const TempDir folder;
  const std::string path = folder.file("attention.safetensors");
  MultiHeadAttention saved(options()), loaded(options());
  save_safetensors(path, saved.state_dict());
  loaded.load_state_dict(load_safetensors(path).tensors);
  const Variable x(random_tensor({2, 3, kWidth}));
  EXPECT_TRUE(identical(loaded(x).data(), saved(x).data()));
}

TEST(HeadScores, of_scaled_dot_products_are_what_the_fused_form_gives) {
  MultiHeadAttention composed({.width = kWidth, .heads = kHeads, .score = each_head<nn::DotScore>()});
  MultiHeadAttention fused({.width = kWidth, .heads = kHeads});
  EXPECT_EQ(names_of(composed.named_parameters()), names_of(fused.named_parameters()));
  fused.load_state_dict(composed.state_dict());
  composed.to(DType::f64), fused.to(DType::f64);
  const Variable x = f64_leaf({2, 5, kWidth});
  const Mask mask = Mask::valid_lengths(ids({5, 2})) & Mask::causal_order();
  const Variable got = composed(x, mask), wanted = fused(x, mask);
  EXPECT_TRUE(close(got.data(), wanted.data(), kF64));
  const auto got_grads = gradients_of(composed, {{"x", x}}, {got}),
             wanted_grads = gradients_of(fused, {{"x", x}}, {wanted});
  for (const auto& [name, grad] : wanted_grads) EXPECT_TRUE(close(got_grads.at(name), grad, kF64)) << name;
}

TEST(HeadScores, of_one_head_are_the_layer_of_one_head_behind_the_projections) {
  MultiHeadAttention heads(
      {.width = kWidth, .bias = false, .score = each_head<nn::AdditiveScore>({.hidden = 4})});
  heads.to(DType::f64);
  const auto state = heads.state_dict();
  nn::AdditiveAttention single({.query_width = kWidth, .key_width = kWidth, .hidden = 4});
  single.to(DType::f64);
  // Two matrices one after the other are their product.
  const auto product = [&](const std::string& name) {
    return matmul(state.at("score.0." + name), state.at(name)).data();
  };
  single.load_state_dict({{"q_proj.weight", product("q_proj.weight")},
                          {"k_proj.weight", product("k_proj.weight")},
                          {"w_v", state.at("score.0.w_v")}});
  const Variable q = f64_leaf({2, 3, kWidth}, 1), k = f64_leaf({2, 5, kWidth}, 2);
  const Mask mask = Mask::valid_lengths(ids({5, 2}));
  const Variable pooled = single(q, k, linear(k, state.at("v_proj.weight")), mask);
  EXPECT_TRUE(close(heads(q, k, k, mask).data(), linear(pooled, state.at("out_proj.weight")).data(), kF64));
}

}  // namespace
