#include <heed/nn/transformer.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;
using nn::Mask;
using nn::NormPlace;

namespace {

nn::TransformerOptions options(NormPlace norm = NormPlace::post, double dropout = 0) {
  return {.width = 8, .feed_forward = 12, .heads = 4, .layers = 2, .dropout = dropout, .norm = norm};
}

class Transformer : public testing::TestWithParam<NormPlace> {
 protected:
  static std::string fixture(const std::string& name) {
    return name + (GetParam() == NormPlace::post ? "_post" : "_pre");
  }
};

INSTANTIATE_TEST_SUITE_P(Norm, Transformer, testing::Values(NormPlace::post, NormPlace::pre),
                         [](const auto& place) { return place.param == NormPlace::post ? "post" : "pre"; });

TEST_P(Transformer, encoder_layer_matches_pytorch) {
  nn::TransformerEncoderLayer layer(options(GetParam()));
  expect_like_pytorch(layer, fixture("encoder_layer"), [&](const Variables& in, const auto& args) {
    return Variables{layer(in[0], Mask::valid_lengths(args[0]))};
  });
}

TEST(TransformerEncoderLayer, matches_pytorch_with_another_activation) {
  nn::TransformerOptions with_gelu = options();
  with_gelu.activation = ActivationKind::gelu;
  nn::TransformerEncoderLayer layer(with_gelu);
  expect_like_pytorch(layer, "encoder_layer_gelu", [&](const Variables& in, const auto& args) {
    return Variables{layer(in[0], Mask::valid_lengths(args[0]))};
  });
}

TEST_P(Transformer, encoder_matches_pytorch) {
  nn::TransformerEncoder encoder(options(GetParam()));
  expect_like_pytorch(encoder, fixture("encoder"), [&](const Variables& in, const auto& args) {
    return Variables{encoder(in[0], Mask::valid_lengths(args[0]))};
  });
}

TEST_P(Transformer, decoder_layer_matches_pytorch) {
  nn::TransformerDecoderLayer layer(options(GetParam()));
  expect_like_pytorch(layer, fixture("decoder_layer"), [&](const Variables& in, const auto& args) {
    return Variables{layer(in[0], in[1], Mask::valid_lengths(args[0]))};
  });
}

TEST_P(Transformer, decoder_matches_pytorch) {
  nn::TransformerDecoder decoder(options(GetParam()));
  expect_like_pytorch(decoder, fixture("decoder"), [&](const Variables& in, const auto& args) {
    return Variables{decoder(in[0], in[1], Mask::valid_lengths(args[0]))};
  });
}

TEST_P(Transformer, encoder_moves_with_its_input) {
  nn::TransformerEncoder encoder(options(GetParam()));
  const Tensor x = random_tensor({2, 5, 8});
  const std::vector<int64_t> order{3, 0, 4, 1, 2};
  EXPECT_TRUE(close(encoder(reordered(x, 1, order)).data(), reordered(encoder(x).data(), 1, order), kF32));
}

TEST_P(Transformer, decoder_looks_at_no_later_place) {
  nn::TransformerDecoder decoder(options(GetParam()));
  const Tensor x = random_tensor({2, 5, 8}, 1), memory = random_tensor({2, 3, 8}, 2);
  const Tensor whole = decoder(x, memory).data();
  for (int64_t t = 1; t < 5; ++t) {
    const Tensor changed = decoder(filled(x, 1, t, 5, 9), memory).data();
    EXPECT_TRUE(identical(changed.slice(1, 0, t).clone(), whole.slice(1, 0, t).clone())) << t;
    EXPECT_FALSE(close(changed.slice(1, t, 5), whole.slice(1, t, 5), {.absolute = 1e-3})) << t;
  }
}

TEST_P(Transformer, decoder_one_place_at_a_time_equals_the_whole) {
  nn::TransformerDecoder decoder(options(GetParam()));
  const Variable x(random_tensor({2, 5, 8}, 1)), memory(random_tensor({2, 3, 8}, 2));
  const Mask mask = Mask::valid_lengths(ids({3, 1}));
  const Tensor whole = decoder(x, memory, mask).data();
  auto cache = decoder.start(memory);
  for (int64_t t = 0; t < 5; ++t)
    EXPECT_TRUE(close(decoder.step(x.slice(1, t, t + 1), cache, mask).data(), whole.slice(1, t, t + 1), kF32))
        << t;
}

TEST_P(Transformer, padding_and_neighbours_change_nothing) {
  nn::TransformerEncoder encoder(options(GetParam()));
  nn::TransformerDecoder decoder(options(GetParam()));
  const Tensor x = random_tensor({2, 4, 8}, 1), y = random_tensor({2, 3, 8}, 2);
  const Mask mask = Mask::valid_lengths(ids({2, 4}));
  const Tensor encoded = encoder(x, mask).data(), decoded = decoder(y, x, mask).data();
  const auto first = [](const Tensor& all, int64_t length) {
    return all.slice(0, 0, 1).slice(1, 0, length).clone();
  };
  Tensor other = x.clone();
  other.select(0, 0).slice(0, 2, 4).fill(30);
  other.select(0, 1).fill(-30);
  EXPECT_TRUE(identical(first(encoder(other, mask).data(), 2), first(encoded, 2)));
  EXPECT_TRUE(identical(first(decoder(y, other, mask).data(), 3), first(decoded, 3)));
  EXPECT_TRUE(close(encoder(first(x, 2)).data(), first(encoded, 2), {.absolute = 1e-6}));
  EXPECT_TRUE(close(decoder(first(y, 3), first(x, 2)).data(), first(decoded, 3), {.absolute = 1e-6}));
}

TEST_P(Transformer, a_source_without_words_keeps_everything_finite) {
  nn::TransformerEncoder encoder(options(GetParam()));
  nn::TransformerDecoder decoder(options(GetParam()));
  const Mask mask = Mask::valid_lengths(ids({0, 4}));
  const Variable memory = encoder(random_tensor({2, 4, 8}, 1), mask);
  const Variable y = decoder(random_tensor({2, 3, 8}, 2), memory, mask);
  EXPECT_TRUE(kernels::all_finite(y.data()));
  (y * random_tensor({2, 3, 8}, 3)).sum().backward();
  expect_finite_grads(encoder);
  expect_finite_grads(decoder);
}

TEST_P(Transformer, dropout_is_off_in_evaluation) {
  nn::TransformerDecoder with(options(GetParam(), 0.5)), without(options(GetParam()));
  without.load_state_dict(with.state_dict());
  const Tensor x = random_tensor({2, 5, 8}, 1), memory = random_tensor({2, 3, 8}, 2);
  EXPECT_FALSE(identical(with(x, memory).data(), with(x, memory).data()));
  with.eval();
  EXPECT_TRUE(identical(with(x, memory).data(), without(x, memory).data()));
}

TEST(FeedForward, is_two_layers_with_a_relu_between) {
  nn::FeedForward layer(1, 2, 0);
  layer.load_state_dict({{"inner.weight", tensor_of({{1}, {-1}})},
                         {"inner.bias", tensor_of({0.5, 0.25})},
                         {"outer.weight", tensor_of({{2, 3}})},
                         {"outer.bias", tensor_of({1})}});
  EXPECT_TRUE(close(layer(tensor_of({{2}, {-2}, {0}})).data(), {6, 7.75, 2.75}, kExact));
}

TEST(FeedForward, drops_the_hidden_units) {
  nn::FeedForward layer(4, 8, 1);
  const Tensor bias = layer.state_dict().at("outer.bias");
  EXPECT_TRUE(close(layer(random_tensor({1, 4})).data().select(0, 0), bias, kExact));
}

TEST(Residual, adds_before_or_after_the_norm) {
  const Variable x(random_tensor({2, 3, 8}));
  const auto twice = [](const Variable& inside) { return inside * 2; };
  nn::Residual post(options(NormPlace::post)), pre(options(NormPlace::pre));
  nn::LayerNorm norm({.width = 8});
  EXPECT_TRUE(close(post(x, twice).data(), norm(x * 3).data(), kF32));
  EXPECT_TRUE(close(pre(x, twice).data(), (x + norm(x) * 2).data(), kF32));
}

TEST(TransformerOptions, bad_ones_are_named) {
  const auto expect_value_error = [](const auto& change, const std::string& message) {
    nn::TransformerOptions changed = options();
    change(changed);
    expect_error<ValueError>([&] { nn::TransformerEncoder{changed}; }, message);
    expect_error<ValueError>([&] { nn::TransformerDecoder{changed}; }, message);
  };
  expect_value_error([](auto& o) { o.heads = 3; },
                     "wanted a width that divides into the heads, came width 8 and 3 heads");
  expect_value_error([](auto& o) { o.layers = 0; }, "wanted 1 layer or more, came 0");
  expect_value_error([](auto& o) { o.layers = -1; }, "wanted 1 layer or more, came -1");
  expect_value_error([](auto& o) { o.feed_forward = 0; }, "wanted 1 input and output or more, came 8 and 0");
  expect_value_error([](auto& o) { o.dropout = 1.5; }, "wanted a probability in [0, 1], came 1.5");
  expect_value_error([](auto& o) { o.width = 0; }, "came width 0 and 4 heads");
}

TEST(TransformerDecoder, names_what_does_not_fit) {
  nn::TransformerDecoder decoder(options());
  const Tensor x = ones({2, 3, 8});
  expect_error<ShapeError>([&] { decoder(ones({2, 3, 6}), x); }, "came (2, 3, 6)");
  expect_error<ShapeError>([&] { decoder(x, ones({2, 3, 6})); }, "came (2, 3, 6)");
  expect_error<ShapeError>([&] { decoder(x, ones({5, 3, 8})); }, "[attention] wanted q");
  expect_error<ShapeError>(
      [&] {
        decoder(ones({3, 8}), x);
      },
      "[MultiHeadAttention] wanted (batch, length, width), came (3, 8)");
}

}  // namespace
