#include <heed/nn/embedding.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;

TEST(Embedding, matches_pytorch_with_a_padding_row) {
  nn::Embedding layer({.rows = 7, .width = 3, .padding = 2});
  expect_like_pytorch(layer, "embedding",
                      [&](const Variables&, const auto& args) { return Variables{layer(args[0])}; });
}

TEST(Embedding, starts_with_a_padding_row_of_zeros) {
  const nn::Embedding layer({.rows = 4, .width = 3, .padding = 3});
  EXPECT_TRUE(close(layer.weight().data().select(0, 3), zeros({3}), kExact));
  for (int64_t row = 0; row < 3; ++row)
    EXPECT_FALSE(close(layer.weight().data().select(0, row), zeros({3}), kExact));
}

TEST(Embedding, keeps_the_axes_of_the_ids) {
  nn::Embedding layer({.rows = 4, .width = 3});
  EXPECT_EQ(layer(ids({1, 2})).shape(), Shape({2, 3}));
  EXPECT_EQ(layer(ids({{1, 2}})).shape(), Shape({1, 2, 3}));
  EXPECT_EQ(layer(scalar(1, DType::i64)).shape(), Shape({3}));
  EXPECT_EQ(layer(zeros({2, 0}, DType::i64)).shape(), Shape({2, 0, 3}));
}

TEST(Embedding, names_what_does_not_fit) {
  expect_error<ValueError>([] { nn::Embedding({.rows = 0, .width = 2}); },
                           "[Embedding] wanted 1 row and column or more, came 0 and 2");
  expect_error<ValueError>([] { nn::Embedding({.rows = 2, .width = -3}); }, "came 2 and -3");
  expect_error<IndexError>([] { nn::Embedding({.rows = 2, .width = 3, .padding = 2}); },
                           "[Embedding] padding id 2 is outside the 2 rows");
  expect_error<IndexError>([] { nn::Embedding({.rows = 2, .width = 3, .padding = -1}); }, "padding id -1");
  nn::Embedding layer({.rows = 2, .width = 3});
  expect_error<DTypeError>([&] { layer(ones({2})); }, "[embedding] wanted i64 ids, came f32(2,)");
}

TEST(case_C19, a_repeated_ids_add_up) {
  nn::Embedding layer({.rows = 3, .width = 2});
  layer(ids({1, 1, 0})).backward(Variable(tensor_of({{1, 2}, {3, 4}, {5, 6}})));
  EXPECT_TRUE(close(layer.weight().grad().data(), {5, 6, 4, 6, 0, 0}, kExact));
}

TEST(case_C19, b_the_padding_row_gets_no_gradient_among_many_ids) {
  nn::Embedding layer({.rows = 10, .width = 8, .padding = 0});
  Tensor words = zeros({769}, DType::i64);
  words.set({0}, 3);
  layer(words).sum().backward();
  const Tensor grad = layer.weight().grad().data();
  for (int64_t row = 0; row < 10; ++row)
    EXPECT_TRUE(close(grad.select(0, row), full({8}, row == 3 ? 1 : 0), kExact)) << row;
}

TEST(case_C19, c_an_id_outside_the_table_is_named_with_its_rows) {
  nn::Embedding layer({.rows = 3, .width = 2});
  for (const int64_t id : {-1, 3})
    expect_error<IndexError>(
        [&] {
          layer(ids({0, static_cast<double>(id)}));
        },
        fmt::format("[embedding] id {} is outside the table of 3 rows", id));
}
