#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <heed/tensor/dtype.h>
#include <heed/tensor/shape.h>
#include <heed/tensor/storage.h>

namespace heed {

/// Numbers in a strided layout over shared memory. A copy of a Tensor is another handle on the same
/// numbers; `clone()` copies the numbers themselves. There is no arithmetic here: that is `heed::kernels`
/// for plain numbers, and `heed::Variable` where gradients are wanted.
class Tensor {
 public:
  /// No tensor at all: `defined()` is false.
  Tensor() = default;
  /// Uninitialized numbers of this shape. Throws ShapeError or MemoryError.
  static Tensor empty(const Shape& shape, DType dtype = DType::f32);
  /// The numbers of a storage, in row-major order. ShapeError unless the storage holds them.
  static Tensor over(std::shared_ptr<Storage> storage, const Shape& shape, DType dtype);
  /// The same numbers under other strides: the primitive beneath every view. IndexError when an element would
  /// lie outside the memory.
  Tensor view(const Shape& shape, const Strides& strides, int64_t offset) const;

  bool defined() const { return storage_ != nullptr; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  const Strides& strides() const { return strides_; }
  int64_t rank() const { return shape_.rank(); }
  int64_t numel() const { return numel_; }
  /// The size of one axis, counted from the end when negative.
  int64_t size(int64_t axis) const { return shape_[normalize_axis("size", axis, rank())]; }
  /// The first element's place in the storage, in elements.
  int64_t offset() const { return offset_; }
  /// Row-major without gaps.
  bool is_contiguous() const;
  /// True if elements may share a place in memory, as after `expand`: in order of their strides, an axis does
  /// not step over all that the ones before it reach.
  bool overlaps_itself() const;
  /// True if the memory is heed's own and no other tensor shares it.
  bool is_sole_owner() const { return storage_.use_count() == 1 && !storage_->is_outside(); }
  bool shares_memory(const Tensor& other) const { return storage_ == other.storage_; }
  /// Counts the edits of the memory, through whichever view they were made.
  uint64_t version() const { return defined() ? storage_->version() : 0; }

  /// The first element; DTypeError unless T is the element type.
  template <class T>
  const T* data() const {
    expect_dtype(dtype_of<T>());
    return reinterpret_cast<const T*>(storage_->data()) + offset_;
  }
  /// The same for writing: bumps the version. ValueError for a tensor that overlaps itself.
  template <class T>
  T* mutable_data() {
    expect_dtype(dtype_of<T>());
    return reinterpret_cast<T*>(writable_bytes());
  }
  const std::byte* bytes() const { return storage_->data() + offset_ * size_of(dtype_); }
  std::byte* mutable_bytes() { return writable_bytes(); }
  /// All elements in order; ShapeError unless contiguous.
  template <class T>
  std::span<const T> span() const {
    expect_contiguous();
    return {data<T>(), static_cast<size_t>(numel_)};
  }
  template <class T>
  std::span<T> mutable_span() {
    expect_contiguous();
    return {mutable_data<T>(), static_cast<size_t>(numel_)};
  }
  /// All elements in order, copied and converted.
  template <class T>
  std::vector<T> to_vector() const;

  /// The only element, as a double; ShapeError when there are more or none.
  double item() const;
  /// One element by its indices, each counted from the end when negative.
  double at(std::initializer_list<int64_t> index) const;
  void set(std::initializer_list<int64_t> index, double value);
  void fill(double value);
  /// Copies the numbers of `source`, broadcast and converted as needed.
  void copy_from(const Tensor& source);

  /// Views: the same memory under another shape.
  Tensor slice(int64_t axis, int64_t begin, int64_t end,
               int64_t step = 1) const;              ///< [begin, end) of one axis
  Tensor select(int64_t axis, int64_t index) const;  ///< drops the axis
  Tensor transpose(int64_t a, int64_t b) const;
  Tensor permute(std::span<const int64_t> axes) const;
  Tensor permute(std::initializer_list<int64_t> axes) const;
  Tensor expand(const Shape& shape) const;
  Tensor squeeze(int64_t axis) const;
  Tensor unsqueeze(int64_t axis) const;
  /// A view when the strides allow it, else a copy. One size may be -1 and is found from the others.
  Tensor reshape(const Shape& shape) const;

  /// This tensor if it is contiguous, else a contiguous copy.
  Tensor contiguous() const;
  Tensor clone() const;
  /// This tensor if it has that dtype already, else a converted copy.
  Tensor to(DType dtype) const;

 private:
  void expect_inside(const Shape& shape, const Strides& strides, int64_t offset) const;
  void expect_dtype(DType wanted) const;
  void expect_contiguous() const;
  std::byte* writable_bytes();
  int64_t position(std::initializer_list<int64_t> index) const;

  std::shared_ptr<Storage> storage_;
  Shape shape_;
  Strides strides_;
  int64_t offset_ = 0;
  int64_t numel_ = 0;
  DType dtype_ = DType::f32;
};

/// "f32(2, 3)": what error messages show of a tensor.
std::string describe(const Tensor& tensor);

}  // namespace heed
