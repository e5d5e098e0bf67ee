#include <heed/tensor/tensor.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/kernels/cast.h>

namespace heed {

Tensor Tensor::empty(const Shape& shape, DType dtype) {
  const int64_t numel = element_count(shape);
  constexpr int64_t kMostElements = int64_t{1} << 59;  // their bytes still fit in 63 bits
  if (numel > kMostElements) raise<MemoryError>("[empty] no memory holds a tensor of shape {}", shape);
  return over(std::make_shared<Storage>(numel * size_of(dtype)), shape, dtype);
}

Tensor Tensor::over(std::shared_ptr<Storage> storage, const Shape& shape, DType dtype) {
  Tensor result;
  result.numel_ = element_count(shape);
  if (result.numel_ > storage->bytes() / size_of(dtype))
    raise<ShapeError>("[over] wanted memory for {}{}, came {} bytes", name_of(dtype), shape,
                      storage->bytes());
  result.storage_ = std::move(storage);
  result.shape_ = shape;
  result.strides_ = contiguous_strides(shape);
  result.dtype_ = dtype;
  return result;
}

Tensor Tensor::view(const Shape& shape, const Strides& strides, int64_t offset) const {
  Tensor result = *this;
  result.shape_ = shape;
  result.strides_ = strides;
  result.offset_ = offset;
  result.numel_ = element_count(shape);
  if (result.numel_ > 0 && defined()) expect_inside(shape, strides, offset);
  return result;
}

void Tensor::expect_inside(const Shape& shape, const Strides& strides, int64_t offset) const {
  int64_t first = offset, last = offset;
  bool fits = shape.rank() == strides.rank();
  for (int64_t axis = 0; axis < shape.rank() && fits; ++axis) {
    int64_t reach = 0;
    int64_t& end = strides[axis] < 0 ? first : last;
    fits = !__builtin_mul_overflow(shape[axis] - 1, strides[axis], &reach) &&
           !__builtin_add_overflow(end, reach, &end);
  }
  if (!fits || first < 0 || last >= storage_->bytes() / size_of(dtype_))
    raise<IndexError>("[view] shape {} with strides {} from element {} on lies outside the memory of {}",
                      shape, strides, offset, describe(*this));
}

bool Tensor::is_contiguous() const {
  int64_t expected = 1;
  for (int64_t axis = rank() - 1; axis >= 0; --axis) {
    if (shape_[axis] != 1 && strides_[axis] != expected) return numel_ == 0;
    expected *= shape_[axis];
  }
  return true;
}

bool Tensor::overlaps_itself() const {
  if (is_contiguous()) return false;
  std::vector<std::pair<int64_t, int64_t>> axes;  // stride and size
  for (int64_t axis = 0; axis < rank(); ++axis)
    if (shape_[axis] > 1) axes.emplace_back(std::abs(strides_[axis]), shape_[axis]);
  std::ranges::sort(axes);
  int64_t reach = 0;
  for (const auto& [stride, size] : axes) {
    if (stride <= reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}

void Tensor::expect_dtype(DType wanted) const {
  if (!defined()) raise<ValueError>("[data] wanted a tensor, came an undefined one");
  if (dtype_ != wanted) raise<DTypeError>("[data] wanted {}, came {}", name_of(wanted), describe(*this));
}

void Tensor::expect_contiguous() const {
  if (!is_contiguous()) raise<ShapeError>("[span] wanted a contiguous tensor, came strides {}", strides_);
}

std::byte* Tensor::writable_bytes() {
  if (!defined()) raise<ValueError>("[write] wanted a tensor, came an undefined one");
  if (overlaps_itself())
    raise<ValueError>("[write] elements of {} share places in memory (strides {}): clone it first",
                      describe(*this), strides_);
  storage_->bump_version();
  return storage_->data() + offset_ * size_of(dtype_);
}

int64_t Tensor::position(std::initializer_list<int64_t> index) const {
  if (static_cast<int64_t>(index.size()) != rank())
    raise<IndexError>("[at] wanted {} indices for shape {}, came {}", rank(), shape_, index.size());
  int64_t place = 0, axis = 0;
  for (int64_t i : index) {
    const int64_t size = shape_[axis];
    if (i < -size || i >= size)
      raise<IndexError>("[at] index {} is outside axis {} of shape {}", i, axis, shape_);
    place += (i < 0 ? i + size : i) * strides_[axis++];
  }
  return place;
}

double Tensor::at(std::initializer_list<int64_t> index) const {
  const int64_t place = position(index);
  return internal::dispatch_all(dtype_, [&]<class T>(T) { return internal::widen(data<T>()[place]); });
}

void Tensor::set(std::initializer_list<int64_t> index, double value) {
  const int64_t place = position(index);
  internal::dispatch_all(dtype_, [&]<class T>(T) { mutable_data<T>()[place] = internal::convert<T>(value); });
}

double Tensor::item() const {
  if (numel_ != 1 || !defined()) raise<ShapeError>("[item] wanted one element, came {}", describe(*this));
  return internal::dispatch_all(dtype_, [&]<class T>(T) { return internal::widen(*data<T>()); });
}

void Tensor::fill(double value) {
  if (is_contiguous()) {
    internal::dispatch_all(
        dtype_, [&]<class T>(T) { std::ranges::fill(mutable_span<T>(), internal::convert<T>(value)); });
    return;
  }
  Tensor scalar = empty({}, dtype_);
  scalar.fill(value);
  kernels::copy_into(*this, scalar);
}

void Tensor::copy_from(const Tensor& source) { kernels::copy_into(*this, source); }

template <class T>
std::vector<T> Tensor::to_vector() const {
  const Tensor values = to(dtype_of<T>()).contiguous();
  const auto all = values.span<T>();
  return {all.begin(), all.end()};
}

template std::vector<float> Tensor::to_vector() const;
template std::vector<double> Tensor::to_vector() const;
template std::vector<int64_t> Tensor::to_vector() const;
template std::vector<bool> Tensor::to_vector() const;

Tensor Tensor::contiguous() const { return is_contiguous() ? *this : clone(); }

Tensor Tensor::clone() const {
  Tensor copy = empty(shape_, dtype_);
  kernels::copy_into(copy, *this);
  return copy;
}

Tensor Tensor::to(DType dtype) const {
  if (dtype == dtype_) return *this;
  Tensor copy = empty(shape_, dtype);
  kernels::copy_into(copy, *this);
  return copy;
}

std::string describe(const Tensor& tensor) {
  if (!tensor.defined()) return "undefined";
  return fmt::format("{}{}", name_of(tensor.dtype()), tensor.shape());
}

}  // namespace heed
