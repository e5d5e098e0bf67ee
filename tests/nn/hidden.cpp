#include <limits>

#include <heed/autograd/ops/join.h>
#include <heed/nn/additive_self_attention.h>
#include <heed/nn/attention.h>
#include <heed/nn/recurrent.h>
#include <heed/nn/transformer.h>

#include "tests/nn/helpers.h"
#include "tests/tensor/generators.h"

using namespace heed;
using namespace heed::test;
using nn::Mask;

/// Whatever stands in padding, NaN and infinities too, no layer lets any of it through: neither to a result
/// nor to a gradient.
namespace {

constexpr int64_t kWidth = 4;

double any_poison() {
  const double all[]{std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                     -std::numeric_limits<double>::infinity()};
  return all[any_between(0, 2)];
}

/// What is seen of samples of some places each: by lengths, or by bools that may leave gaps; nothing, now and
/// then.
struct Padding {
  int64_t batch = any_between(1, 3), length = any_between(1, 6);
  Tensor keep = zeros({batch, length}, DType::boolean);
  Tensor lengths = zeros({batch}, DType::i64);
  bool by_length = any_between(0, 1) == 0;

  Padding() {
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t valid = any_between(0, length);
      lengths.set({b}, static_cast<double>(valid));
      for (int64_t i = 0; i < length; ++i) keep.set({b, i}, by_length ? i < valid : any_between(0, 2) > 0);
    }
  }

  Mask mask() const { return by_length ? Mask::valid_lengths(lengths) : Mask::valid_keys(keep); }

  /// x (batch, length, width) with zeros or poison in what is not seen.
  Tensor in(const Tensor& x, bool poisoned) const {
    Tensor result = x.clone();
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t i = 0; i < length; ++i)
        if (keep.at({b, i}) == 0) result.select(0, b).select(0, i).fill(poisoned ? any_poison() : 0);
    return result;
  }
};

/// The outputs and the gradients of inputs and parameters.
template <class Run>
std::vector<Tensor> everything(nn::Module& module, const std::vector<Tensor>& inputs, Run run,
                               const Padding* rows_that_count) {
  for (Variable parameter : module.parameters()) parameter.zero_grad();
  Variables in;
  for (const Tensor& x : inputs) in.emplace_back(x, true);
  const Variable output = run(in);
  Tensor upstream = random_tensor(output.shape(), 9);
  if (rows_that_count != nullptr) upstream = rows_that_count->in(upstream, false);
  output.backward(upstream);
  std::vector<Tensor> all{rows_that_count != nullptr ? rows_that_count->in(output.data(), false)
                                                     : output.data()};
  for (const Variable& x : in) all.push_back(x.grad().defined() ? x.grad().data() : zeros(x.shape()));
  for (const auto& [name, parameter] : module.named_parameters())
    all.push_back(parameter.grad().defined() ? parameter.grad().data() : zeros(parameter.shape()));
  return all;
}

/// What comes out must be the same whether zeros or poison stand in the padding. inputs(poisoned) makes the
/// inputs, run(inputs) the output; where only some of its rows count, the others have no upstream.
template <class Inputs, class Run>
void expect_untouched(nn::Module& module, Inputs inputs, Run run, const Padding* rows_that_count = nullptr) {
  const auto wanted = everything(module, inputs(false), run, rows_that_count);
  const auto got = everything(module, inputs(true), run, rows_that_count);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto result = close(got[i], wanted[i], kF32);
    if (!result) RC_FAIL(fmt::format("{} {}: {}", typeid(module).name(), i, result.message()));
  }
}

/// A layer of queries, keys and values.
template <class Attention>
void expect_attention_untouched(Attention& attention, const Padding& padding) {
  const int64_t queries = any_between(1, 4);
  const Tensor q = random_tensor({padding.batch, queries, kWidth}, 1);
  const Tensor k = random_tensor({padding.batch, padding.length, kWidth}, 2);
  const Tensor v = random_tensor({padding.batch, padding.length, kWidth}, 3);
  expect_untouched(
      attention,
      [&](bool poisoned) {
        return std::vector{q, padding.in(k, poisoned), padding.in(v, poisoned)};
      },
      [&](const Variables& in) { return attention(in[0], in[1], in[2], padding.mask()); });
}

/// A layer of one sequence, of which only what is seen counts.
template <class Layer>
void expect_sequence_untouched(Layer& layer, const Padding& padding) {
  const Tensor x = random_tensor({padding.batch, padding.length, kWidth}, 1);
  expect_untouched(
      layer, [&](bool poisoned) { return std::vector{padding.in(x, poisoned)}; },
      [&](const Variables& in) { return layer(in[0], padding.mask()); }, &padding);
}

template <class Recurrent>
void expect_recurrent_untouched(bool bidirectional) {
  Recurrent layer({.inputs = kWidth, .hidden = 3, .layers = 2, .bidirectional = bidirectional});
  Padding padding;
  while (!padding.by_length) padding = Padding();
  const Tensor x = random_tensor({padding.batch, padding.length, kWidth}, 1);
  expect_untouched(
      layer, [&](bool poisoned) { return std::vector{padding.in(x, poisoned)}; },
      [&](const Variables& in) { return layer(in[0], padding.lengths).output; });
}

}  // namespace

TEST(Hidden, reaches_nothing_through_pooling_with_any_score) {
  nn::AttentionPooling<nn::UniformScore> uniform;
  nn::AttentionPooling<nn::KeyScore> key({.score = {.key_width = kWidth}});
  nn::AttentionPooling<nn::GaussianScore> gaussian({.score = {.learnable = true}});
  nn::AttentionPooling<nn::DotScore> dot;
  nn::AttentionPooling<nn::BilinearScore> bilinear({.score = {.query_width = kWidth, .key_width = kWidth}});
  nn::AttentionPooling<nn::AdditiveScore> additive(
      {.score = {.query_width = kWidth, .key_width = kWidth, .hidden = 3}});
  nn::MaxPooling largest;
  EXPECT_TRUE(rc::check([&] {
    const Padding padding;
    expect_attention_untouched(uniform, padding);
    expect_attention_untouched(key, padding);
    expect_attention_untouched(gaussian, padding);
    expect_attention_untouched(dot, padding);
    expect_attention_untouched(bilinear, padding);
    expect_attention_untouched(additive, padding);
    expect_attention_untouched(largest, padding);
  }));
}

TEST(Hidden, reaches_nothing_through_attention) {
  nn::DotProductAttention dot;
  nn::AdditiveAttention additive({.query_width = kWidth, .key_width = kWidth, .hidden = 3});
  nn::MultiHeadAttention heads({.width = kWidth, .heads = 2}),
      sums({.width = kWidth, .heads = 2, .score = nn::each_head<nn::AdditiveScore>({.hidden = 3})}),
      distances({.width = kWidth, .heads = 2, .score = nn::each_head<nn::GaussianScore>()});
  EXPECT_TRUE(rc::check([&] {
    const Padding padding;
    expect_attention_untouched(dot, padding);
    expect_attention_untouched(additive, padding);
    expect_attention_untouched(heads, padding);
    expect_attention_untouched(sums, padding);
    expect_attention_untouched(distances, padding);
  }));
}

TEST(Hidden, reaches_nothing_through_self_attention) {
  nn::SelfAttention single({.width = kWidth, .head_width = 3});
  nn::AdditiveSelfAttention additive({.width = kWidth, .head_width = 2, .hidden = 3});
  nn::MultiHeadAttention heads({.width = kWidth, .heads = 2}),
      rotary({.width = kWidth, .heads = 2, .rotary = true}),
      sums({.width = kWidth, .heads = 2, .score = nn::each_head<nn::AdditiveScore>({.hidden = 3})});
  EXPECT_TRUE(rc::check([&] {
    const Padding padding;
    expect_sequence_untouched(single, padding);
    expect_sequence_untouched(additive, padding);
    expect_sequence_untouched(heads, padding);
    expect_sequence_untouched(rotary, padding);
    expect_sequence_untouched(sums, padding);
  }));
}

TEST(Hidden, reaches_nothing_through_transformers) {
  for (const auto norm : {nn::NormPlace::pre, nn::NormPlace::post}) {
    const nn::TransformerOptions options{
        .width = kWidth, .feed_forward = 5, .heads = 2, .layers = 2, .norm = norm};
    nn::TransformerEncoder encoder(options);
    nn::TransformerDecoder decoder(options);
    EXPECT_TRUE(rc::check([&] {
      const Padding padding;
      expect_sequence_untouched(encoder, padding);
      const Tensor x = random_tensor({padding.batch, 3, kWidth}, 1);
      const Tensor memory = random_tensor({padding.batch, padding.length, kWidth}, 2);
      expect_untouched(
          decoder,
          [&](bool poisoned) {
            return std::vector{x, padding.in(memory, poisoned)};
          },
          [&](const Variables& in) { return decoder(in[0], in[1], padding.mask()); });
    }));
  }
}

TEST(Hidden, reaches_nothing_through_recurrent_layers) {
  EXPECT_TRUE(rc::check([] {
    for (const bool bidirectional : {false, true}) {
      expect_recurrent_untouched<nn::GRU>(bidirectional);
      expect_recurrent_untouched<nn::RNN>(bidirectional);
      expect_recurrent_untouched<nn::LSTM>(bidirectional);
    }
  }));
}

TEST(Hidden, a_key_that_only_some_queries_see_reaches_the_others_in_no_attention) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor clean = random_tensor({1, 3, kWidth});
  const Tensor x = filled(clean, 1, 2, 3, nan);  // by causal order only the last query sees the last place
  nn::DotProductAttention dot;
  nn::SelfAttention single({.width = kWidth, .head_width = 3});
  nn::MultiHeadAttention heads({.width = kWidth, .heads = 2});
  nn::MultiHeadAttention sums(
      {.width = kWidth, .heads = 2, .score = nn::each_head<nn::AdditiveScore>({.hidden = 3})});
  nn::AdditiveSelfAttention additive({.width = kWidth, .head_width = 2, .hidden = 3});
  const auto check = [&](auto run) {
    const Tensor got = run(x).slice(1, 0, 2).clone(), wanted = run(clean).slice(1, 0, 2).clone();
    EXPECT_TRUE(close(got, wanted, kF32));
  };
  const Mask causal = Mask::causal_order();
  check([&](const Tensor& at) { return dot(at, at, at, causal).data(); });
  check([&](const Tensor& at) { return single(at, causal).data(); });
  check([&](const Tensor& at) { return heads(at, causal).data(); });
  check([&](const Tensor& at) { return sums(at, causal).data(); });
  check([&](const Tensor& at) { return additive(at, causal).data(); });
}
