#include <heed/tensor/kernels/extremes.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/reduce_blocks.h>
#include <heed/tensor/internal/strided.h>

namespace heed::kernels {
namespace {

/// Of two elements the better one, or NaN. Both questions are asked at once: a branch would be mispredicted.
template <class Better>
struct Best {
  template <class T>
  T operator()(T a, T b) const {
    return (Better()(a, b) | (a != a)) ? a : b;
  }
};

/// What no element is worse than.
template <class Better, class T>
constexpr T worst() {
  using Limits = std::numeric_limits<T>;
  constexpr T kHigh = Limits::has_infinity ? Limits::infinity() : Limits::max();
  constexpr T kLow = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  return Better()(kHigh, kLow) ? kLow : kHigh;
}

template <class Better>
Tensor extreme(const char* op, const Tensor& x, const Dims& axes, bool keep_axes) {
  Tensor out = Tensor::empty(reduced_shape(op, x.shape(), axes, keep_axes), x.dtype());
  internal::dispatch_numbers(op, x, [&]<class T>(T) {
    internal::expect_elements(op, x, axes, out);
    const internal::Blocks blocks = internal::arrange(x, axes);
    T* to = out.mutable_data<T>();
    internal::for_each_block(blocks.values.data<T>(), blocks,
                             [=](const internal::Block<T>& block, int64_t place) {
                               internal::fold_block(to + place, block, worst<Better, T>(), Best<Better>());
                             });
  });
  return out;
}

template <class T>
bool is_extreme(T value, T best) {
  return value == best || value != value;
}

/// The first of `count` elements that is the best, or `count`.
template <class T>
int64_t first_place(const T* x, int64_t count, T best) {
  constexpr int64_t kStep = 64;
  for (int64_t begin = 0; begin < count; begin += kStep) {
    const int64_t end = std::min(count, begin + kStep);
    int32_t found = 0;
#pragma omp simd reduction(| : found)
    for (int64_t i = begin; i < end; ++i) found |= is_extreme(x[i], best) ? 1 : 0;
    if (found != 0)
      return std::find_if(x + begin, x + end, [=](T value) { return is_extreme(value, best); }) - x;
  }
  return count;
}

/// to[i] = the first row where column i has its best element
template <class T>
void find_block(int64_t* to, const internal::Block<T>& b, const T* best) {
  const auto rows = [=](const T* x, int64_t count, auto keep) {
    const int64_t before = (x - b.values) / b.inner;
    if (b.inner == 1) {
      const int64_t place = first_place(x, count, *best);
      keep(0, place == count ? b.count : before + place);
      return;
    }
    std::vector<int64_t> first(static_cast<size_t>(b.inner), b.count);
    for (int64_t row = count - 1; row >= 0; --row) {
      const T* line = x + row * b.inner;
      int64_t* place = first.data();
#pragma omp simd
      for (int64_t i = 0; i < b.inner; ++i) place[i] = is_extreme(line[i], best[i]) ? before + row : place[i];
    }
    for (int64_t i = 0; i < b.inner; ++i) keep(i, first[static_cast<size_t>(i)]);
  };
  internal::reduce_parts<int64_t>(
      b, rows, [](int64_t a, int64_t c) { return std::min(a, c); },
      [=](int64_t i, int64_t row) { to[i] = row; });
}

template <class Better>
Tensor index_of_extreme(const char* op, const Tensor& x, int64_t axis) {
  Tensor out = Tensor::empty(reduced_shape(op, x.shape(), {axis}, false), DType::i64);
  const Tensor best = extreme<Better>(op, x, {axis}, false);
  const internal::Blocks blocks = internal::arrange(x, {axis});
  internal::dispatch_numbers(op, x, [&]<class T>(T) {
    int64_t* to = out.mutable_data<int64_t>();
    const T* all_best = best.data<T>();
    internal::for_each_block(blocks.values.data<T>(), blocks,
                             [=](const internal::Block<T>& block, int64_t place) {
                               find_block(to + place, block, all_best + place);
                             });
  });
  return out;
}

}  // namespace

Tensor max(const Tensor& x, const Dims& axes, bool keep_axes) {
  return extreme<std::greater<>>("max", x, axes, keep_axes);
}

Tensor min(const Tensor& x, const Dims& axes, bool keep_axes) {
  return extreme<std::less<>>("min", x, axes, keep_axes);
}

Tensor argmax(const Tensor& x, int64_t axis) { return index_of_extreme<std::greater<>>("argmax", x, axis); }

Tensor argmin(const Tensor& x, int64_t axis) { return index_of_extreme<std::less<>>("argmin", x, axis); }

Tensor attains(const Tensor& x, const Tensor& extreme) {
  internal::expect_same_dtype("attains", x, extreme);
  if (!expandable(extreme.shape(), x.shape()))
    raise<ShapeError>("[attains] wanted an extreme that expands to {}, came {}", x.shape(), extreme.shape());
  Tensor out = Tensor::empty(x.shape(), DType::boolean);
  internal::dispatch_numbers("attains", x, [&]<class T>(T) {
    internal::map_into<T, bool>(out, x, extreme, [](T value, T best) { return is_extreme(value, best); });
  });
  return out;
}

}  // namespace heed::kernels
