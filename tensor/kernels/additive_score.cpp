#include <heed/tensor/kernels/additive_score.h>

#include <vector>

#include <heed/tensor/creation.h>
#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/lanes.h>
#include <heed/tensor/internal/parallel.h>
#include <heed/tensor/internal/vector_math.h>

namespace heed::kernels {
namespace {

struct Sizes {
  int64_t batch, queries, keys, hidden;
};

Sizes check(const Tensor& q, const Tensor& k, const Tensor& weight) {
  internal::expect_same_dtype("additive_score", q, k);
  internal::expect_same_dtype("additive_score", q, weight);
  if (q.rank() != 3 || k.rank() != 3 || q.size(0) != k.size(0) || q.size(2) != k.size(2) ||
      weight.shape() != Shape{q.size(2)})
    raise<ShapeError>(
        "[additive_score] wanted q (batch, queries, hidden), k (batch, keys, hidden), weight (hidden), "
        "came {}, {}, {}",
        q.shape(), k.shape(), weight.shape());
  return {q.size(0), q.size(1), k.size(1), q.size(2)};
}

template <class T>
T score(const T* q, const T* k, const T* weight, int64_t hidden) {
  return internal::lane_sum<T>(hidden,
                               [=](int64_t h) { return weight[h] * internal::fast_tanh(q[h] + k[h]); });
}

/// One pair's share: d(q + k)_h = g weight_h (1 - t_h^2) with t = tanh(q + k), dweight_h = g t_h.
template <class T>
void score_backward(T g, const T* q, const T* k, const T* weight, T* dq, T* dk, T* dweight, int64_t hidden) {
#pragma omp simd
  for (int64_t h = 0; h < hidden; ++h) {
    const T t = internal::fast_tanh(q[h] + k[h]);
    const T slope = g * weight[h] * (1 - t * t);
    dq[h] += slope;
    dk[h] += slope;
    dweight[h] += g * t;
  }
}

}  // namespace

Tensor additive_score(const Tensor& q, const Tensor& k, const Tensor& weight) {
  const Sizes s = check(q, k, weight);
  Tensor out = Tensor::empty({s.batch, s.queries, s.keys}, q.dtype());
  const Tensor queries = q.contiguous(), keys = k.contiguous(), w = weight.contiguous();
  internal::dispatch_floating("additive_score", q, [&]<class T>(T) {
    const T *query = queries.data<T>(), *key = keys.data<T>(), *v = w.data<T>();
    T* to = out.mutable_data<T>();
    const int64_t chunk = internal::rows_per_chunk(s.keys * s.hidden);
    internal::parallel_chunks(s.batch * s.queries, chunk, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* sample = key + row / s.queries * s.keys * s.hidden;
        for (int64_t j = 0; j < s.keys; ++j)
          to[row * s.keys + j] = score(query + row * s.hidden, sample + j * s.hidden, v, s.hidden);
      }
    });
  });
  return out;
}

AdditiveScoreGrads additive_score_backward(const Tensor& grad, const Tensor& q, const Tensor& k,
                                           const Tensor& weight) {
  const Sizes s = check(q, k, weight);
  AdditiveScoreGrads grads{zeros_like(q), zeros_like(k), zeros_like(weight)};
  const Tensor upstream = grad.contiguous(), queries = q.contiguous(), keys = k.contiguous(),
               w = weight.contiguous();
  internal::dispatch_floating("additive_score_backward", q, [&]<class T>(T) {
    const T *g = upstream.data<T>(), *query = queries.data<T>(), *key = keys.data<T>(), *v = w.data<T>();
    T *dq = grads.q.mutable_data<T>(), *dk = grads.k.mutable_data<T>();
    // (batch, hidden): each sample gathers its share of the weight's gradient; they are added in order
    std::vector<T> shares(static_cast<size_t>(s.batch * s.hidden), T(0));
    const int64_t chunk = internal::rows_per_chunk(s.queries * s.keys * s.hidden);
    internal::parallel_chunks(s.batch, chunk, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        for (int64_t i = b * s.queries; i < (b + 1) * s.queries; ++i)
          for (int64_t j = b * s.keys; j < (b + 1) * s.keys; ++j) {
            const T slope = g[i * s.keys + j - b * s.keys];
            if (slope == 0) continue;  // a hidden pair, which may hold NaN
            score_backward(slope, query + i * s.hidden, key + j * s.hidden, v, dq + i * s.hidden,
                           dk + j * s.hidden, shares.data() + b * s.hidden, s.hidden);
          }
    });
    T* dweight = grads.weight.mutable_data<T>();
    for (int64_t b = 0; b < s.batch; ++b)
      for (int64_t h = 0; h < s.hidden; ++h) dweight[h] += shares[static_cast<size_t>(b * s.hidden + h)];
  });
  return grads;
}

}  // namespace heed::kernels
