#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include <heed/tensor/tensor.h>

namespace heed {

Tensor zeros(const Shape& shape, DType dtype = DType::f32);
Tensor ones(const Shape& shape, DType dtype = DType::f32);
Tensor full(const Shape& shape, double value, DType dtype = DType::f32);
Tensor zeros_like(const Tensor& like);
Tensor ones_like(const Tensor& like);
/// A tensor without axes.
Tensor scalar(double value, DType dtype = DType::f32);
/// begin, begin + step, ... below end. ValueError when step is 0 or leads away from end.
Tensor arange(double begin, double end, double step = 1, DType dtype = DType::f32);
/// `count` numbers from begin to end, both included.
Tensor linspace(double begin, double end, int64_t count, DType dtype = DType::f32);
/// Ones on the diagonal of (rows, columns).
Tensor eye(int64_t rows, int64_t columns, DType dtype = DType::f32);

/// A copy of `values` in row-major order; ShapeError when there are not as many as the shape holds.
/// T is float, double, bfloat16, int64_t or bool.
template <class T>
Tensor from_values(std::span<const T> values, const Shape& shape);

/// A tensor over memory that is not heed's: nothing is copied, and an edit through one is seen through the
/// other. `owner` is kept for as long as a tensor uses the memory; without one the caller keeps the memory
/// alive. ShapeError when there are not as many values as the shape holds, ValueError when they are not
/// aligned for T.
template <class T>
Tensor wrap(std::span<T> memory, const Shape& shape, std::shared_ptr<const void> owner = nullptr);

/// A number, or a list of lists and numbers in braces: what tensor_of reads.
class NestedList {
 public:
  NestedList(double number) : number_(number) {}
  NestedList(std::initializer_list<NestedList> items) : items_(items), is_list_(true) {}

  bool is_list() const { return is_list_; }
  double number() const { return number_; }
  const std::vector<NestedList>& items() const { return items_; }

 private:
  double number_ = 0;
  std::vector<NestedList> items_;
  bool is_list_ = false;
};

/// Numbers as they are written: `tensor_of({{1, 2}, {3, 4}})`. ShapeError when lists side by side differ in
/// shape.
Tensor tensor_of(const NestedList& values, DType dtype = DType::f32);

}  // namespace heed
