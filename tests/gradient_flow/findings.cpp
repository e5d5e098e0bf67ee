#include "gradient_flow/findings.h"

#include <gtest/gtest.h>
#include <heed/tensor/error.h>

#include <cmath>
#include <limits>

namespace heed::gradient_flow {
namespace {

TEST(TableTest, columns_are_as_wide_as_their_widest_cell) {
  Table table({"d", "entropy"});
  table.add({"128", "1"});
  EXPECT_EQ(table.text(),
            "d    entropy\n"
            "128        1\n");
}

TEST(TableTest, wants_a_cell_for_each_column) {
  Table table({"d", "entropy"});
  EXPECT_THROW(table.add({"128"}), ValueError);
}

TEST(TableTest, numbers_have_three_digits) {
  EXPECT_EQ(three_digits(0), "0");
  EXPECT_EQ(three_digits(0.012345), "0.0123");
  EXPECT_EQ(three_digits(-1.2345), "-1.23");
  EXPECT_EQ(three_digits(123.45), "123");
  EXPECT_EQ(three_digits(98765), "98765");
  EXPECT_EQ(three_digits(0.0000123), "1.2e-05");
  EXPECT_EQ(three_digits(std::numeric_limits<double>::quiet_NaN()), "-");
}

TEST(FittedPowerTest, finds_the_power_behind_numbers) {
  const std::vector<double> x{2, 4, 8, 16};
  std::vector<double> y;
  for (const double one : x) y.push_back(3 * std::pow(one, -0.5));
  EXPECT_NEAR(fitted_power(x, y), -0.5, 1e-12);
  y.assign(4, 7);
  EXPECT_NEAR(fitted_power(x, y), 0, 1e-12);
}

}  // namespace
}  // namespace heed::gradient_flow
