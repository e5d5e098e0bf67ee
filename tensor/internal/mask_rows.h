#pragma once

#include <heed/tensor/kernels/mask.h>

#include <algorithm>
#include <limits>

namespace heed::internal {

/// A mask laid over scores of one shape (batch, heads, queries, keys), row by row.
template <class T>
class MaskRows {
 public:
  /// Checks that the mask fits; ShapeError or IndexError naming the op if not.
  MaskRows(const char* op, const kernels::Mask& mask, int64_t batch, int64_t heads, int64_t queries,
           int64_t keys)
      : queries_(queries), keys_(keys), causal_(mask.causal) {
    const Shape full{batch, heads, queries, keys};
    if (mask.keep.defined()) keep_ = expanded(op, "keep", mask.keep, full);
    if (mask.bias.defined()) bias_ = expanded(op, "additive part", mask.bias.to(dtype_of<T>()), full);
    if (mask.lengths.defined()) set_lengths(op, mask.lengths, batch);
  }

  /// Whether apply() changes scores at all: lengths and the causal order only shorten the rows.
  bool edits() const { return bias_.defined() || keep_.defined(); }

  /// Turns a row of scores into what softmax sees: hidden keys become -infinity. Returns how many keys from
  /// the first on can matter; the scores beyond are left alone.
  int64_t apply(T* scores, int64_t b, int64_t h, int64_t q) const {
    const int64_t count = visible(b, q);
    if (bias_.defined()) {
      const auto& s = bias_.strides();
      const T* bias = bias_.template data<T>() + b * s[0] + h * s[1] + q * s[2];
      for (int64_t k = 0; k < count; ++k) scores[k] += bias[k * s[3]];
    }
    fill_hidden(scores, count, b, h, q, kHidden);
    return count;
  }

  /// Zeros for the hidden keys of a row of weights: softmax gives them that, unless a NaN among the scores
  /// that are seen has made NaN of the whole row.
  void clear_hidden(T* weights, int64_t b, int64_t h, int64_t q) const {
    const int64_t count = visible(b, q);
    fill_hidden(weights, count, b, h, q, T(0));
    std::fill(weights + count, weights + keys_, T(0));
  }

 private:
  static constexpr T kHidden = -std::numeric_limits<T>::infinity();

  /// `value` for each of the first `count` keys that is hidden by itself, whatever stands there: a sum with
  /// -infinity would keep NaN.
  void fill_hidden(T* row, int64_t count, int64_t b, int64_t h, int64_t q, T value) const {
    if (bias_.defined()) {
      const auto& s = bias_.strides();
      const T* bias = bias_.template data<T>() + b * s[0] + h * s[1] + q * s[2];
      for (int64_t k = 0; k < count; ++k)
        if (bias[k * s[3]] == kHidden) row[k] = value;
    }
    if (keep_.defined()) {
      const auto& s = keep_.strides();
      const bool* keep = keep_.template data<bool>() + b * s[0] + h * s[1] + q * s[2];
      if (s[3] == 1) {
        fill_where_not(row, reinterpret_cast<const uint8_t*>(keep), count, value);
      } else {
        for (int64_t k = 0; k < count; ++k)
          if (!keep[k * s[3]]) row[k] = value;
      }
    }
  }

  /// Both numbers are read in any case: a branch would be guessed wrong for every other key of a random mask.
  static void fill_where_not(T* row, const uint8_t* keep, int64_t count, T value) {
#pragma omp simd
    for (int64_t k = 0; k < count; ++k) {
      const T score = row[k];
      row[k] = keep[k] != 0 ? score : value;
    }
  }

  static Tensor expanded(const char* op, const char* part, const Tensor& x, const Shape& full) {
    if (!expandable(x.shape(), full))
      raise<ShapeError>("[{}] wanted a mask for (batch, heads, queries, keys) {}, came its {} {}", op, full,
                        part, x.shape());
    return x.expand(full);
  }

  void set_lengths(const char* op, const Tensor& lengths, int64_t batch) {
    const bool fits = lengths.shape() == Shape{batch} || lengths.shape() == Shape{batch, queries_};
    if (!fits)
      raise<ShapeError>("[{}] wanted lengths ({},) or ({}, {}), came {}", op, batch, batch, queries_,
                        lengths.shape());
    const Tensor all = lengths.contiguous();
    for (int64_t length : all.template span<int64_t>())
      if (length < 0 || length > keys_)
        raise<IndexError>("[{}] wanted lengths in [0, {}], came {}", op, keys_, length);
    lengths_ = lengths.rank() == 2 ? lengths : lengths.unsqueeze(1).expand({batch, queries_});
  }

  int64_t visible(int64_t b, int64_t q) const {
    int64_t count = keys_;
    if (lengths_.defined())
      count = lengths_.template data<int64_t>()[b * lengths_.strides()[0] + q * lengths_.strides()[1]];
    if (causal_) count = std::min(count, std::max<int64_t>(q + 1 + keys_ - queries_, 0));
    return count;
  }

  int64_t queries_, keys_;
  bool causal_;
  Tensor keep_, bias_, lengths_;
};

}  // namespace heed::internal
