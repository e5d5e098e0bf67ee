#include <heed/tensor/kernels/attention.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <heed/tensor/creation.h>
#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/mask_rows.h>
#include <heed/tensor/internal/parallel.h>
#include <heed/tensor/internal/score_rows.h>
#include <heed/tensor/internal/small_matmul.h>
#include <heed/tensor/kernels/dropout.h>
#include <heed/tensor/kernels/reduce.h>

namespace heed::kernels {
namespace {

using internal::kQueryBlock;

struct Sizes {
  int64_t batch, heads, queries, keys, d, e;
  /// Of one head's pass forwards, in the units of rows_per_chunk(): products, and what a row costs besides.
  int64_t work() const { return queries * (row() * (d + e) / 4 + 128); }
  /// Rows of scores in scratch memory are this long, so that every loop over one is whole vectors.
  int64_t row() const { return internal::whole_lanes(keys); }
};

Sizes check(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  internal::expect_floating("attention", q);
  internal::expect_same_dtype("attention", q, k);
  internal::expect_same_dtype("attention", q, v);
  if (q.rank() != 3 || k.rank() != 3 || v.rank() != 3 || q.size(0) != k.size(0) || k.size(0) != v.size(0) ||
      k.size(1) != v.size(1) || q.size(2) != k.size(2))
    raise<ShapeError>(
        "[attention] wanted q (batch, queries, width), k (batch, keys, width), v (batch, keys, any), "
        "came {}, {}, {}",
        q.shape(), k.shape(), v.shape());
  const int64_t heads = options.heads;
  if (heads < 1 || q.size(2) % heads != 0 || v.size(2) % heads != 0)
    raise<ShapeError>("[attention] wanted widths that divide into {} heads, came q {}, v {}", heads,
                      q.shape(), v.shape());
  const Shape pairs{q.size(0), heads, q.size(1), k.size(1)};
  const Tensor& keep = options.dropout_keep;
  if (keep.defined() && (keep.shape() != pairs || keep.dtype() != DType::boolean))
    raise<ShapeError>("[attention] wanted a dropout mask bool{}, came {}", pairs, describe(keep));
  if (!(options.dropout >= 0 && options.dropout <= 1))
    raise<ValueError>("[attention] wanted a probability in [0, 1], came {}", options.dropout);
  return {q.size(0), heads, q.size(1), k.size(1), q.size(2) / heads, v.size(2) / heads};
}

/// One head of one sample: its part of each array, found by the strides of (batch, length, heads * d).
template <class T>
class Head {
 public:
  Head(const Sizes& s, int64_t index) : s_(s), b_(index / s.heads), h_(index % s.heads) {}
  template <class U>
  U* part(U* all, int64_t length, int64_t width) const {
    return all + (b_ * length * s_.heads + h_) * width;
  }
  template <class U>
  U* pair_row(U* all, int64_t query) const {
    return all + ((b_ * s_.heads + h_) * s_.queries + query) * s_.keys;
  }
  int64_t row(int64_t query) const { return (b_ * s_.heads + h_) * s_.queries + query; }
  int64_t b() const { return b_; }
  int64_t h() const { return h_; }

 private:
  const Sizes& s_;
  int64_t b_, h_;
};

const bool* keep_data(const AttentionOptions& options) {
  return options.dropout_keep.defined() ? options.dropout_keep.data<bool>() : nullptr;
}

/// A product whose first factor is made of weights or their slopes, which are 0 for hidden keys. 0 * NaN is
/// NaN, so these keys are skipped where there is anything that is not finite.
template <class T>
void weigh(bool all_finite, const internal::SmallMatmul<T>& product) {
  if (all_finite)
    internal::small_matmul(product);
  else
    internal::skipping_matmul(product);
}

/// Lays the mask over a block of scores: what is hidden within a run becomes -infinity.
template <class T>
internal::Runs apply_mask(const internal::MaskRows<T>& mask, const Head<T>& head, T* block, int64_t row,
                          int64_t first, int64_t rows) {
  internal::Runs runs;
  for (int64_t i = 0; i < rows; ++i) {
    T* line = block + i * row;
    const int64_t seen = mask.apply(line, head.b(), head.h(), first + i), run = internal::whole_lanes(seen);
    std::fill(line + seen, line + run, -std::numeric_limits<T>::infinity());
    std::fill(line + run, line + row, T(0));
    runs[static_cast<size_t>(i)] = run;
  }
  return runs;
}

/// Zeros for the hidden keys of the rows that are NaN.
template <class T>
void clear_hidden(const internal::MaskRows<T>& mask, const Head<T>& head, T* block, int64_t row,
                  int64_t first, int64_t rows, const T* logsumexp) {
  for (int64_t i = 0; i < rows; ++i)
    if (std::isnan(logsumexp[i])) mask.clear_hidden(block + i * row, head.b(), head.h(), first + i);
}

/// Everything of one head's forward pass.
template <class T>
struct Forward {
  const Sizes& s;
  const AttentionOptions& options;
  const internal::MaskRows<T>& mask;
  bool finite_values;
  const T *q, *k, *v;
  T *output, *logsumexp, *weights, *scores;

  void run(int64_t index, std::vector<T>& scratch) const {
    const Head<T> head(s, index);
    T* keys = scratch.data();         // (d, row)
    T* block = keys + s.d * s.row();  // (kQueryBlock, row)
    internal::transpose_into(keys, head.part(k, s.keys, s.d), s.keys, s.d, s.heads * s.d, s.row());
    for (int64_t first = 0; first < s.queries; first += kQueryBlock)
      run_block(head, keys, block, first, std::min(kQueryBlock, s.queries - first));
  }

  void run_block(const Head<T>& head, const T* keys, T* block, int64_t first, int64_t rows) const {
    const int64_t q_row = s.heads * s.d, v_row = s.heads * s.e;
    const int64_t row = s.row();
    internal::small_matmul<T>(
        {rows, row, s.d, head.part(q, s.queries, s.d) + first * q_row, q_row, 1, keys, row, block, row});
    internal::scale_all(block, rows * row, static_cast<T>(options.scale));
    if (scores != nullptr)
      internal::copy_rows(head.pair_row(scores, first), s.keys, block, row, rows, s.keys);
    T* total = logsumexp + head.row(first);
    internal::softmax_rows(block, row, apply_mask(mask, head, block, row, first, rows), rows, total);
    clear_hidden(mask, head, block, row, first, rows, total);
    if (weights != nullptr)
      internal::copy_rows(head.pair_row(weights, first), s.keys, block, row, rows, s.keys);
    if (const bool* keep = keep_data(options))
      internal::drop(block, row, head.pair_row(keep, first), rows, s.keys,
                     static_cast<T>(dropout_scale(options.dropout)));
    weigh<T>(finite_values, {rows, s.e, s.keys, block, row, 1, head.part(v, s.keys, s.e), v_row,
                             head.part(output, s.queries, s.e) + first * v_row, v_row});
  }
};

/// Everything of one head's backward pass, by the formulas of the header.
template <class T>
struct BackwardPass {
  const Sizes& s;
  const AttentionOptions& options;
  const internal::MaskRows<T>& mask;
  bool all_finite;
  const T *grad, *grad_weights, *q, *k, *v, *logsumexp;
  T *dq, *dk, *dv, *dweights, *dscores;

  void run(int64_t index, std::vector<T>& scratch) const {
    const Head<T> head(s, index);
    T* keys = scratch.data();             // (d, row)
    T* values = keys + s.d * s.row();     // (e, row)
    T* weights = values + s.e * s.row();  // (kQueryBlock, row)
    T* slopes = weights + kQueryBlock * s.row();
    internal::transpose_into(keys, head.part(k, s.keys, s.d), s.keys, s.d, s.heads * s.d, s.row());
    internal::transpose_into(values, head.part(v, s.keys, s.e), s.keys, s.e, s.heads * s.e, s.row());
    for (int64_t first = 0; first < s.queries; first += kQueryBlock) {
      const int64_t rows = std::min(kQueryBlock, s.queries - first);
      recompute_weights(head, keys, weights, first, rows);
      run_block(head, values, weights, slopes, first, rows);
    }
  }

  void recompute_weights(const Head<T>& head, const T* keys, T* weights, int64_t first, int64_t rows) const {
    const int64_t q_row = s.heads * s.d, row = s.row();
    internal::small_matmul<T>(
        {rows, row, s.d, head.part(q, s.queries, s.d) + first * q_row, q_row, 1, keys, row, weights, row});
    internal::scale_all(weights, rows * row, static_cast<T>(options.scale));
    const internal::Runs runs = apply_mask(mask, head, weights, row, first, rows);
    const T* total = logsumexp + head.row(first);
    for (int64_t i = 0; i < rows; ++i)
      internal::exp_row(weights + i * row, runs[static_cast<size_t>(i)], total[i]);
    clear_hidden(mask, head, weights, row, first, rows, total);
  }

  void run_block(const Head<T>& head, const T* values, T* weights, T* slopes, int64_t first,
                 int64_t rows) const {
    const int64_t q_row = s.heads * s.d, v_row = s.heads * s.e, row = s.row();
    const T* upstream = head.part(grad, s.queries, s.e) + first * v_row;
    const bool* keep = keep_data(options) != nullptr ? head.pair_row(keep_data(options), first) : nullptr;
    const T scale = static_cast<T>(dropout_scale(options.dropout));
    internal::small_matmul<T>({rows, row, s.e, upstream, v_row, 1, values, row, slopes, row});
    if (keep != nullptr) internal::drop(slopes, row, keep, rows, s.keys, scale);
    if (grad_weights != nullptr) {
      const T* given = head.pair_row(grad_weights, first);
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < s.keys; ++j) slopes[i * row + j] += given[i * s.keys + j];
    }
    softmax_slopes(head, slopes, weights, first, rows);
    if (keep != nullptr) internal::drop(weights, row, keep, rows, s.keys, scale);
    const bool later = first > 0;
    weigh<T>(all_finite,
             {s.keys, s.e, rows, weights, 1, row, upstream, v_row, head.part(dv, s.keys, s.e), v_row, later});
    weigh<T>(all_finite, {rows, s.d, s.keys, slopes, row, 1, head.part(k, s.keys, s.d), q_row,
                          head.part(dq, s.queries, s.d) + first * q_row, q_row});
    weigh<T>(all_finite, {s.keys, s.d, rows, slopes, 1, row, head.part(q, s.queries, s.d) + first * q_row,
                          q_row, head.part(dk, s.keys, s.d), q_row, later});
  }

  /// dP -> scale * dS, in place; dP and dS themselves are handed out on request. All rows' sums come before
  /// their slopes; see softmax_rows().
  void softmax_slopes(const Head<T>& head, T* slopes, const T* weights, int64_t first, int64_t rows) const {
    const int64_t row = s.row();
    std::array<T, kQueryBlock> dots;
    for (int64_t i = 0; i < rows; ++i)
      dots[static_cast<size_t>(i)] = weighted_sum(slopes + i * row, weights + i * row);
    for (int64_t i = 0; i < rows; ++i)
      softmax_slope(head, slopes + i * row, weights + i * row, first + i, dots[static_cast<size_t>(i)]);
  }

  T weighted_sum(T* slope, const T* weight) const {
    const auto share = [=](int64_t j) { return slope[j] * weight[j]; };
    const T dot = internal::lane_sum<T>(s.row(), share);
    if (std::isfinite(dot)) return dot;
    internal::clear_unweighted(slope, weight, s.row());
    return internal::lane_sum<T>(s.row(), share);
  }

  void softmax_slope(const Head<T>& head, T* slope, const T* weight, int64_t query, T dot) const {
    if (dweights != nullptr) hand_out_weights_slope(head.pair_row(dweights, query), slope, head.row(query));
    if (dscores != nullptr) {
      T* out = head.pair_row(dscores, query);
      for (int64_t j = 0; j < s.keys; ++j) out[j] = weight[j] * (slope[j] - dot);
      if (!std::isfinite(dot)) internal::clear_unweighted(out, weight, s.keys);
    }
    const T scale = static_cast<T>(options.scale);
#pragma omp simd
    for (int64_t j = 0; j < s.row(); ++j) slope[j] = scale * weight[j] * (slope[j] - dot);
    if (!std::isfinite(dot)) internal::clear_unweighted(slope, weight, s.row());
  }

  void hand_out_weights_slope(T* out, const T* slope, int64_t row) const {
    if (logsumexp[row] == -std::numeric_limits<T>::infinity())
      std::fill_n(out, s.keys, T(0));
    else
      std::copy_n(slope, s.keys, out);
  }
};

/// pass.run(head, scratch) for every head of every sample; heads that are little work share a chunk.
template <class T, class Pass>
void for_each_head(const Sizes& s, int64_t scratch_size, const Pass& pass) {
  internal::parallel_chunks(s.batch * s.heads, internal::rows_per_chunk(s.work()),
                            [&](int64_t begin, int64_t end) {
                              std::vector<T> scratch(static_cast<size_t>(scratch_size));
                              for (int64_t i = begin; i < end; ++i) pass.run(i, scratch);
                            });
}

Tensor narrow(const Tensor& x) { return x.defined() ? x.to(DType::bf16) : x; }

/// bf16 is computed in f32; the copies are small beside the weights, which no one ever holds.
Attention attention_in_bf16(const Tensor& q, const Tensor& k, const Tensor& v,
                            const AttentionOptions& options) {
  const Attention wide = attention(q.to(DType::f32), k.to(DType::f32), v.to(DType::f32), options);
  return {narrow(wide.output), wide.logsumexp, narrow(wide.weights), narrow(wide.scores)};
}

AttentionGrads attention_backward_in_bf16(const Tensor& grad, const Tensor& grad_weights, const Tensor& q,
                                          const Tensor& k, const Tensor& v, const Tensor& logsumexp,
                                          const AttentionOptions& options) {
  const auto widen = [](const Tensor& x) { return x.defined() ? x.to(DType::f32) : x; };
  const AttentionGrads wide =
      attention_backward(widen(grad), widen(grad_weights), widen(q), widen(k), widen(v), logsumexp, options);
  return {narrow(wide.q), narrow(wide.k), narrow(wide.v), narrow(wide.weights), narrow(wide.scores)};
}

AttentionOptions with_contiguous_keep(AttentionOptions options) {
  if (options.dropout_keep.defined()) options.dropout_keep = options.dropout_keep.contiguous();
  return options;
}

}  // namespace

Attention attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& given) {
  const Sizes s = check(q, k, v, given);
  if (q.dtype() == DType::bf16) return attention_in_bf16(q, k, v, given);
  const AttentionOptions options = with_contiguous_keep(given);
  const Shape pairs{s.batch, s.heads, s.queries, s.keys};
  Attention result;
  result.output = Tensor::empty({s.batch, s.queries, s.heads * s.e}, q.dtype());
  result.logsumexp = Tensor::empty({s.batch, s.heads, s.queries}, q.dtype());
  if (options.want_weights) result.weights = Tensor::empty(pairs, q.dtype());
  if (options.want_scores) result.scores = Tensor::empty(pairs, q.dtype());
  const Tensor queries = q.contiguous(), keys = k.contiguous(), values = v.contiguous();
  internal::dispatch_floating("attention", q, [&]<class T>(T) {
    const internal::MaskRows<T> mask("attention", options.mask, s.batch, s.heads, s.queries, s.keys);
    const Forward<T> pass{s,
                          options,
                          mask,
                          all_finite(values),
                          queries.data<T>(),
                          keys.data<T>(),
                          values.data<T>(),
                          result.output.mutable_data<T>(),
                          result.logsumexp.mutable_data<T>(),
                          options.want_weights ? result.weights.mutable_data<T>() : nullptr,
                          options.want_scores ? result.scores.mutable_data<T>() : nullptr};
    for_each_head<T>(s, (s.d + kQueryBlock) * s.row(), pass);
  });
  return result;
}

AttentionGrads attention_backward(const Tensor& grad, const Tensor& grad_weights, const Tensor& q,
                                  const Tensor& k, const Tensor& v, const Tensor& logsumexp,
                                  const AttentionOptions& given) {
  const Sizes s = check(q, k, v, given);
  if (q.dtype() == DType::bf16)
    return attention_backward_in_bf16(grad, grad_weights, q, k, v, logsumexp, given);
  const AttentionOptions options = with_contiguous_keep(given);
  // Without a query nothing is written below, and the gradients of keys and values are zeros.
  const auto make = [&](const Tensor& like) {
    return s.queries == 0 || s.keys == 0 ? zeros(like.shape(), like.dtype())
                                         : Tensor::empty(like.shape(), like.dtype());
  };
  AttentionGrads grads{make(q), make(k), make(v), {}, {}};
  if (options.want_gradients) {
    const Shape pairs{s.batch, s.heads, s.queries, s.keys};
    grads.weights = Tensor::empty(pairs, q.dtype());
    grads.scores = Tensor::empty(pairs, q.dtype());
  }
  const Tensor upstream = grad.contiguous(), queries = q.contiguous(), keys = k.contiguous(),
               values = v.contiguous();
  const Tensor given_weights = grad_weights.defined() ? grad_weights.contiguous() : Tensor();
  internal::dispatch_floating("attention_backward", q, [&]<class T>(T) {
    const internal::MaskRows<T> mask("attention", options.mask, s.batch, s.heads, s.queries, s.keys);
    const BackwardPass<T> pass{s,
                               options,
                               mask,
                               all_finite(queries) && all_finite(keys),
                               upstream.data<T>(),
                               given_weights.defined() ? given_weights.data<T>() : nullptr,
                               queries.data<T>(),
                               keys.data<T>(),
                               values.data<T>(),
                               logsumexp.data<T>(),
                               grads.q.mutable_data<T>(),
                               grads.k.mutable_data<T>(),
                               grads.v.mutable_data<T>(),
                               options.want_gradients ? grads.weights.mutable_data<T>() : nullptr,
                               options.want_gradients ? grads.scores.mutable_data<T>() : nullptr};
    if (s.queries > 0 && s.keys > 0) for_each_head<T>(s, (s.d + s.e + 2 * kQueryBlock) * s.row(), pass);
  });
  return grads;
}

}  // namespace heed::kernels
