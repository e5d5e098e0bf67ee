#pragma once

#include <array>

#include <heed/tensor/internal/parallel.h>
#include <heed/tensor/internal/stream.h>
#include <heed/tensor/tensor.h>

/// One pass over N tensors of a common shape, whatever their strides. Axes that are neighbours in the
/// memory of all N are merged, so that contiguous tensors become one long run. The first of the N has that
/// shape.
namespace heed::internal {

template <size_t N>
struct Pass {
  Shape shape;
  std::array<Strides, N> strides;
  int64_t numel = 0;

  int64_t inner_stride(size_t operand) const { return strides[operand].back(); }
};

template <size_t N>
Pass<N> make_pass(const std::array<const Tensor*, N>& operands) {
  const Shape& shape = operands[0]->shape();
  Pass<N> pass;
  pass.numel = operands[0]->numel();
  // The usual case, where small tensors would spend most of their time on what follows.
  if (std::ranges::all_of(operands,
                          [&](const Tensor* x) { return x->is_contiguous() && x->shape() == shape; })) {
    pass.shape.push_back(pass.numel);
    for (Strides& strides : pass.strides) strides.push_back(1);
    return pass;
  }
  std::array<Tensor, N> expanded;
  for (size_t k = 0; k < N; ++k) expanded[k] = operands[k]->expand(shape);
  for (int64_t axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 1) continue;
    bool joins = !pass.shape.empty();
    for (size_t k = 0; k < N && joins; ++k)
      joins = pass.strides[k].back() == expanded[k].strides()[axis] * shape[axis];
    if (!joins) pass.shape.push_back(1);
    pass.shape[pass.shape.rank() - 1] *= shape[axis];
    for (size_t k = 0; k < N; ++k) {
      if (!joins) pass.strides[k].push_back(0);
      pass.strides[k][pass.shape.rank() - 1] = expanded[k].strides()[axis];
    }
  }
  if (pass.shape.empty()) {
    pass.shape.push_back(1);
    for (Strides& strides : pass.strides) strides.push_back(1);
  }
  return pass;
}

inline constexpr int64_t kElementChunk = 1 << 17;
/// Chunks for exp and its like, which take several times as long for an element as it takes to fetch it.
inline constexpr int64_t kFunctionChunk = 1 << 15;

/// f(offsets, count): `count` elements from these offsets on, each operand by its inner stride.
template <size_t N, class F>
void for_each_run(const Pass<N>& pass, int64_t chunk, F&& f) {
  const int64_t inner = pass.shape.back();
  parallel_chunks(pass.numel, chunk, [&](int64_t begin, int64_t end) {
    std::array<int64_t, kMaxRank> index{};
    std::array<int64_t, N> offsets{};
    int64_t rest = begin;
    for (int64_t axis = pass.shape.rank() - 1; axis >= 0; --axis) {
      index[static_cast<size_t>(axis)] = rest % pass.shape[axis];
      rest /= pass.shape[axis];
      for (size_t k = 0; k < N; ++k) offsets[k] += index[static_cast<size_t>(axis)] * pass.strides[k][axis];
    }
    const auto last = static_cast<size_t>(pass.shape.rank() - 1);
    for (int64_t done = begin; done < end;) {
      const int64_t count = std::min(inner - index[last], end - done);
      f(offsets, count);
      done += count;
      // Step to the start of the next run, carrying from the last axis to the first.
      index[last] += count;
      for (size_t k = 0; k < N; ++k) offsets[k] += count * pass.strides[k].back();
      for (size_t axis = last; index[axis] == pass.shape[static_cast<int64_t>(axis)] && axis > 0; --axis) {
        index[axis] = 0;
        ++index[axis - 1];
        for (size_t k = 0; k < N; ++k) {
          const Strides& strides = pass.strides[k];
          offsets[k] += strides[static_cast<int64_t>(axis) - 1] -
                        strides[static_cast<int64_t>(axis)] * pass.shape[static_cast<int64_t>(axis)];
        }
      }
    }
  });
}

/// One run of neighbours, which is read some 4 kB ahead when no cache holds it: the processor itself reads
/// ahead only to the end of a page.
template <class In, class Out, class F>
void map_run(Out* out, const In* a, int64_t count, bool ahead, F f) {
  const int64_t part = ahead ? 256 : count;
  for (int64_t begin = 0; begin < count; begin += part) {
    const int64_t end = std::min(count, begin + part);
    if (ahead) prefetch(a + begin + 4 * part, part);
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) out[i] = f(a[i]);
  }
}

/// out = f(a), element by element.
template <class In, class Out, class F>
void map_into(Tensor& out, const Tensor& a, F f, int64_t chunk = kElementChunk) {
  if (out.numel() == 0) return;
  const bool ahead = beyond_caches(out);
  const auto pass = make_pass<2>({&out, &a});
  Out* to = out.mutable_data<Out>();
  const In* from = a.data<In>();
  const int64_t so = pass.inner_stride(0), sa = pass.inner_stride(1);
  for_each_run(pass, chunk, [=](const std::array<int64_t, 2>& at, int64_t count) {
    Out* o = to + at[0];
    const In* x = from + at[1];
    if (so == 1 && sa == 1) {
      map_run(o, x, count, ahead, f);
    } else {
      for (int64_t i = 0; i < count; ++i) o[i * so] = f(x[i * sa]);
    }
  });
}

/// out = f(a, b), element by element; the long runs of real work each have a loop that vectorizes.
template <class In, class Out, class F>
void map_into(Tensor& out, const Tensor& a, const Tensor& b, F f) {
  if (out.numel() == 0) return;
  const auto pass = make_pass<3>({&out, &a, &b});
  Out* to = out.mutable_data<Out>();
  const In* left = a.data<In>();
  const In* right = b.data<In>();
  const int64_t so = pass.inner_stride(0), sa = pass.inner_stride(1), sb = pass.inner_stride(2);
  for_each_run(pass, kElementChunk, [=](const std::array<int64_t, 3>& at, int64_t count) {
    Out* o = to + at[0];
    const In* x = left + at[1];
    const In* y = right + at[2];
    if (so == 1 && sa == 1 && sb == 1) {
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) o[i] = f(x[i], y[i]);
    } else if (so == 1 && sa == 1 && sb == 0) {
      const In second = *y;
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) o[i] = f(x[i], second);
    } else if (so == 1 && sa == 0 && sb == 1) {
      const In first = *x;
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) o[i] = f(first, y[i]);
    } else {
      for (int64_t i = 0; i < count; ++i) o[i * so] = f(x[i * sa], y[i * sb]);
    }
  });
}

}  // namespace heed::internal
