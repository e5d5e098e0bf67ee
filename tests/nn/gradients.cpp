#include <heed/autograd/gradcheck.h>
#include <heed/autograd/ops.h>
#include <heed/nn/bahdanau.h>
#include <heed/nn/embedding.h>
#include <heed/nn/norm.h>
#include <heed/nn/transformer_model.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;
using nn::Mask;

/// Every layer in f64 against differences, as pooling, recurrent layers and rotary positions have it beside
/// their other tests.
namespace {

/// For layers from one variable to another.
void expect_layer_gradients(auto&& layer, const Shape& shape) {
  layer.to(DType::f64);
  const Variable x = f64_leaf(shape);
  expect_gradients(layer, {x}, [&] { return Variables{layer(x)}; });
}

/// Second derivatives with respect to the inputs.
template <class F>
void expect_second_derivatives(const Variables& inputs, F f) {
  const auto report = gradgradcheck([&](std::span<const Variable> at) { return Variables{f(at)}; }, inputs);
  EXPECT_TRUE(report) << report.failure;
}

const Mask kSomeHidden = Mask::valid_lengths(ids({4, 2}));

nn::TransformerOptions stack(nn::NormPlace norm) {
  return {.width = 4, .feed_forward = 6, .heads = 2, .norm = norm, .activation = ActivationKind::gelu};
}

}  // namespace

TEST(Gradients, of_plain_layers_are_what_differences_say) {
  expect_layer_gradients(nn::Linear({.inputs = 3, .outputs = 2}), {2, 4, 3});
  expect_layer_gradients(nn::LayerNorm({.width = 5}), {2, 3, 5});
  expect_layer_gradients(nn::RMSNorm({.width = 5}), {2, 3, 5});
  expect_layer_gradients(nn::SinusoidalPosition({.width = 4}), {2, 3, 4});
  expect_layer_gradients(nn::LearnedPosition({.width = 4, .max_length = 3}), {2, 3, 4});
  expect_layer_gradients(nn::FeedForward(4, 6, 0, ActivationKind::tanh), {2, 3, 4});
  nn::Embedding table({.rows = 5, .width = 3, .padding = 1});
  table.to(DType::f64);
  expect_gradients(table, {}, [&] { return Variables{table(ids({{0, 4}, {4, 2}}))}; });
}

TEST(Gradients, of_attention_are_what_differences_say) {
  const Variable q = f64_leaf({2, 3, 4}, 1), k = f64_leaf({2, 4, 4}, 2), v = f64_leaf({2, 4, 4}, 3);
  const auto both = [](const nn::Attended& attended) { return Variables{attended.output, attended.weights}; };
  nn::AdditiveAttention additive({.query_width = 4, .key_width = 4, .hidden = 3});
  nn::DotProductAttention dot;
  nn::SelfAttention single({.width = 4, .head_width = 3});
  nn::MultiHeadAttention heads({.width = 4, .heads = 2}), rotary({.width = 4, .heads = 2, .rotary = true});
  for (nn::Module* layer : std::vector<nn::Module*>{&additive, &dot, &single, &heads, &rotary})
    layer->to(DType::f64);
  expect_gradients(additive, {q, k, v},
                   [&] { return both(additive.attend(q, additive.project_keys(k), v, kSomeHidden)); });
  expect_gradients(dot, {q, k, v}, [&] { return both(dot.attend(q, k, v, kSomeHidden)); });
  expect_gradients(single, {k}, [&] { return both(single.attend(k, kSomeHidden)); });
  for (nn::MultiHeadAttention* layer : {&heads, &rotary}) {
    expect_gradients(*layer, {q, k, v},
                     [&] { return both(layer->attend_with_weights(q, layer->project(k, v), kSomeHidden)); });
    expect_gradients(*layer, {k}, [&] { return Variables{(*layer)(k, Mask::causal_order())}; });
  }
}

TEST(Gradients, of_attention_have_gradients) {
  const Variables qkv{f64_leaf({2, 2, 4}, 1), f64_leaf({2, 4, 4}, 2), f64_leaf({2, 4, 4}, 3)},
      x{f64_leaf({2, 4, 4})};
  nn::AdditiveAttention additive({.query_width = 4, .key_width = 4, .hidden = 3});
  nn::DotProductAttention dot;
  nn::SelfAttention single({.width = 4, .head_width = 3});
  nn::MultiHeadAttention heads({.width = 4, .heads = 2}), rotary({.width = 4, .heads = 2, .rotary = true});
  for (nn::Module* layer : std::vector<nn::Module*>{&additive, &dot, &single, &heads, &rotary})
    layer->to(DType::f64);
  expect_second_derivatives(qkv, [&](auto at) { return additive(at[0], at[1], at[2], kSomeHidden); });
  expect_second_derivatives(qkv, [&](auto at) { return dot(at[0], at[1], at[2], kSomeHidden); });
  expect_second_derivatives(qkv, [&](auto at) { return heads(at[0], at[1], at[2], kSomeHidden); });
  expect_second_derivatives(x, [&](auto at) { return single(at[0], kSomeHidden); });
  expect_second_derivatives(x, [&](auto at) { return heads(at[0], Mask::causal_order()); });
  expect_second_derivatives(x, [&](auto at) { return rotary(at[0], Mask::causal_order()); });
}

TEST(Gradients, of_transformer_layers_have_gradients) {
  const Variables x{f64_leaf({2, 3, 4}, 1)}, with_memory{x[0], f64_leaf({2, 4, 4}, 2)};
  const Mask mask = Mask::valid_lengths(ids({3, 1}));
  for (const auto norm : {nn::NormPlace::pre, nn::NormPlace::post}) {
    nn::TransformerEncoderLayer encoder(stack(norm));
    nn::TransformerDecoderLayer decoder(stack(norm));
    encoder.to(DType::f64), decoder.to(DType::f64);
    expect_second_derivatives(x, [&](auto at) { return encoder(at[0], mask); });
    expect_second_derivatives(with_memory, [&](auto at) { return decoder(at[0], at[1], kSomeHidden); });
  }
}

TEST(Gradients, of_transformer_stacks_are_what_differences_say) {
  const Variable x = f64_leaf({2, 3, 4}, 1), memory = f64_leaf({2, 4, 4}, 2);
  for (const auto norm : {nn::NormPlace::pre, nn::NormPlace::post}) {
    nn::TransformerEncoder encoder(stack(norm));
    nn::TransformerDecoder decoder(stack(norm));
    encoder.to(DType::f64), decoder.to(DType::f64);
    expect_gradients(encoder, {memory}, [&] { return Variables{encoder(memory, kSomeHidden)}; });
    expect_gradients(decoder, {x, memory}, [&] { return Variables{decoder(x, memory, kSomeHidden)}; });
  }
}

TEST(Gradients, of_encoder_decoders_are_what_differences_say) {
  const Tensor source = ids({{1, 2, 0, 3}, {4, 1, 0, 0}}), lengths = ids({4, 2}),
               target = ids({{1, 2}, {0, 3}});
  const auto check = [&](nn::EncoderDecoder& model) {
    model.to(DType::f64);
    expect_gradients(model, {}, [&] { return Variables{model(source, lengths, target)}; });
  };
  nn::Bahdanau bahdanau({.source_vocabulary = 5, .target_vocabulary = 4, .width = 3, .layers = 2});
  check(bahdanau);
  nn::Bahdanau attentive({.source_vocabulary = 5, .target_vocabulary = 4, .width = 4, .attentive = true});
  check(attentive);
  for (const auto position :
       {nn::PositionKind::sinusoidal, nn::PositionKind::learned, nn::PositionKind::rotary}) {
    nn::TransformerModel transformer({.source_vocabulary = 5,
                                      .target_vocabulary = 4,
                                      .stack = stack(nn::NormPlace::post),
                                      .position = position});
    check(transformer);
  }
}
