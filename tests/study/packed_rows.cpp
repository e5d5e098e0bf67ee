#include <heed/study/internal/packed_rows.h>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>

using namespace heed::study::internal;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::string base64_of(std::string_view text) { return base64(std::as_bytes(std::span(text))); }

int number_at(const PackedRows& rows, size_t index) {
  if (rows.bits == 8) return static_cast<int8_t>(rows.numbers[index]);
  return static_cast<int16_t>(std::to_integer<int>(rows.numbers[2 * index]) |
                              std::to_integer<int>(rows.numbers[2 * index + 1]) << 8);
}

/// Numbers of very different sizes.
rc::Gen<float> any_number() {
  return rc::gen::map(
      rc::gen::pair(rc::gen::inRange(-1000, 1001), rc::gen::inRange(-30, 31)),
      [](const auto& parts) { return std::ldexp(static_cast<float>(parts.first), parts.second); });
}

}  // namespace

TEST(Base64, gives_the_test_vectors_of_rfc_4648) {
  EXPECT_EQ(base64_of(""), "");
  EXPECT_EQ(base64_of("f"), "Zg==");
  EXPECT_EQ(base64_of("fo"), "Zm8=");
  EXPECT_EQ(base64_of("foo"), "Zm9v");
  EXPECT_EQ(base64_of("foob"), "Zm9vYg==");
  EXPECT_EQ(base64_of("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64_of("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64_of("\xff\xfe\xfd"), "//79");
}

RC_GTEST_PROP(PackedRows, are_off_by_half_a_scale_at_most, ()) {
  const int bits = *rc::gen::element(8, 16);
  const int64_t columns = *rc::gen::inRange(1, 20), count = *rc::gen::inRange(1, 6);
  const auto values = *rc::gen::container<std::vector<float>>(count * columns, any_number());
  const PackedRows rows = pack_rows(values, columns, bits);
  RC_ASSERT(rows.scales.size() == static_cast<size_t>(count));
  RC_ASSERT(rows.numbers.size() == values.size() * bits / 8);
  for (int64_t row = 0; row < count; ++row) {
    double largest = 0;
    for (int64_t i = 0; i < columns; ++i)
      largest = std::max<double>(largest, std::abs(values[row * columns + i]));
    const double bound = largest / (2.0 * ((1 << (bits - 1)) - 1)) * (1 + 1e-6);
    for (int64_t i = row * columns; i < (row + 1) * columns; ++i) {
      RC_ASSERT(std::abs(number_at(rows, i) * static_cast<double>(rows.scales[row]) - values[i]) <= bound);
    }
  }
}

TEST(PackedRows, keep_the_largest_of_a_row_and_the_sign) {
  const std::vector<float> values{-3, 0, 3, 1.5F};
  const PackedRows rows = pack_rows(values, 4, 8);
  EXPECT_EQ(number_at(rows, 0), -127);
  EXPECT_EQ(number_at(rows, 1), 0);
  EXPECT_EQ(number_at(rows, 2), 127);
  EXPECT_EQ(number_at(rows, 3), 64);
}

TEST(PackedRows, mark_what_is_not_finite_and_scale_by_the_rest) {
  const std::vector<float> values{std::nanf(""), kInfinity, -kInfinity, 2};
  for (const int bits : {8, 16}) {
    const PackedRows rows = pack_rows(values, 4, bits);
    const int limit = (1 << (bits - 1)) - 1;
    for (const size_t i : {0, 1, 2}) EXPECT_EQ(number_at(rows, i), -limit - 1);
    EXPECT_EQ(number_at(rows, 3), limit);
    EXPECT_FLOAT_EQ(rows.scales[0], 2.0F / static_cast<float>(limit));
  }
}

TEST(PackedRows, of_zeros_and_of_numbers_too_small_to_scale_are_zeros) {
  const float tiny = std::numeric_limits<float>::denorm_min();
  for (const float value : {0.0F, tiny}) {
    const PackedRows rows = pack_rows(std::vector<float>{value, value}, 2, 16);
    EXPECT_EQ(number_at(rows, 0), 0);
    EXPECT_EQ(rows.scales[0], 0);
  }
}

TEST(PackedRows, hold_the_largest_of_floats) {
  const float most = std::numeric_limits<float>::max();
  const PackedRows rows = pack_rows(std::vector<float>{most, -most / 2}, 2, 16);
  EXPECT_EQ(number_at(rows, 0), 32767);
  EXPECT_NEAR(number_at(rows, 1), -16384, 1);
}

TEST(PackedRows, leave_out_what_the_mask_leaves_out) {
  const std::vector<float> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 8, 7, 6, 5, 4, 3, 2, 1};
  const PackedRows rows = pack_rows(values, 9, 8, {0b00000010, 1, 0b10000000, 0});
  ASSERT_EQ(rows.numbers.size(), 3U);
  EXPECT_EQ(number_at(rows, 0), 28);   // 2 of 9
  EXPECT_EQ(number_at(rows, 1), 127);  // 9
  EXPECT_EQ(number_at(rows, 2), 28);   // 2
}

TEST(Strongest, takes_what_is_large_in_either_matrix) {
  const std::vector<float> weights{0.7F, 0.2F, 0.1F, 0}, gradients{0.001F, 0, -0.009F, 0.002F};
  EXPECT_EQ(strongest(weights, gradients, 4, 2), KeptMask{0b0101});
  EXPECT_EQ(strongest(weights, {}, 4, 2), KeptMask{0b0011});
}

TEST(Strongest, takes_what_is_not_finite_first_and_the_left_one_of_equals) {
  const std::vector<float> values{1, 2, std::nanf(""), 2, -kInfinity, 2};
  EXPECT_EQ(strongest(values, {}, 6, 2), KeptMask{0b010100});
  EXPECT_EQ(strongest(values, {}, 6, 4), KeptMask{0b011110});
}

RC_GTEST_PROP(Strongest, keeps_as_many_as_told_and_nothing_weaker_than_it_leaves_out, ()) {
  const int64_t columns = *rc::gen::inRange(1, 30), kept = *rc::gen::inRange<int64_t>(1, columns + 1);
  const auto row = *rc::gen::container<std::vector<float>>(columns, any_number());
  const KeptMask mask = strongest(row, {}, columns, kept);
  int64_t count = 0;
  float weakest = kInfinity, left_out = 0;
  for (int64_t i = 0; i < columns; ++i) {
    const bool is_kept = (mask[i / 8] >> (i % 8) & 1) != 0;
    count += is_kept ? 1 : 0;
    if (is_kept) weakest = std::min(weakest, std::abs(row[i]));
    if (!is_kept) left_out = std::max(left_out, std::abs(row[i]));
  }
  RC_ASSERT(count == kept);
  RC_ASSERT(weakest >= left_out);
}
