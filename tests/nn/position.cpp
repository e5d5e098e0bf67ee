#include <heed/nn/position.h>

#include <cmath>
#include <limits>

#include <rapidcheck.h>

#include <heed/autograd/ops/matmul.h>
#include <heed/autograd/ops/views.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;

TEST(SinusoidalPosition, matches_pytorch_also_for_an_odd_width) {
  const LayerFixture fixture = load_fixture("nn.safetensors", "sinusoids");
  ASSERT_EQ(fixture.outputs.size(), 2u);
  EXPECT_TRUE(close(nn::SinusoidalPosition::table(20, 6), fixture.outputs[0], kF32));
  EXPECT_TRUE(close(nn::SinusoidalPosition::table(9, 5), fixture.outputs[1], kF32));
}

TEST(SinusoidalPosition, has_the_numbers_of_the_formula) {
  const Tensor table = nn::SinusoidalPosition::table(3, 4);
  EXPECT_TRUE(close(table.select(0, 0), {0, 1, 0, 1}, kExact));
  EXPECT_TRUE(
      close(table.select(0, 2), {0.90929743, -0.41614684, 0.01999867, 0.99980001}, kF32));  // 2, 2 / 100
}

TEST(SinusoidalPosition, adds_the_table_to_every_sample) {
  nn::SinusoidalPosition layer({.width = 6, .max_length = 20});
  const Variable x(random_tensor({2, 3, 6}), true);
  const Tensor table = nn::SinusoidalPosition::table(20, 6);
  const Tensor y = layer(x, 7).data();
  for_each_index(y.shape(), [&](const std::vector<int64_t>& at) {
    EXPECT_EQ(static_cast<float>(get(y, at)),
              static_cast<float>(get(x.data(), at)) + static_cast<float>(get(table, {7 + at[1], at[2]})));
  });
  layer(x).sum().backward();
  EXPECT_TRUE(close(x.grad().data(), ones({2, 3, 6}), kExact));
  EXPECT_TRUE(layer.named_parameters().empty());
  EXPECT_TRUE(layer.state_dict().empty());
}

TEST(LearnedPosition, adds_its_rows_and_trains_those_that_were_used) {
  nn::LearnedPosition layer({.width = 2, .max_length = 4});
  Tensor rows = layer.parameters()[0].data();
  rows.copy_from(tensor_of({{1, 2}, {3, 4}, {5, 6}, {7, 8}}));
  const Variable y = layer(zeros({2, 2, 2}), 1);
  EXPECT_TRUE(close(y.data(), {3, 4, 5, 6, 3, 4, 5, 6}, kExact));
  y.sum().backward();
  EXPECT_TRUE(close(layer.parameters()[0].grad().data(), {0, 0, 2, 2, 2, 2, 0, 0}, kExact));
}

TEST(LearnedPosition, starts_small) {
  manual_seed(2);
  const nn::LearnedPosition layer({.width = 100, .max_length = 100});
  double square = 0;
  for (const double v : layer.parameters()[0].data().to_vector<double>()) square += v * v / 10000;
  EXPECT_NEAR(std::sqrt(square), 0.02, 0.001);
}

TEST(LearnedPosition, continues_where_its_offset_says) {
  nn::LearnedPosition layer({.width = 3, .max_length = 8});
  const Tensor x = random_tensor({1, 6, 3}), whole = layer(x).data();
  for (int64_t t = 0; t < 6; ++t)
    EXPECT_TRUE(identical(layer(x.slice(1, t, t + 1), t).data(), whole.slice(1, t, t + 1).contiguous()));
}

template <class T>
class Position : public testing::Test {};
using PositionTypes = testing::Types<nn::SinusoidalPosition, nn::LearnedPosition>;
TYPED_TEST_SUITE(Position, PositionTypes);

TYPED_TEST(Position, names_both_numbers_when_a_sequence_is_too_long) {
  TypeParam layer({.width = 2, .max_length = 4});
  EXPECT_EQ(layer(zeros({1, 4, 2})).shape(), Shape({1, 4, 2}));
  expect_error<ShapeError>(
      [&] {
        layer(zeros({1, 5, 2}));
      },
      "wanted at most 4 places, came 5 from place 0 on");
  expect_error<ShapeError>(
      [&] {
        layer(zeros({1, 2, 2}), 3);
      },
      "wanted at most 4 places, came 2 from place 3 on");
  expect_error<ShapeError>([&] { layer(zeros({1, 2, 2}), -1); }, "came 2 from place -1 on");
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max();
  expect_error<ShapeError>(
      [&] {
        layer(zeros({1, 2, 2}), kFar);
      },
      "came 2 from place 9223372036854775807 on");
}

TYPED_TEST(Position, names_a_wrong_width_or_rank) {
  TypeParam layer({.width = 2, .max_length = 4});
  expect_error<ShapeError>([&] { layer(zeros({1, 3, 5})); }, "wanted x (batch, length, 2), came (1, 3, 5)");
  expect_error<ShapeError>([&] { layer(zeros({3, 2})); }, "wanted x (batch, length, 2), came (3, 2)");
}

TYPED_TEST(Position, names_bad_options) {
  expect_error<ValueError>([] { TypeParam({.width = 0, .max_length = 4}); },
                           "wanted a width and a max_length of 1 or more, came 0 and 4");
  expect_error<ValueError>([] { TypeParam({.width = 2, .max_length = -4}); }, "came 2 and -4");
}

TYPED_TEST(Position, leaves_an_empty_sequence_empty) {
  TypeParam layer({.width = 2, .max_length = 4});
  EXPECT_EQ(layer(zeros({3, 0, 2})).shape(), Shape({3, 0, 2}));
}

TEST(RotaryPosition, matches_pytorch_with_complex_numbers) {
  nn::RotaryPosition layer({.width = 6, .max_length = 8});
  expect_like_pytorch(layer, "rotary",
                      [&](const Variables& in, const auto&) { return Variables{layer(in[0], 3)}; });
}

TEST(RotaryPosition, turns_each_head_by_itself_and_changes_no_length) {
  nn::RotaryPosition layer({.width = 4, .max_length = 5});
  const Tensor x = random_tensor({2, 5, 12}), y = layer(x).data();
  for (int64_t h = 0; h < 3; ++h)
    EXPECT_TRUE(
        identical(layer(x.slice(2, 4 * h, 4 * h + 4)).data(), y.slice(2, 4 * h, 4 * h + 4).contiguous()));
  EXPECT_TRUE(identical(y.select(1, 0).contiguous(), x.select(1, 0).contiguous()));
  EXPECT_TRUE(close(Variable(y).pow(2).sum({2}).data(), Variable(x).pow(2).sum({2}).data(), kF32));
  EXPECT_TRUE(layer.state_dict().empty());
}

TEST(RotaryPosition, scores_depend_on_the_distance_only) {
  EXPECT_TRUE(rc::check([] {
    const auto half = *rc::gen::inRange<int64_t>(1, 9), first = *rc::gen::inRange<int64_t>(0, 40),
               second = *rc::gen::inRange<int64_t>(0, 40), shift = *rc::gen::inRange<int64_t>(0, 60);
    const auto seed = *rc::gen::inRange<uint64_t>(0, 1000);
    nn::RotaryPosition layer({.width = 2 * half, .max_length = 100});
    const Tensor q = random_tensor({1, 1, 2 * half}, seed), k = random_tensor({1, 1, 2 * half}, seed + 1);
    const auto score = [&](int64_t query_place, int64_t key_place) {
      return matmul(layer(q, query_place), layer(k, key_place).transpose(1, 2)).item();
    };
    const double at_first = score(first, second), moved = score(first + shift, second + shift);
    RC_ASSERT(std::abs(at_first - moved) < 2e-5);
  }));
  // One step further they are others.
  nn::RotaryPosition layer({.width = 2, .max_length = 4});
  const Tensor x = tensor_of({{{1, 0}}});
  EXPECT_NEAR(matmul(layer(x, 0), layer(x, 2).transpose(1, 2)).item(), std::cos(2.0), 1e-6);
}

TEST(RotaryPosition, has_gradients_that_differences_confirm) {
  nn::RotaryPosition layer({.width = 4, .max_length = 8});
  const Variable x = f64_leaf({2, 3, 8});
  expect_gradients(layer, {x}, [&] { return Variables{layer(x, 2)}; });
}

TEST(RotaryPosition, names_what_does_not_fit) {
  expect_error<ValueError>(
      [] { nn::RotaryPosition({.width = 5, .max_length = 4}); },
      "[RotaryPosition] wanted an even head width, for numbers are turned in pairs, came 5");
  expect_error<ValueError>([] { nn::RotaryPosition({.width = 0, .max_length = 4}); },
                           "[RotaryPosition] wanted a width and a max_length of 1 or more, came 0 and 4");
  nn::RotaryPosition layer({.width = 4, .max_length = 3});
  EXPECT_EQ(layer(zeros({2, 0, 8})).shape(), Shape({2, 0, 8}));
  expect_error<ShapeError>(
      [&] {
        layer(zeros({2, 3, 6}));
      },
      "[RotaryPosition] wanted x (batch, length, heads * 4), came (2, 3, 6)");
  expect_error<ShapeError>([&] { layer(zeros({3, 4})); }, "came (3, 4)");
  expect_error<ShapeError>(
      [&] {
        layer(zeros({2, 3, 4}), 1);
      },
      "wanted at most 3 places, came 3 from place 1 on");
  expect_error<ShapeError>([&] { layer(zeros({2, 3, 4}), -1); }, "came 3 from place -1 on");
}
