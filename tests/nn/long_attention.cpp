#include <heed/autograd/ops.h>
#include <heed/nn/attention.h>
#include <heed/tensor/storage.h>

#include "tests/nn/helpers.h"
#include "tests/ops/memory.h"

using namespace heed;
using namespace heed::test;
using nn::Mask;

/// Attention to a sequence that is long: the weights of all heads would be 537 MB, and as much again for
/// each array of backward.
namespace {

constexpr int64_t kWidth = 512, kHeads = 8, kHeadWidth = 64, kLength = 4096;

struct Memory {
  int64_t peak = 0, resident = 0;  // bytes beyond what stood there before
};

/// 10^11 steps, in loops that check each access.
constexpr const char* kTooSlow = "takes minutes under a sanitizer; the other builds measure it";

/// Of forward and backward.
Memory memory_of_training(nn::MultiHeadAttention& attention, int64_t length, const Mask& mask) {
  attention.zero_grad();
  const Variable x(random_tensor({1, length, kWidth}), true);
  const int64_t before = memory_stats().current, resident = resident_bytes();
  reset_peak_memory();
  attention(x, mask).sum().backward();
  EXPECT_TRUE(kernels::all_finite(x.grad().data()));
  expect_finite_grads(attention);
  return {memory_stats().peak - before, resident_bytes() - resident};
}

constexpr int64_t kWeights = kHeads * kLength * kLength * 4, kSequence = kLength * kWidth * 4;

/// Room for the projections, the heads and the output, and a gradient of each.
constexpr int64_t kRoom = 10 * kSequence;
static_assert(kRoom < kWeights / 6);

void expect_within_room(const Memory& memory) {
  EXPECT_LT(memory.peak, kRoom);
  EXPECT_LT(memory.resident, kRoom);
}

}  // namespace

TEST(LongAttention, memory_grows_with_the_length_and_not_with_its_square) {
  if (kSanitized) GTEST_SKIP() << kTooSlow;
  nn::MultiHeadAttention attention({.width = kWidth, .heads = kHeads});
  const Memory half = memory_of_training(attention, kLength / 2, {});
  const Memory whole = memory_of_training(attention, kLength, {});
  EXPECT_LT(static_cast<double>(whole.peak), 2.2 * static_cast<double>(half.peak));
  expect_within_room(whole);
}

TEST(LongAttention, memory_is_no_larger_in_causal_order_among_padding) {
  if (kSanitized) GTEST_SKIP() << kTooSlow;
  nn::MultiHeadAttention attention({.width = kWidth, .heads = kHeads});
  memory_of_training(attention, 512, {});  // what a process takes once, its code for instance, does not count
  expect_within_room(
      memory_of_training(attention, kLength, Mask::causal_order() & Mask::valid_lengths(ids({4000}))));
}

TEST(LongAttention, is_the_formula_for_each_query) {
  if (kSanitized) GTEST_SKIP() << kTooSlow;
  const NoGrad guard;
  nn::MultiHeadAttention attention({.width = kWidth, .heads = kHeads});
  const auto state = attention.state_dict();
  const Variable x(random_tensor({1, kLength, kWidth}));
  // (batch, length, width) -> (heads, length, head width)
  const auto heads = [&](const Variable& sequence, const std::string& name) {
    return linear(sequence, state.at(name + "_proj.weight"))
        .reshape({-1, kHeads, kHeadWidth})
        .transpose(0, 1);
  };
  const Variable some = x.slice(1, 1000, 1003);
  const Variable scores = matmul(heads(some, "q"), heads(x, "k").transpose(1, 2)) / 8;  // sqrt(head width)
  const Variable pooled = matmul(scores.softmax(-1), heads(x, "v")).transpose(0, 1).reshape({1, 3, kWidth});
  const Variable wanted = linear(pooled, state.at("out_proj.weight"));
  EXPECT_TRUE(close(attention(x).slice(1, 1000, 1003).data(), wanted.data(), kF32));
}
