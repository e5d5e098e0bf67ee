#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include <heed/tensor/creation.h>
#include <heed/tensor/tensor.h>

/// Comparing tensors, with a message that shows the first difference.
namespace heed::test {

struct Tolerance {
  double relative = 0;
  double absolute = 0;
};
inline constexpr Tolerance kF64{.relative = 1e-9, .absolute = 1e-9};
inline constexpr Tolerance kF32{.relative = 1e-5, .absolute = 1e-6};
inline constexpr Tolerance kExact{};

/// The index of a flat place, "(1, 0, 2)".
inline std::string index_of(int64_t place, const Shape& shape) {
  Dims index = Dims::filled(shape.rank(), 0);
  for (int64_t axis = shape.rank() - 1; axis >= 0; --axis) {
    index[axis] = place % shape[axis];
    place /= shape[axis];
  }
  return to_string(index);
}

/// Success if the shapes are the same and each |got - want| <= absolute + relative |want|; NaN is close to
/// nothing.
inline testing::AssertionResult close(const Tensor& got, const Tensor& want, Tolerance tolerance) {
  if (!got.defined() || !want.defined() || got.shape() != want.shape())
    return testing::AssertionFailure() << "got " << describe(got) << ", wanted " << describe(want);
  const auto left = got.to_vector<double>(), right = want.to_vector<double>();
  for (size_t i = 0; i < left.size(); ++i) {
    const bool same = left[i] == right[i];  // infinities, whose difference is NaN
    if (same || std::abs(left[i] - right[i]) <= tolerance.absolute + tolerance.relative * std::abs(right[i]))
      continue;
    return testing::AssertionFailure()
           << fmt::format("first difference at {} of {}: got {:.12g}, wanted {:.12g}",
                          index_of(static_cast<int64_t>(i), got.shape()), describe(got), left[i], right[i]);
  }
  return testing::AssertionSuccess();
}

/// The same for numbers as they are written: close(x, {1, 2, 3}, kF64), in row-major order.
inline testing::AssertionResult close(const Tensor& got, const std::vector<double>& want,
                                      Tolerance tolerance) {
  if (got.numel() != static_cast<int64_t>(want.size()))
    return testing::AssertionFailure() << "got " << describe(got) << ", wanted " << want.size() << " numbers";
  return close(got, from_values<double>(want, got.shape()), tolerance);
}

}  // namespace heed::test
