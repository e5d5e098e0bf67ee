// More elements than 32 bits count. Opt-in, because it takes 14 GB and some seconds: HEED_LARGE_TESTS=1.
#include <gtest/gtest.h>

#include <cstdlib>

#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/comparison.h>
#include <heed/tensor/kernels/index.h>
#include <heed/tensor/kernels/reduce.h>

using namespace heed;

namespace {

constexpr int64_t kRows = 65'537, kColumns = 32'771;
constexpr int64_t kCount = kRows * kColumns;  // 2^31 + 229,379 and some
static_assert(kCount > int64_t{1} << 31);

class LargeTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("HEED_LARGE_TESTS") == nullptr)
      GTEST_SKIP() << "opt-in: HEED_LARGE_TESTS=1 runs it and takes 14 GB of memory";
  }
  void TearDown() override { release_cached_memory(); }
};

}  // namespace

TEST_F(LargeTest, views_and_edits_reach_every_element) {
  Tensor flags = zeros({kRows, kColumns}, DType::boolean);
  EXPECT_EQ(flags.numel(), kCount);
  EXPECT_FALSE(kernels::any(flags).item());
  flags.set({kRows - 1, kColumns - 1}, 1);
  EXPECT_TRUE(kernels::any(flags).item());
  EXPECT_EQ(flags.reshape({kCount}).at({kCount - 1}), 1);
  EXPECT_EQ(flags.transpose(0, 1).at({kColumns - 1, kRows - 1}), 1);
  EXPECT_EQ(flags.select(0, -1).at({-1}), 1);
  Tensor tail = flags.reshape({kCount}).slice(0, kCount - 5, kCount);
  EXPECT_EQ(tail.to_vector<int64_t>(), (std::vector<int64_t>{0, 0, 0, 0, 1}));
  tail.fill(1);
  const Tensor by_column = kernels::any(flags, {0});
  EXPECT_EQ(by_column.slice(0, kColumns - 6, kColumns).to_vector<int64_t>(),
            (std::vector<int64_t>{0, 1, 1, 1, 1, 1}));
  EXPECT_TRUE(kernels::all(kernels::eq(flags.slice(0, 0, 3).to(DType::i64), scalar(0, DType::i64))).item());
}

TEST_F(LargeTest, casts_copies_and_sums_reach_every_element) {
  Tensor values = full({kRows, kColumns}, 1, DType::bf16);
  values.set({kRows - 1, 7}, 3);
  const Tensor copy = values.clone();
  EXPECT_TRUE(equal(copy, values));
  const Tensor wide = values.transpose(0, 1).slice(0, 7, 8).to(DType::f64);
  EXPECT_EQ(kernels::sum(wide).item(), static_cast<double>(kRows + 2));
  const Tensor rows = kernels::index_select(values, 0, tensor_of({kRows - 1.0, 0}, DType::i64));
  EXPECT_EQ(rows.at({0, 7}), 3);
  EXPECT_EQ(rows.at({1, 7}), 1);
  EXPECT_EQ(kernels::sum(values.to(DType::f32)).item(), static_cast<double>(static_cast<float>(kCount + 2)));
}
