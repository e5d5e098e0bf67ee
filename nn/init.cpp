#include <heed/nn/init.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <heed/tensor/creation.h>

namespace heed::nn {
namespace {

void expect_matrix(const char* name, const Shape& shape) {
  if (shape.rank() != 2) raise<ShapeError>("[{}] wanted (fan_out, fan_in), came {}", name, shape);
}

/// As a double, and 1 where there is nothing, whose bound does not matter.
double fan(int64_t count) { return static_cast<double>(std::max<int64_t>(count, 1)); }

Tensor uniform_within(double bound, const Shape& shape, Generator& generator) {
  return rand_uniform(shape, -bound, bound, DType::f32, generator);
}

using Row = std::span<double>;

double dot(Row a, Row b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// What is left of `row` without its part along `unit`.
void take_out(Row row, Row unit) {
  const double along = dot(row, unit);
  for (size_t i = 0; i < row.size(); ++i) row[i] -= along * unit[i];
}

/// Makes the rows orthogonal and of length 1, by the modified Gram-Schmidt method; a second round takes out
/// what rounding left over in the first. Rows of independent normal numbers are never dependent in practice.
void orthonormalize(Tensor& rows) {
  const auto width = static_cast<size_t>(rows.size(1));
  const std::span<double> all = rows.mutable_span<double>();
  for (int64_t i = 0; i < rows.size(0); ++i) {
    const Row row = all.subspan(static_cast<size_t>(i) * width, width);
    for (int round = 0; round < 2; ++round)
      for (int64_t j = 0; j < i; ++j) take_out(row, all.subspan(static_cast<size_t>(j) * width, width));
    const double length = std::sqrt(dot(row, row));
    for (double& x : row) x /= length;
  }
}

}  // namespace

Tensor xavier_uniform(const Shape& shape, Generator& generator) {
  expect_matrix("xavier_uniform", shape);
  return uniform_within(std::sqrt(6 / fan(shape[0] + shape[1])), shape, generator);
}

Tensor xavier_normal(const Shape& shape, Generator& generator) {
  expect_matrix("xavier_normal", shape);
  return rand_normal(shape, 0, std::sqrt(2 / fan(shape[0] + shape[1])), DType::f32, generator);
}

Tensor kaiming_uniform(const Shape& shape, Generator& generator) {
  expect_matrix("kaiming_uniform", shape);
  return uniform_within(std::sqrt(6 / fan(shape[1])), shape, generator);
}

Tensor kaiming_normal(const Shape& shape, Generator& generator) {
  expect_matrix("kaiming_normal", shape);
  return rand_normal(shape, 0, std::sqrt(2 / fan(shape[1])), DType::f32, generator);
}

Tensor fan_in_uniform(const Shape& shape, int64_t fan_in, Generator& generator) {
  return uniform_within(1 / std::sqrt(fan(fan_in)), shape, generator);
}

Tensor truncated_normal(const Shape& shape, double mean, double deviation, double cut, Generator& generator) {
  if (!(deviation >= 0) || !(cut >= 0.1))
    raise<ValueError>(
        "[truncated_normal] wanted a deviation of 0 or more and a cut of 0.1 or more, came {} and {}",
        deviation, cut);
  Tensor result = rand_normal(shape, 0, 1, DType::f64, generator);
  for (double& x : result.mutable_span<double>()) {
    while (std::abs(x) > cut) x = rand_normal({}, 0, 1, DType::f64, generator).item();
    x = mean + deviation * x;
  }
  return result.to(DType::f32);
}

Tensor orthogonal(const Shape& shape, double gain, Generator& generator) {
  expect_matrix("orthogonal", shape);
  const bool is_tall = shape[0] > shape[1];
  Tensor rows = rand_normal(is_tall ? Shape{shape[1], shape[0]} : shape, 0, 1, DType::f64, generator);
  orthonormalize(rows);
  for (double& x : rows.mutable_span<double>()) x *= gain;
  return (is_tall ? rows.transpose(0, 1) : rows).to(DType::f32).contiguous();
}

}  // namespace heed::nn
