#include <heed/tensor/kernels/reduce.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <heed/tensor/creation.h>
#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/lanes.h>
#include <heed/tensor/internal/parallel.h>
#include <heed/tensor/internal/strided.h>

namespace heed::kernels {
namespace {

/// Elements that are added in their own type before the sum goes on in f64.
constexpr int64_t kBlock = 512;
constexpr int64_t kBlockRows = 64;

/// Which axes are summed, and the shapes that follow.
struct Plan {
  std::array<bool, kMaxRank> reduced{};
  Shape kept;       // the sizes that stay
  Shape with_ones;  // the same with 1 for each summed axis
};

Plan make_plan(const char* op, const Tensor& x, const Dims& axes) {
  Plan plan;
  for (int64_t entry : axes) {
    const int64_t axis = normalize_axis(op, entry, x.rank());
    if (std::exchange(plan.reduced[static_cast<size_t>(axis)], true))
      raise<ShapeError>("[{}] wanted every axis once, came {}", op, axes);
  }
  if (axes.empty()) plan.reduced.fill(true);
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    const bool reduced = plan.reduced[static_cast<size_t>(axis)];
    if (!reduced) plan.kept.push_back(x.shape()[axis]);
    plan.with_ones.push_back(reduced ? 1 : x.shape()[axis]);
  }
  return plan;
}

/// x as contiguous (outer, count, inner) where the middle is summed: one run of neighbouring axes if the
/// summed axes are such a run, else a copy with the summed axes last.
struct Blocks {
  Tensor values;
  int64_t outer = 1, count = 1, inner = 1;
};

Blocks arrange(const Tensor& x, const Plan& plan) {
  Blocks blocks;
  int64_t first = x.rank(), last = -1;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    if (!plan.reduced[static_cast<size_t>(axis)]) continue;
    blocks.count *= x.shape()[axis];
    first = std::min(first, axis);
    last = axis;
  }
  bool one_run = true;
  for (int64_t axis = first; axis <= last; ++axis)
    one_run = one_run && plan.reduced[static_cast<size_t>(axis)];
  if (one_run) {
    for (int64_t axis = 0; axis < first; ++axis) blocks.outer *= x.shape()[axis];
    for (int64_t axis = last + 1; axis < x.rank(); ++axis) blocks.inner *= x.shape()[axis];
    blocks.values = x.contiguous();
    return blocks;
  }
  Dims order;
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (!plan.reduced[static_cast<size_t>(axis)]) order.push_back(axis);
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (plan.reduced[static_cast<size_t>(axis)]) order.push_back(axis);
  blocks.outer = element_count(plan.kept);
  blocks.values = x.permute(std::span(order.begin(), order.end())).contiguous();
  return blocks;
}

template <class T>
double sum_run(const T* x, int64_t count) {
  double total = 0;
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t end = std::min(count, begin + kBlock);
    total += static_cast<double>(internal::lane_sum<T>(end - begin, [=](int64_t i) { return x[begin + i]; }));
  }
  return total;
}

uint64_t sum_run(const uint64_t* x, int64_t count) {
  uint64_t total = 0;
  for (int64_t i = 0; i < count; ++i) total += x[i];
  return total;
}

/// One long run on several threads: the parts are added in their order.
template <class T>
auto sum_long_run(const T* x, int64_t count) {
  constexpr int64_t kPart = 1 << 16;
  if (count <= kPart) return sum_run(x, count);
  std::vector<decltype(sum_run(x, count))> parts(static_cast<size_t>((count + kPart - 1) / kPart));
  internal::parallel_chunks(count, kPart, [&](int64_t begin, int64_t end) {
    parts[static_cast<size_t>(begin / kPart)] = sum_run(x + begin, end - begin);
  });
  return sum_run(parts.data(), static_cast<int64_t>(parts.size()));
}

/// x: (count, inner) summed down its columns into total: (inner).
template <class T, class Total>
void sum_columns(const T* x, int64_t count, int64_t inner, Total* total, T* part) {
  std::fill_n(total, inner, Total(0));
  for (int64_t begin = 0; begin < count; begin += kBlockRows) {
    std::fill_n(part, inner, T(0));
    for (int64_t row = begin; row < std::min(count, begin + kBlockRows); ++row) {
      const T* line = x + row * inner;
#pragma omp simd
      for (int64_t i = 0; i < inner; ++i) part[i] += line[i];
    }
    for (int64_t i = 0; i < inner; ++i) total[i] += static_cast<Total>(part[i]);
  }
}

template <class T>
void sum_rows(T* out, const T* x, const Blocks& b) {
  internal::parallel_chunks(b.outer, internal::rows_per_chunk(b.count), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      out[row] = static_cast<T>(sum_run(x + row * b.count, b.count));
  });
}

/// One (count, inner) block, its rows shared out in parts whose column sums are added in order.
template <class T, class Total>
void sum_one_block(T* out, const T* x, int64_t count, int64_t inner) {
  const int64_t rows = std::max(kBlockRows, internal::rows_per_chunk(inner));
  const int64_t parts = (count + rows - 1) / rows;
  std::vector<Total> totals(static_cast<size_t>(std::max<int64_t>(parts, 1) * inner), Total(0));
  internal::parallel_chunks(count, rows, [&](int64_t begin, int64_t end) {
    std::vector<T> scratch(static_cast<size_t>(inner));
    sum_columns(x + begin * inner, end - begin, inner, totals.data() + begin / rows * inner, scratch.data());
  });
  for (int64_t part = 1; part < parts; ++part)
    for (int64_t i = 0; i < inner; ++i)
      totals[static_cast<size_t>(i)] += totals[static_cast<size_t>(part * inner + i)];
  for (int64_t i = 0; i < inner; ++i) out[i] = static_cast<T>(totals[static_cast<size_t>(i)]);
}

template <class T>
void sum_blocks(T* out, const T* x, const Blocks& b) {
  using Total = std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, double>;
  if (b.inner == 1 && b.outer == 1) {
    *out = static_cast<T>(sum_long_run(x, b.count));
  } else if (b.inner == 1) {
    sum_rows(out, x, b);
  } else if (b.outer == 1) {
    sum_one_block<T, Total>(out, x, b.count, b.inner);
  } else {
    internal::parallel_chunks(
        b.outer, internal::rows_per_chunk(b.count * b.inner), [&](int64_t begin, int64_t end) {
          std::vector<T> scratch(static_cast<size_t>(b.inner));
          std::vector<Total> total(static_cast<size_t>(b.inner));
          for (int64_t o = begin; o < end; ++o) {
            sum_columns(x + o * b.count * b.inner, b.count, b.inner, total.data(), scratch.data());
            for (int64_t i = 0; i < b.inner; ++i)
              out[o * b.inner + i] = static_cast<T>(total[static_cast<size_t>(i)]);
          }
        });
  }
}

}  // namespace

Tensor sum(const Tensor& x, const Dims& axes, bool keep_axes) {
  const Plan plan = make_plan("sum", x, axes);
  const Blocks blocks = arrange(x, plan);
  Tensor out = Tensor::empty(keep_axes ? plan.with_ones : plan.kept, x.dtype());
  internal::dispatch_numbers("sum", x, [&]<class T>(T) {
    if (out.numel() == 0) return;
    // Whole numbers are added up unsigned, because those may wrap around.
    using Word = std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, T>;
    sum_blocks(reinterpret_cast<Word*>(out.mutable_data<T>()),
               reinterpret_cast<const Word*>(blocks.values.data<T>()), blocks);
  });
  return out;
}

Tensor mean(const Tensor& x, const Dims& axes, bool keep_axes) {
  if (!is_floating(x.dtype())) raise<DTypeError>("[mean] wanted f32 or f64, came {}", describe(x));
  Tensor total = sum(x, axes, keep_axes);
  if (x.numel() == 0 && total.numel() > 0)
    raise<ValueError>("[mean] the mean of no elements has no value: shape {}, axes {}", x.shape(), axes);
  if (total.numel() == 0) return total;
  internal::dispatch_floating("mean", total, [&]<class T>(T) {
    const T count = static_cast<T>(x.numel() / total.numel());
    internal::map_into<T, T>(total, total, [=](T value) { return value / count; });
  });
  return total;
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

Tensor argmax(const Tensor& x, int64_t axis) {
  axis = normalize_axis("argmax", axis, x.rank());
  const int64_t count = x.shape()[axis];
  if (count == 0) raise<ValueError>("[argmax] axis {} of shape {} has no elements", axis, x.shape());
  Dims order;
  for (int64_t other = 0; other < x.rank(); ++other)
    if (other != axis) order.push_back(other);
  order.push_back(axis);
  const Tensor rows = x.permute(std::span(order.begin(), order.end())).contiguous();
  Tensor out = Tensor::empty(rows.select(-1, 0).shape(), DType::i64);
  internal::dispatch_numbers("argmax", x, [&]<class T>(T) {
    const T* in = rows.data<T>();
    int64_t* best = out.mutable_data<int64_t>();
    internal::parallel_chunks(out.numel(), internal::rows_per_chunk(count), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* line = in + row * count;
        int64_t winner = 0;
        for (int64_t i = 1; i < count && line[winner] == line[winner]; ++i)
          if (line[i] > line[winner] || line[i] != line[i]) winner = i;
        best[row] = winner;
      }
    });
  });
  return out;
}

double sum_of_squares(const Tensor& x) {
  const Tensor values = x.contiguous();
  double total = 0;
  internal::dispatch_floating("sum_of_squares", x, [&]<class T>(T) {
    const T* v = values.data<T>();
    constexpr int64_t kPart = 1 << 15;
    std::vector<double> parts(static_cast<size_t>((x.numel() + kPart - 1) / kPart));
    internal::parallel_chunks(x.numel(), kPart, [&](int64_t begin, int64_t end) {
      double part = 0;
#pragma omp simd reduction(+ : part)
      for (int64_t i = begin; i < end; ++i) part += static_cast<double>(v[i]) * static_cast<double>(v[i]);
      parts[static_cast<size_t>(begin / kPart)] = part;
    });
    for (double part : parts) total += part;
  });
  return total;
}

bool all_finite(const Tensor& x) {
  const Tensor values = x.contiguous();
  return internal::dispatch_floating("all_finite", x, [&]<class T>(T) {
    return std::ranges::all_of(values.span<T>(), [](T v) { return std::isfinite(v); });
  });
}

}  // namespace heed::kernels
