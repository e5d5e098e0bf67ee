#include <heed/tensor/kernels/matmul.h>

#include <algorithm>
#include <array>
#include <utility>

#include <heed/tensor/creation.h>
#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/onednn.h>
#include <heed/tensor/internal/parallel.h>
#include <heed/tensor/internal/result.h>
#include <heed/tensor/kernels/arithmetic.h>

namespace heed::kernels {
namespace {

/// A tensor seen as a batch of matrices.
struct Matrices {
  Tensor values;
  int64_t batch_stride = 0, row_stride = 0, column_stride = 0;
};

/// True if one of the two matrix axes lies next to itself in memory and the other steps over it.
bool is_row_or_column_major(const Tensor& x) {
  const int64_t rows = x.size(-2), columns = x.size(-1);
  const int64_t row = x.strides()[x.rank() - 2], column = x.strides()[x.rank() - 1];
  const bool row_major = (column == 1 || columns == 1) && (row >= columns || rows == 1);
  const bool column_major = (row == 1 || rows == 1) && (column >= rows || columns == 1);
  return row_major || column_major;
}

/// True unless the matrices of a batch lie interleaved in memory, which oneDNN does not take: in order of
/// their strides, each axis steps over all of the one before.
bool is_nested(const Matrices& x, int64_t batch) {
  if (x.batch_stride == 0) return true;
  std::array<std::pair<int64_t, int64_t>, 3> axes{
      {{x.batch_stride, batch}, {x.row_stride, x.values.size(-2)}, {x.column_stride, x.values.size(-1)}}};
  std::ranges::sort(axes);
  int64_t reach = 1;
  for (const auto& [stride, size] : axes) {
    if (size == 1) continue;
    if (stride < reach) return false;
    reach = stride * size;
  }
  return true;
}

/// x: (lead..., rows, columns) as matrices whose lead axes are one axis; copies only what has no such
/// strides.
Matrices as_matrices(const Tensor& x, const Shape& lead) {
  Shape shape = lead;
  shape.push_back(x.size(-2));
  shape.push_back(x.size(-1));
  const int64_t batch = element_count(lead);
  Tensor values = is_row_or_column_major(x) ? x : x.contiguous();
  const bool one_for_all = element_count(x.shape()) == x.size(-2) * x.size(-1);
  if (!one_for_all) {
    values = values.expand(shape);
    int64_t expected = lead.rank() > 0 ? values.strides()[lead.rank() - 1] : 0;
    bool merges = true;
    for (int64_t axis = lead.rank() - 1; axis >= 0; --axis) {
      merges = merges && (lead[axis] == 1 || values.strides()[axis] == expected);
      expected *= lead[axis];
    }
    if (!merges) values = values.contiguous();
  }
  Matrices result;
  result.row_stride = values.strides()[values.rank() - 2];
  result.column_stride = values.strides()[values.rank() - 1];
  for (int64_t axis = lead.rank() - 1; axis >= 0 && !one_for_all && result.batch_stride == 0 && batch > 1;
       --axis)
    if (lead[axis] > 1) result.batch_stride = values.strides()[axis];
  result.values = std::move(values);
  return is_nested(result, batch) ? result : as_matrices(result.values.clone(), lead);
}

/// c = a b for one matrix, rows [begin, end): four rows at a time share each row of b.
void multiply_rows(const double* a, int64_t a_row, int64_t a_column, const double* b, double* c,
                   int64_t begin, int64_t end, int64_t n, int64_t k) {
  for (int64_t first = begin; first < end; first += 4) {
    const int64_t rows = std::min<int64_t>(4, end - first);
    std::fill_n(c + first * n, rows * n, 0.0);
    for (int64_t inner = 0; inner < k; ++inner) {
      const double* line = b + inner * n;
      for (int64_t row = first; row < first + rows; ++row) {
        const double factor = a[row * a_row + inner * a_column];
        double* to = c + row * n;
#pragma omp simd
        for (int64_t column = 0; column < n; ++column) to[column] += factor * line[column];
      }
    }
  }
}

void multiply_f64(const Matrices& a, const Matrices& b, double* c, int64_t batch, int64_t m, int64_t n,
                  int64_t k) {
  // b: (batch or 1, k, n), its rows made contiguous for the inner loop
  const Tensor right = b.values.contiguous();
  const int64_t right_stride = b.batch_stride == 0 ? 0 : k * n;
  const double* left = a.values.data<double>();
  const double* values = right.data<double>();
  internal::parallel_chunks(batch * m, internal::rows_per_chunk(n * k), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end;) {
      const int64_t matrix = row / m, stop = std::min(end, (matrix + 1) * m);
      multiply_rows(left + matrix * a.batch_stride, a.row_stride, a.column_stride,
                    values + matrix * right_stride, c + matrix * m * n, row - matrix * m, stop - matrix * m,
                    n, k);
      row = stop;
    }
  });
}

/// (batch, m, k) x (batch, k, n) -> out, contiguous (batch, m, n), with bias (n) if defined.
void multiply(Tensor& out, const Matrices& a, const Matrices& b, const Tensor& bias, int64_t batch, int64_t m,
              int64_t n, int64_t k) {
  if (out.numel() == 0) return;
  if (k == 0) {
    out.fill(0);
    if (bias.defined()) add_into(out, bias);
    return;
  }
  if (out.dtype() == DType::f64) {
    multiply_f64(a, b, out.mutable_data<double>(), batch, m, n, k);
    if (bias.defined()) add_into(out, bias);
    return;
  }
  internal::multiply({.dtype = out.dtype(),
                      .batch = batch,
                      .m = m,
                      .n = n,
                      .k = k,
                      .a_strides = {a.batch_stride, a.row_stride, a.column_stride},
                      .b_strides = {b.batch_stride, b.row_stride, b.column_stride},
                      .a = a.values.bytes(),
                      .b = b.values.bytes(),
                      .bias = bias.defined() ? bias.bytes() : nullptr,
                      .c = out.mutable_bytes()});
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, Tensor* into) {
  internal::expect_same_dtype("matmul", a, b);
  internal::expect_floating("matmul", a);
  if (a.rank() < 2 || b.rank() < 2)
    raise<ShapeError>("[matmul] wanted at least 2 axes each, came {} x {}", a.shape(), b.shape());
  const int64_t m = a.size(-2), k = a.size(-1), n = b.size(-1);
  if (b.size(-2) != k) raise<ShapeError>("[matmul] inner sizes differ: {} x {}", a.shape(), b.shape());
  Shape lead_a = a.shape(), lead_b = b.shape();
  for (int i = 0; i < 2; ++i) lead_a.erase(lead_a.rank() - 1), lead_b.erase(lead_b.rank() - 1);
  const Shape lead = broadcast_shapes("matmul", lead_a, lead_b);
  Shape left_shape = lead, shape = lead;
  for (const int64_t size : {m, k}) left_shape.push_back(size);
  for (const int64_t size : {m, n}) shape.push_back(size);
  const int64_t batch = element_count(lead);
  return internal::fill_result(
      "matmul", into, shape, a.dtype(), internal::Writes::apart, {&a, &b}, [&](Tensor& out) {
        if (b.rank() == 2 && a.is_contiguous()) {  // one matrix for all: a batch of rows is a longer matrix
          const Matrices rows = as_matrices(a.reshape({batch * m, k}), {});
          return multiply(out, rows, as_matrices(b, {}), {}, 1, batch * m, n, k);
        }
        Matrices left = as_matrices(a, lead);
        const Matrices right = as_matrices(b, lead);
        // Both may be one matrix for all when one is expanded; oneDNN finds the batch in its operands.
        if (batch > 1 && left.batch_stride == 0 && right.batch_stride == 0)
          left = as_matrices(a.expand(left_shape).clone(), lead);
        multiply(out, left, right, {}, batch, m, n, k);
      });
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor* into) {
  internal::expect_same_dtype("linear", x, weight);
  internal::expect_floating("linear", x);
  if (weight.rank() != 2 || x.rank() < 1 || x.size(-1) != weight.size(1))
    raise<ShapeError>("[linear] wanted x (..., inputs) and weight (outputs, inputs), came {} and {}",
                      x.shape(), weight.shape());
  if (bias.defined()) {
    internal::expect_same_dtype("linear", x, bias);
    if (bias.shape() != Shape{weight.size(0)})
      raise<ShapeError>("[linear] wanted a bias of shape ({},), came {}", weight.size(0), bias.shape());
  }
  const int64_t inputs = weight.size(1), outputs = weight.size(0);
  Shape shape = x.shape();
  shape[shape.rank() - 1] = outputs;
  return internal::fill_result(
      "linear", into, shape, x.dtype(), internal::Writes::apart, {&x, &weight, &bias}, [&](Tensor& out) {
        if (out.numel() == 0) return;
        const Tensor flat = x.reshape({out.numel() / outputs, inputs});
        multiply(out, as_matrices(flat, {}), as_matrices(weight.transpose(0, 1), {}),
                 bias.defined() ? bias.contiguous() : bias, 1, flat.size(0), outputs, inputs);
      });
}

}  // namespace heed::kernels
