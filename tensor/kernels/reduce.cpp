#include <heed/tensor/kernels/reduce.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/parallel.h>
#include <heed/tensor/internal/reduce_blocks.h>

namespace heed::kernels {
namespace {

/// out = the sums over the blocks, as finish(total) turns each into an element.
template <class T, class Finish>
void sum_blocks(Tensor& out, const internal::Blocks& blocks, Finish finish) {
  // Whole numbers are added up unsigned, because those may wrap around.
  constexpr bool kWhole = std::is_same_v<T, int64_t>;
  using Word = std::conditional_t<kWhole, uint64_t, T>;
  using Total = std::conditional_t<kWhole, uint64_t, double>;
  const Word* from = reinterpret_cast<const Word*>(blocks.values.data<T>());
  T* to = out.mutable_data<T>();
  internal::for_each_block(from, blocks, [=](const internal::Block<Word>& block, int64_t place) {
    internal::sum_block<Word, Total>(
        block, [](Word value, int64_t) { return value; },
        [=](int64_t i, Total total) { to[place + i] = static_cast<T>(finish(total)); });
  });
}

template <class Combine>
Tensor fold_bools(const char* op, const Tensor& x, const Dims& axes, bool keep_axes, bool first,
                  Combine combine) {
  internal::expect_bool(op, x);
  Tensor out = Tensor::empty(reduced_shape(op, x.shape(), axes, keep_axes), DType::boolean);
  const internal::Blocks blocks = internal::arrange(x, axes);
  // as bytes, because loops over bool do not vectorize
  auto* to = reinterpret_cast<uint8_t*>(out.mutable_data<bool>());
  const auto* from = reinterpret_cast<const uint8_t*>(blocks.values.data<bool>());
  internal::for_each_block(from, blocks, [=](const internal::Block<uint8_t>& block, int64_t place) {
    internal::fold_block<uint8_t>(to + place, block, first, combine);
  });
  return out;
}

}  // namespace

Tensor sum(const Tensor& x, const Dims& axes, bool keep_axes) {
  internal::expect_numbers("sum", x);
  if (x.dtype() == DType::bf16) return sum(x.to(DType::f32), axes, keep_axes).to(DType::bf16);
  Tensor out = Tensor::empty(reduced_shape("sum", x.shape(), axes, keep_axes), x.dtype());
  internal::dispatch_numbers("sum", x, [&]<class T>(T) {
    sum_blocks<T>(out, internal::arrange(x, axes), [](auto total) { return total; });
  });
  return out;
}

Tensor mean(const Tensor& x, const Dims& axes, bool keep_axes) {
  internal::expect_floating("mean", x);
  if (x.dtype() == DType::bf16) return mean(x.to(DType::f32), axes, keep_axes).to(DType::bf16);
  Tensor out = Tensor::empty(reduced_shape("mean", x.shape(), axes, keep_axes), x.dtype());
  internal::dispatch_floating("mean", x, [&]<class T>(T) {
    internal::expect_elements("mean", x, axes, out);
    const internal::Blocks blocks = internal::arrange(x, axes);
    const auto count = static_cast<double>(blocks.count);
    sum_blocks<T>(out, blocks, [=](double total) { return total / count; });
  });
  return out;
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  if (!expandable(shape, x.shape()))
    raise<ShapeError>("[sum_to] shape {} does not expand to {}", shape, x.shape());
  const int64_t lead = x.rank() - shape.rank();
  Dims axes;
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (axis < lead || shape[axis - lead] != x.shape()[axis]) axes.push_back(axis);
  return axes.empty() ? x.reshape(shape) : sum(x, axes).reshape(shape);
}

Tensor any(const Tensor& x, const Dims& axes, bool keep_axes) {
  return fold_bools("any", x, axes, keep_axes, false,
                    [](uint8_t a, uint8_t b) { return static_cast<uint8_t>(a | b); });
}

Tensor all(const Tensor& x, const Dims& axes, bool keep_axes) {
  return fold_bools("all", x, axes, keep_axes, true,
                    [](uint8_t a, uint8_t b) { return static_cast<uint8_t>(a & b); });
}

double sum_of_squares(const Tensor& x) {
  const Tensor values = x.contiguous();
  double total = 0;
  internal::dispatch_floating("sum_of_squares", x, [&]<class T>(T) {
    const T* v = values.data<T>();
    constexpr int64_t kPart = 1 << 15;
    std::vector<double> parts(static_cast<size_t>((x.numel() + kPart - 1) / kPart));
    internal::parallel_chunks(x.numel(), kPart, [&](int64_t begin, int64_t end) {
      parts[static_cast<size_t>(begin / kPart)] = internal::lane_sum<double>(end - begin, [=](int64_t i) {
        const auto value = static_cast<double>(v[begin + i]);
        return value * value;
      });
    });
    for (double part : parts) total += part;
  });
  return total;
}

bool all_finite(const Tensor& x) {
  internal::expect_floating("all_finite", x);
  if (x.dtype() == DType::bf16) return all_finite(x.to(DType::f32));
  const Tensor values = x.contiguous();
  return internal::dispatch_floating("all_finite", x, [&]<class T>(T) {
    const T* v = values.data<T>();
    std::atomic<bool> found = false;
    internal::parallel_chunks(x.numel(), 1 << 17, [&](int64_t begin, int64_t end) {
      // x - x is 0, or NaN where x is not finite
      const T sum =
          internal::lane_sum<T>(end - begin, [=](int64_t i) { return v[begin + i] - v[begin + i]; });
      if (sum != 0) found = true;
    });
    return !found;
  });
}

}  // namespace heed::kernels
