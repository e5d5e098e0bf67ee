#include <heed/tensor/creation.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <heed/tensor/internal/dispatch.h>

namespace heed {

Tensor full(const Shape& shape, double value, DType dtype) {
  Tensor result = Tensor::empty(shape, dtype);
  result.fill(value);
  return result;
}

Tensor zeros(const Shape& shape, DType dtype) { return full(shape, 0, dtype); }
Tensor ones(const Shape& shape, DType dtype) { return full(shape, 1, dtype); }
Tensor zeros_like(const Tensor& like) { return zeros(like.shape(), like.dtype()); }
Tensor ones_like(const Tensor& like) { return ones(like.shape(), like.dtype()); }
Tensor scalar(double value, DType dtype) { return full({}, value, dtype); }

template <class T>
Tensor from_values(std::span<const T> values, const Shape& shape) {
  Tensor result = Tensor::empty(shape, dtype_of<T>());
  if (static_cast<int64_t>(values.size()) != result.numel())
    raise<ShapeError>("[from_values] wanted {} values for shape {}, came {}", result.numel(), shape,
                      values.size());
  std::ranges::copy(values, result.mutable_data<T>());
  return result;
}

template Tensor from_values(std::span<const float>, const Shape&);
template Tensor from_values(std::span<const double>, const Shape&);
template Tensor from_values(std::span<const bfloat16>, const Shape&);
template Tensor from_values(std::span<const int64_t>, const Shape&);
template Tensor from_values(std::span<const bool>, const Shape&);

template <class T>
Tensor wrap(std::span<T> memory, const Shape& shape, std::shared_ptr<const void> owner) {
  if (static_cast<int64_t>(memory.size()) != element_count(shape))
    raise<ShapeError>("[wrap] wanted {} values for shape {}, came {}", element_count(shape), shape,
                      memory.size());
  if (reinterpret_cast<uintptr_t>(memory.data()) % alignof(T) != 0)
    raise<ValueError>("[wrap] wanted memory aligned to {} bytes, came address {}", alignof(T),
                      static_cast<const void*>(memory.data()));
  auto storage = std::make_shared<Storage>(reinterpret_cast<std::byte*>(memory.data()),
                                           static_cast<int64_t>(memory.size_bytes()), std::move(owner));
  return Tensor::over(std::move(storage), shape, dtype_of<T>());
}

template Tensor wrap(std::span<float>, const Shape&, std::shared_ptr<const void>);
template Tensor wrap(std::span<double>, const Shape&, std::shared_ptr<const void>);
template Tensor wrap(std::span<bfloat16>, const Shape&, std::shared_ptr<const void>);
template Tensor wrap(std::span<int64_t>, const Shape&, std::shared_ptr<const void>);
template Tensor wrap(std::span<bool>, const Shape&, std::shared_ptr<const void>);

Tensor arange(double begin, double end, double step, DType dtype) {
  if (step == 0 || (end - begin) / step < 0 || !std::isfinite((end - begin) / step))
    raise<ValueError>("[arange] wanted a step that leads from {} to {}, came {}", begin, end, step);
  const double count = std::ceil((end - begin) / step);
  if (count > 0x1p62) raise<ValueError>("[arange] wanted fewer than 2^62 numbers, came {}", count);
  Tensor values = Tensor::empty({static_cast<int64_t>(count)}, DType::f64);
  double i = 0;
  for (double& value : values.mutable_span<double>()) value = begin + i++ * step;
  return values.to(dtype);
}

Tensor linspace(double begin, double end, int64_t count, DType dtype) {
  if (count < 0) raise<ValueError>("[linspace] wanted a count of 0 or more, came {}", count);
  Tensor values = Tensor::empty({count}, DType::f64);
  const double step = count > 1 ? (end - begin) / static_cast<double>(count - 1) : 0;
  double i = 0;
  for (double& value : values.mutable_span<double>()) value = begin + i++ * step;
  if (count > 1) values.mutable_span<double>().back() = end;
  return values.to(dtype);
}

Tensor eye(int64_t rows, int64_t columns, DType dtype) {
  Tensor result = zeros({rows, columns}, dtype);
  for (int64_t i = 0; i < std::min(rows, columns); ++i) result.set({i, i}, 1);
  return result;
}

namespace {

Shape shape_of(const NestedList& list) {
  if (!list.is_list()) return {};
  const auto& items = list.items();
  if (items.empty()) return {0};
  Shape shape = shape_of(items.front());
  for (const NestedList& item : items)
    if (const Shape other = shape_of(item); other != shape)
      raise<ShapeError>("[tensor_of] wanted lists of one shape, came {} beside {}", other, shape);
  shape.insert(0, static_cast<int64_t>(items.size()));
  return shape;
}

void append_numbers(const NestedList& list, std::vector<double>& numbers) {
  if (!list.is_list()) return numbers.push_back(list.number());
  for (const NestedList& item : list.items()) append_numbers(item, numbers);
}

}  // namespace

Tensor tensor_of(const NestedList& values, DType dtype) {
  const Shape shape = shape_of(values);
  std::vector<double> numbers;
  append_numbers(values, numbers);
  return from_values<double>(numbers, shape).to(dtype);
}

}  // namespace heed
