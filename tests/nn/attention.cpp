#include <heed/nn/attention.h>

#include <algorithm>
#include <cmath>

#include <heed/autograd/ops.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;
using nn::Mask;

namespace {

Tensor projection(const nn::Module& module, const std::string& name) {
  return module.state_dict().at(name + "_proj.weight");
}

}  // namespace

TEST(AdditiveAttention, matches_pytorch) {
  nn::AdditiveAttention layer({.query_width = 4, .key_width = 3, .hidden = 6});
  expect_like_pytorch(layer, "additive_attention", [&](const Variables& in, const auto& args) {
    const auto attended = layer.attend(in[0], layer.project_keys(in[1]), in[2], Mask::valid_lengths(args[0]));
    return Variables{attended.output, attended.weights};
  });
}

TEST(SelfAttention, matches_pytorch) {
  nn::SelfAttention layer({.width = 6, .head_width = 4});
  expect_like_pytorch(layer, "self_attention", [&](const Variables& in, const auto& args) {
    const auto attended = layer.attend(in[0], Mask::valid_lengths(args[0]));
    return Variables{attended.output, attended.weights};
  });
}

TEST(MultiHeadAttention, matches_pytorch_as_causal_self_attention_with_lengths) {
  nn::MultiHeadAttention layer({.width = 8, .heads = 4});
  expect_like_pytorch(layer, "multi_head_self", [&](const Variables& in, const auto& args) {
    const Mask mask = Mask::valid_lengths(args[0]) & Mask::causal_order();
    const auto attended = layer.attend_with_weights(in[0], layer.project(in[0], in[0]), mask);
    return Variables{attended.output, attended.weights};
  });
}

TEST(MultiHeadAttention, matches_pytorch_as_cross_attention) {
  nn::MultiHeadAttention layer({.width = 8, .heads = 4});
  expect_like_pytorch(layer, "multi_head_cross", [&](const Variables& in, const auto& args) {
    const auto attended =
        layer.attend_with_weights(in[0], layer.project(in[1], in[2]), Mask::valid_lengths(args[0]));
    return Variables{attended.output, attended.weights};
  });
}

TEST(MultiHeadAttention, matches_pytorch_without_biases_under_a_mask_of_pairs) {
  nn::MultiHeadAttention layer({.width = 8, .heads = 4, .bias = false});
  expect_like_pytorch(layer, "multi_head_pairs", [&](const Variables& in, const auto& args) {
    const auto attended =
        layer.attend_with_weights(in[0], layer.project(in[1], in[2]), Mask::valid_pairs(args[0]));
    return Variables{attended.output, attended.weights};
  });
}

TEST(MultiHeadAttention, matches_pytorch_with_rotary_positions) {
  nn::MultiHeadAttention layer({.width = 8, .heads = 2, .rotary = true});
  expect_like_pytorch(layer, "multi_head_rotary", [&](const Variables& in, const auto& args) {
    const Mask mask = Mask::valid_lengths(args[0]) & Mask::causal_order();
    const auto attended = layer.attend_with_weights(in[0], layer.project(in[0], in[0]), mask);
    return Variables{attended.output, attended.weights};
  });
}

TEST(MultiHeadAttention, rotary_keys_that_were_kept_give_what_the_whole_sequence_gives) {
  nn::MultiHeadAttention layer({.width = 8, .heads = 2, .rotary = true, .max_length = 5});
  const Variable x(random_tensor({2, 5, 8}));
  const Tensor whole = layer(x, Mask::causal_order()).data();
  nn::KeysValues kept = layer.project(x.slice(1, 0, 2), x.slice(1, 0, 2));
  for (int64_t t = 2; t < 5; ++t) {
    const Variable next = x.slice(1, t, t + 1);
    const nn::KeysValues added = layer.project(next, next, t);
    kept = {concat({kept.keys, added.keys}, 1), concat({kept.values, added.values}, 1)};
    EXPECT_TRUE(close(layer.attend(next, kept).data(), whole.slice(1, t, t + 1), kF32)) << t;
  }
  // Without their place they give something else.
  const nn::KeysValues misplaced = layer.project(x.slice(1, 4, 5), x.slice(1, 4, 5));
  EXPECT_FALSE(close(misplaced.keys.data(), kept.keys.data().slice(1, 4, 5), {.absolute = 1e-3}));
}

TEST(MultiHeadAttention, rotary_heads_have_an_even_width_and_places_an_end) {
  expect_error<ValueError>([] { nn::MultiHeadAttention({.width = 6, .heads = 2, .rotary = true}); },
                           "wanted an even head width, for numbers are turned in pairs, came 3");
  nn::MultiHeadAttention layer({.width = 4, .heads = 2, .rotary = true, .max_length = 3});
  expect_error<ShapeError>(
      [&] {
        layer(zeros({1, 4, 4}));
      },
      "wanted at most 3 places, came 4 from place 0 on");
  expect_error<ShapeError>(
      [&] {
        layer(zeros({1, 3, 4}), zeros({1, 2, 4}), zeros({1, 2, 4}));
      },
      "came 3 from place -1 on");
}

TEST(DotProductAttention, is_the_formula) {
  nn::DotProductAttention scaled, plain({.scaled = false});
  const Variable q(random_tensor({2, 3, 4}, 1)), k(random_tensor({2, 5, 4}, 2)),
      v(random_tensor({2, 5, 6}, 3));
  const Variable scores = matmul(q, k.transpose(1, 2));
  EXPECT_TRUE(close(plain(q, k, v).data(), matmul(scores.softmax(-1), v).data(), kF32));
  EXPECT_TRUE(close(scaled(q, k, v).data(), matmul((scores / 2).softmax(-1), v).data(), kF32));
  EXPECT_TRUE(close(scaled.attend(q, k, v).weights.data(), (scores / 2).softmax(-1).data(), kF32));
}

TEST(AdditiveAttention, equals_a_perceptron_on_query_and_key_side_by_side) {
  nn::AdditiveAttention layer({.query_width = 4, .key_width = 3, .hidden = 6});
  const Variable q(random_tensor({2, 3, 4}, 1), true), k(random_tensor({2, 5, 3}, 2), true);
  const Variable v(random_tensor({2, 5, 2}, 3));
  const auto attended = layer.attend(q, layer.project_keys(k), v);

  const Variable pairs =
      concat({q.unsqueeze(2).expand({2, 3, 5, 4}), k.unsqueeze(1).expand({2, 3, 5, 3})}, 3);
  const Variable weight = concat({projection(layer, "q"), projection(layer, "k")}, 1);  // (6, 4 + 3)
  const Variable hidden = tanh(linear(pairs, weight));
  const Variable scores = (hidden * layer.state_dict().at("w_v")).sum({-1});
  EXPECT_TRUE(close(attended.weights.data(), scores.softmax(-1).data(), kF32));

  const Variables inputs{q, k}, upstream{random_tensor({2, 3, 2}, 4)};
  const auto got = grad(std::vector{attended.output}, inputs, upstream);
  const auto wanted = grad(std::vector{matmul(scores.softmax(-1), v)}, inputs, upstream);
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(close(got[i].data(), wanted[i].data(), kF32)) << i;
}

TEST(AdditiveAttention, keys_may_be_projected_once) {
  nn::AdditiveAttention layer({.query_width = 4, .key_width = 3, .hidden = 6});
  const Variable q(random_tensor({2, 3, 4}, 1)), k(random_tensor({2, 5, 3}, 2));
  const Variable keys = layer.project_keys(k);
  const Tensor whole = layer(q, k, k).data();
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_TRUE(close(layer.attend(q.slice(1, i, i + 1), keys, k).output.data(), whole.slice(1, i, i + 1),
                      {.absolute = 1e-6}));
}

TEST(MultiHeadAttention, one_head_is_self_attention_with_an_output_matrix) {
  nn::MultiHeadAttention heads({.width = 6, .heads = 1, .bias = false});
  nn::SelfAttention single({.width = 6, .head_width = 6});
  StateDict state = heads.state_dict();
  const Tensor out = state.extract("out_proj.weight").mapped();
  single.load_state_dict(state);
  const Variable x(random_tensor({2, 5, 6}));
  const Mask mask = Mask::valid_lengths(ids({5, 3}));
  EXPECT_TRUE(close(heads(x, mask).data(), linear(single(x, mask), out).data(), kF32));
}

TEST(MultiHeadAttention, several_heads_are_single_heads_side_by_side) {
  constexpr int64_t kHeads = 3, kWidth = 6, kHeadWidth = 2;
  nn::MultiHeadAttention heads({.width = kWidth, .heads = kHeads, .bias = false});
  const Variable x(random_tensor({2, 5, kWidth}));
  const Tensor weights =
      heads.attend_with_weights(x, heads.project(x, x), Mask::causal_order()).weights.data();
  Variables outputs;
  for (int64_t h = 0; h < kHeads; ++h) {
    nn::SelfAttention single({.width = kWidth, .head_width = kHeadWidth});
    StateDict rows;
    for (const std::string name : {"q", "k", "v"})
      rows[name + "_proj.weight"] = projection(heads, name).slice(0, h * kHeadWidth, (h + 1) * kHeadWidth);
    single.load_state_dict(rows);
    const auto attended = single.attend(x, Mask::causal_order());
    EXPECT_TRUE(close(weights.select(1, h), attended.weights.data(), kF32)) << h;
    outputs.push_back(attended.output);
  }
  EXPECT_TRUE(close(heads(x, Mask::causal_order()).data(),
                    linear(concat(outputs, 2), projection(heads, "out")).data(), kF32));
}

TEST(MultiHeadAttention, a_second_projection_per_head_is_one_projection_with_the_product) {
  // One q = W_q a for all heads and then W_q^(h) q for each, as some write it, and the same for keys and
  // values.
  constexpr int64_t kHeads = 2, kWidth = 6, kHeadWidth = 3;
  nn::MultiHeadAttention heads({.width = kWidth, .heads = kHeads, .bias = false});
  heads.to(DType::f64);
  const auto any = [](const Shape& shape, uint64_t seed) {
    return Variable(random_tensor(shape, seed).to(DType::f64));
  };
  const Variable a = f64_leaf({2, 5, kWidth});
  StateDict state = heads.state_dict();
  std::map<std::string, Variables> projected;  // by q, k, v: for each head
  for (const std::string name : {"q", "k", "v"}) {
    const Variable common = any({kWidth, kWidth}, 10 + name[0]);
    Variables rows;
    for (int64_t h = 0; h < kHeads; ++h) {
      const Variable own = any({kHeadWidth, kWidth}, 20 + h + name[0]);
      projected[name].push_back(linear(linear(a, common), own));
      rows.push_back(matmul(own, common));
    }
    state.at(name + "_proj.weight") = concat(rows, 0).data();
  }
  heads.load_state_dict(state);
  nn::DotProductAttention single;
  Variables outputs;
  for (size_t h = 0; h < kHeads; ++h)
    outputs.push_back(single(projected["q"][h], projected["k"][h], projected["v"][h]));
  const Variables got{heads(a)}, wanted{linear(concat(outputs, 2), state.at("out_proj.weight"))};
  const Variables of{a}, upstream{any({2, 5, kWidth}, 9)};
  EXPECT_TRUE(close(got[0].data(), wanted[0].data(), kF64));
  EXPECT_TRUE(close(grad(got, of, upstream)[0].data(), grad(wanted, of, upstream)[0].data(), kF64));
}

TEST(Attention, keys_of_other_sizes_are_taken_where_the_formula_allows) {
  nn::AdditiveAttention additive({.query_width = 2, .key_width = 5, .hidden = 7});
  EXPECT_EQ(additive(ones({1, 3, 2}), ones({1, 4, 5}), ones({1, 4, 6})).shape(), Shape({1, 3, 6}));
  nn::DotProductAttention dot;
  EXPECT_EQ(dot(ones({1, 3, 2}), ones({1, 4, 2}), ones({1, 4, 6})).shape(), Shape({1, 3, 6}));
}

TEST(MultiHeadAttention, starts_with_biases_of_zero_and_weights_within_their_bounds) {
  const nn::MultiHeadAttention heads({.width = 30, .heads = 2});
  for (const auto& [name, parameter] : heads.named_parameters()) {
    const auto values = parameter.data().to_vector<double>();
    double largest = 0;
    for (const double v : values) largest = std::max(largest, std::abs(v));
    // Queries, keys and values are bounded as by one matrix that makes all three.
    const double bound = std::sqrt(6.0 / (name.starts_with("out_proj") ? 60 : 120));
    if (name.ends_with("bias")) {
      EXPECT_EQ(largest, 0) << name;
    } else {
      EXPECT_LE(largest, bound * (1 + 1e-6)) << name;
      EXPECT_GT(largest, 0.95 * bound) << name;
    }
  }
}

TEST(MultiHeadAttention, takes_keys_and_values_of_other_widths) {
  nn::MultiHeadAttention attention({.width = 6, .heads = 2, .key_width = 3, .value_width = 4});
  const Tensor q = random_tensor({2, 3, 6}, 1), k = random_tensor({2, 5, 3}, 2),
               v = random_tensor({2, 5, 4}, 3);
  EXPECT_EQ(attention(q, k, v).shape(), Shape({2, 3, 6}));
  EXPECT_EQ(attention.state_dict().at("k_proj.weight").shape(), Shape({6, 3}));
  EXPECT_EQ(attention.state_dict().at("v_proj.weight").shape(), Shape({6, 4}));
  expect_error<ShapeError>([&] { attention(q, q, v); }, "[linear]");
  expect_error<ValueError>([] { nn::MultiHeadAttention({.width = 6, .heads = 2, .value_width = 0}); },
                           "[MultiHeadAttention] wanted keys and values of width 1 or more, came 0");
}

TEST(Attention, names_what_does_not_fit) {
  expect_error<ValueError>(
      [] { nn::MultiHeadAttention({.width = 6, .heads = 4}); },
      "[MultiHeadAttention] wanted a width that divides into the heads, came width 6 and 4 "
      "heads");
  for (const int64_t wrong : {0, -2}) {
    expect_error<ValueError>([&] { nn::MultiHeadAttention({.width = 6, .heads = wrong}); },
                             fmt::format("came width 6 and {} heads", wrong));
    expect_error<ValueError>([&] { nn::MultiHeadAttention({.width = wrong, .heads = 2}); },
                             fmt::format("came width {} and 2 heads", wrong));
  }
  for (const double p : {-0.5, 1.5}) {
    const std::string message = fmt::format("wanted a probability in [0, 1], came {}", p);
    expect_error<ValueError>([&] { nn::MultiHeadAttention({.width = 6, .dropout = p}); }, message);
    expect_error<ValueError>([&] { nn::DotProductAttention({.dropout = p}); }, message);
    expect_error<ValueError>([&] { nn::SelfAttention({.width = 2, .head_width = 2, .dropout = p}); },
                             message);
  }
  expect_error<ValueError>([] { nn::AdditiveAttention({.query_width = 2, .key_width = 2}); },
                           "[Linear] wanted 1 input and output or more, came 2 and 0");
  expect_error<ValueError>([] { nn::SelfAttention({.width = 2}); }, "came 2 and 0");

  nn::DotProductAttention dot;
  const Tensor x = ones({2, 3, 4});
  expect_error<ShapeError>(
      [&] {
        dot(ones({3, 4}), x, x);
      },
      "[DotProductAttention] wanted (batch, length, width), came (3, 4)");
  expect_error<ShapeError>([&] { dot(x, x, ones({2, 3})); }, "came (2, 3)");
  expect_error<ShapeError>([&] { dot(x, ones({2, 3, 5}), x); }, "came (2, 3, 4), (2, 3, 5), (2, 3, 4)");
  expect_error<ShapeError>([&] { dot(x, x, ones({2, 5, 4})); }, "came (2, 3, 4), (2, 3, 4), (2, 5, 4)");

  nn::AdditiveAttention additive({.query_width = 4, .key_width = 4, .hidden = 3});
  expect_error<ShapeError>(
      [&] {
        additive(x, x, ones({2, 3, 4, 5}));
      },
      "[AdditiveAttention] wanted (batch, length, width), came (2, 3, 4, 5)");
  expect_error<ShapeError>([&] { additive(ones({2, 3, 5}), x, x); }, "came (2, 3, 5) and (3, 4)");
  expect_error<ShapeError>(
      [&] {
        additive(x, x, ones({2, 5, 4}));
      },
      "[pool] wanted values (2, 3, any), one for each key, came (2, 5, 4)");

  nn::MultiHeadAttention heads({.width = 4, .heads = 2});
  expect_error<ShapeError>(
      [&] {
        heads(ones({3, 4}));
      },
      "[MultiHeadAttention] wanted (batch, length, width), came (3, 4)");
  expect_error<ShapeError>([&] { heads(ones({2, 3, 5})); }, "came (2, 3, 5) and (4, 4)");
  expect_error<ShapeError>([&] { heads(x, ones({3, 3, 4}), x); }, "[attention] wanted q");
}

TEST(case_C01, a_row_that_sees_nothing_has_weights_output_and_gradients_of_zero) {
  nn::DotProductAttention attention({.scaled = false});
  Variable scores(tensor_of({{{1, 2}, {3, 4}}}), true), v(tensor_of({{{1}, {2}}}), true);
  const Mask mask = Mask::valid_lengths(ids({{2, 0}}));
  const Variable unit(eye(2, 2).unsqueeze(0));  // so that the scores are the queries
  const auto attended = attention.attend(scores, unit, v, mask);
  EXPECT_TRUE(close(attended.weights.data(), {0.26894142, 0.73105858, 0, 0}, kF32));
  EXPECT_TRUE(close(attended.output.data(), {1.73105858, 0}, kF32));

  attended.output.backward(Variable(tensor_of({{{1}, {0}}})), {.retain_graph = true});
  EXPECT_TRUE(close(v.grad().data(), {0.26894142, 0.73105858}, kF32));
  scores.zero_grad();
  attended.weights.backward(Variable(tensor_of({{{1, 0}, {1, 0}}})));
  EXPECT_TRUE(close(scores.grad().data(), {0.19661193, -0.19661193, 0, 0}, kF32));
}

TEST(case_C01, every_attention_keeps_its_gradients_finite) {
  const Mask mask = Mask::valid_lengths(ids({3, 0}));
  nn::AdditiveAttention additive({.query_width = 4, .key_width = 4, .hidden = 3});
  nn::MultiHeadAttention heads({.width = 4, .heads = 2});
  nn::SelfAttention single({.width = 4, .head_width = 2});
  const auto check = [&](nn::Module& module, auto&& attend) {
    const Variable x(random_tensor({2, 3, 4}), true);
    const nn::Attended attended = attend(x);
    const Tensor weights = attended.weights.data().select(0, 1).clone();
    EXPECT_TRUE(close(weights, zeros(weights.shape()), kExact));
    (attended.output.sum() + attended.weights.sum()).backward();
    EXPECT_TRUE(close(x.grad().data().select(0, 1), zeros({3, 4}), kExact));
    expect_finite_grads(module);
  };
  check(additive, [&](const Variable& x) { return additive.attend(x, additive.project_keys(x), x, mask); });
  check(heads, [&](const Variable& x) { return heads.attend_with_weights(x, heads.project(x, x), mask); });
  check(single, [&](const Variable& x) { return single.attend(x, mask); });
}

TEST(case_C07, a_additive_attention_has_these_values_and_gradients) {
  nn::AdditiveAttention layer({.query_width = 1, .key_width = 1, .hidden = 1});
  layer.load_state_dict(
      {{"q_proj.weight", ones({1, 1})}, {"k_proj.weight", ones({1, 1})}, {"w_v", ones({1})}});
  const Variable k(tensor_of({{{0}, {1}}}));
  const auto attended = layer.attend(tensor_of({{{0.5}}}), layer.project_keys(k), tensor_of({{{10}, {20}}}));
  EXPECT_TRUE(close(attended.weights.data(), {0.39101896, 0.60898104}, kF32));
  EXPECT_TRUE(close(attended.output.data(), {16.08981043}, kF32));
  attended.output.sum().backward();
  const StateDict wanted{{"q_proj.weight", tensor_of({{-0.72120483}})},
                         {"k_proj.weight", tensor_of({{0.43030431}})},
                         {"w_v", tensor_of({1.05495952})}};
  expect_parameter_grads(layer, wanted);
}

TEST(case_C11, c_one_tensor_as_query_key_and_value_gathers_the_gradients_of_three) {
  nn::MultiHeadAttention layer({.width = 4, .heads = 2});
  const Tensor numbers = random_tensor({2, 3, 4});
  const Variable x(numbers, true), q(numbers, true), k(numbers, true), v(numbers, true);
  const Tensor upstream = random_tensor({2, 3, 4}, 2);
  const Variable one = layer(x), three = layer(q, k, v);
  EXPECT_TRUE(identical(one.data(), three.data()));
  one.backward(upstream);
  three.backward(upstream);
  EXPECT_TRUE(close(x.grad().data(), (q.grad() + k.grad() + v.grad()).data(), kF32));
}
