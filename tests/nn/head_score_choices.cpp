#include <heed/autograd/ops.h>
#include <heed/nn/attention.h>
#include <heed/tensor/storage.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;
using nn::each_head;
using nn::Mask;
using nn::MultiHeadAttention;

/// How the score of multi-head attention is chosen and kept.
namespace {

constexpr int64_t kWidth = 6, kHeads = 2, kHeadWidth = 3;

TEST(HeadScores, have_parameters_of_their_own_under_the_number_of_the_head) {
  MultiHeadAttention layer(
      {.width = 8, .heads = 2, .bias = false, .score = each_head<nn::AdditiveScore>({.hidden = 5})});
  const auto state = layer.state_dict();
  EXPECT_EQ(names_of(layer.named_parameters()),
            (std::vector<std::string>{"q_proj.weight", "k_proj.weight", "v_proj.weight", "out_proj.weight",
                                      "score.0.w_v", "score.0.q_proj.weight", "score.0.k_proj.weight",
                                      "score.1.w_v", "score.1.q_proj.weight", "score.1.k_proj.weight"}));
  EXPECT_EQ(state.at("score.0.q_proj.weight").shape(), Shape({5, 4}));
  EXPECT_FALSE(identical(state.at("score.0.w_v"), state.at("score.1.w_v")));
  // A score chosen changes no bit of the projections that are drawn.
  manual_seed(3);
  const MultiHeadAttention plain({.width = 8, .heads = 2});
  manual_seed(3);
  const MultiHeadAttention scored({.width = 8, .heads = 2, .score = each_head<nn::BilinearScore>()});
  for (const auto& [name, weight] : plain.state_dict())
    EXPECT_TRUE(identical(scored.state_dict().at(name), weight)) << name;
}

TEST(HeadScores, of_sums_keep_no_array_of_all_of_them) {
  constexpr int64_t kLength = 128, kHidden = 256;
  constexpr int64_t kSums = kLength * kLength * kHidden * 4;  // of one head
  MultiHeadAttention layer(
      {.width = 16, .heads = 2, .score = each_head<nn::AdditiveScore>({.hidden = kHidden})});
  const Variable x(random_tensor({1, kLength, 16}), true);
  const int64_t before = memory_stats().current;
  reset_peak_memory();
  layer(x).sum().backward();
  EXPECT_LT(memory_stats().peak - before, kSums / 4);
}

/// Products of all heads at once, or what they are when queries and keys are mistaken for each other.
class Products : public nn::HeadScores {
 public:
  explicit Products(bool transposed) : transposed_(transposed) {}
  Variable forward(const Variable& q, const Variable& k) override {
    const Variable scores = matmul(q, k.transpose(2, 3));
    return transposed_ ? scores.transpose(2, 3) : scores;
  }

 private:
  bool transposed_;
};

TEST(HeadScores, may_be_ones_own_for_all_heads_at_once) {
  MultiHeadAttention own({.width = kWidth, .heads = kHeads, .score = [](int64_t heads, int64_t width) {
                            EXPECT_EQ(heads, kHeads);
                            EXPECT_EQ(width, kHeadWidth);
                            return std::make_unique<Products>(false);
                          }});
  MultiHeadAttention each(
      {.width = kWidth, .heads = kHeads, .score = each_head<nn::DotScore>({.scaled = false})});
  each.load_state_dict(own.state_dict());
  const Variable x(random_tensor({2, 3, kWidth}));
  EXPECT_TRUE(close(own(x).data(), each(x).data(), kF32));
}

TEST(HeadScores, name_what_does_not_fit) {
  const auto with = [](const nn::ScoreChoice& score) {
    return MultiHeadAttention({.width = kWidth, .heads = kHeads, .score = score});
  };
  expect_error<ValueError>(
      [&] { with(each_head<nn::BilinearScore>({.query_width = 6})); },
      "[each_head] wanted a score for queries of width 3, as each head has them, came 6");
  expect_error<ValueError>([&] { with(each_head<nn::KeyScore>({.key_width = -1})); },
                           "[each_head] wanted a score for keys of width 3, as each head has them, came -1");
  expect_error<ValueError>([&] { with(each_head<nn::AdditiveScore>()); },
                           "[Linear] wanted 1 input and output or more, came 3 and 0");
  expect_error<ValueError>([&] { with([](int64_t, int64_t) { return nullptr; }); },
                           "[MultiHeadAttention] wanted a score, came a choice that makes none");

  auto additive = with(each_head<nn::AdditiveScore>({.hidden = 4}));
  const Variable x = ones({2, 3, kWidth});
  const auto attend = [&](const Shape& keys, const Shape& values) {
    additive.attend(x, {zeros(keys), zeros(values)});
  };
  const std::string wanted =
      "[MultiHeadAttention] wanted projected keys and values (2, keys, 6) for such queries, came ";
  expect_error<ShapeError>([&] { attend({2, 4, 5}, {2, 4, 6}); }, wanted + "(2, 4, 5) and (2, 4, 6)");
  expect_error<ShapeError>([&] { attend({1, 4, 6}, {1, 4, 6}); }, wanted + "(1, 4, 6) and (1, 4, 6)");
  expect_error<ShapeError>([&] { attend({2, 4, 6}, {2, 5, 6}); }, wanted + "(2, 4, 6) and (2, 5, 6)");
  expect_error<ShapeError>([&] { additive(ones({3, 6})); }, "wanted (batch, length, width), came (3, 6)");
  expect_error<ShapeError>([&] { additive(x, Mask::valid_lengths(ids({3, 3, 3}))); }, "came");

  auto transposed = with([](int64_t, int64_t) { return std::make_unique<Products>(true); });
  expect_error<ShapeError>(
      [&] {
        transposed(x, ones({2, 4, kWidth}), ones({2, 4, kWidth}));
      },
      "[MultiHeadAttention] wanted scores (2, 2, 3, 4), one for each head, query and key, came (2, 2, 4, 3)");

  nn::EachHead<nn::DotScore> heads(2, {});
  const std::string four_axes =
      "[each_head] wanted queries (batch, 2, queries, width) and keys (batch, 2, keys, width), came ";
  expect_error<ShapeError>(
      [&] {
        heads(ones({1, 3, 4, 5}), ones({1, 2, 4, 5}));
      },
      four_axes + "(1, 3, 4, 5) and (1, 2, 4, 5)");
  expect_error<ShapeError>(
      [&] {
        heads(ones({1, 2, 4, 5}), ones({2, 4, 5}));
      },
      four_axes + "(1, 2, 4, 5) and (2, 4, 5)");
}

}  // namespace
