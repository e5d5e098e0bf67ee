#include <heed/study/statistics.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/reduce.h>
#include <heed/tensor/kernels/unary.h>
#include <heed/tensor/threads.h>

namespace heed::study {
namespace {

/// So many weights are not worth a second thread.
constexpr int64_t kSerial = 4096;

/// Queries that are summed side by side, so that short rows fill the lanes of a vector too.
constexpr int64_t kSideBySide = 16;

/// What the rows of some queries add up to.
template <class T>
struct RowSums {
  using Lanes = std::array<T, kSideBySide>;
  Lanes largest{};
  Lanes entropy{};  // -sum p ln p
  Lanes squares{};  // sum p^2
  Lanes seen{}, scores{}, squared_scores{};
  Lanes relevance{};
  Lanes weight_gradient{}, score_gradient{};  // squared
};

/// Where the numbers of some queries begin: weights, their logarithms, scores and the gradients of weights
/// and scores, (queries, keys) each.
template <class T>
struct Rows {
  const T *weights, *logs, *scores, *weight_grads, *score_grads;

  Rows from(int64_t at) const {
    return {weights + at, logs + at, scores + at, weight_grads + at, score_grads + at};
  }
};

/// Of the first `count` queries, kSideBySide at most.
template <class T>
RowSums<T> sums_of(const Rows<T>& rows, int64_t count, int64_t keys) {
  RowSums<T> sums;
  for (int64_t j = 0; j < keys; ++j) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = i * keys + j;
      const auto lane = static_cast<size_t>(i);
      const T p = rows.weights[at], dp = rows.weight_grads[at], ds = rows.score_grads[at];
      const T seen = p > 0 ? T(1) : T(0), log = p > 0 ? rows.logs[at] : T(0),
              score = p > 0 ? rows.scores[at] : T(0);
      sums.largest[lane] = p > sums.largest[lane] ? p : sums.largest[lane];
      sums.entropy[lane] -= p * log;
      sums.squares[lane] += p * p;
      sums.seen[lane] += seen;
      sums.scores[lane] += score;
      sums.squared_scores[lane] += score * score;
      sums.relevance[lane] += std::abs(p * dp);
      sums.weight_gradient[lane] += dp * dp;
      sums.score_gradient[lane] += ds * ds;
    }
  }
  return sums;
}

double spread_of(double seen, double scores, double squared_scores) {
  const double mean = scores / seen;
  return std::sqrt(std::max(0.0, squared_scores / seen - mean * mean));
}

template <class T>
void add(HeadStatistics& head, const RowSums<T>& sums, int64_t count, bool has_gradient) {
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const auto at = [i](const auto& lanes) { return static_cast<double>(lanes[i]); };
    head.weight_gradient += at(sums.weight_gradient);
    head.score_gradient += at(sums.score_gradient);
    if (sums.seen[i] == 0 || (has_gradient && sums.weight_gradient[i] == 0)) continue;
    ++head.queries;
    head.entropy += std::max(0.0, at(sums.entropy));
    head.largest += at(sums.largest);
    head.saturation += 1 - at(sums.squares);
    head.spread += spread_of(at(sums.seen), at(sums.scores), at(sums.squared_scores));
    head.relevance += at(sums.relevance);
  }
}

void finish(HeadStatistics& head) {
  const double count = static_cast<double>(std::max<int64_t>(head.queries, 1));
  for (double* mean : {&head.entropy, &head.largest, &head.saturation, &head.spread, &head.relevance})
    *mean /= count;
  head.weight_gradient = std::sqrt(head.weight_gradient);
  head.score_gradient = std::sqrt(head.score_gradient);
}

template <class T>
std::vector<HeadStatistics> statistics_of(const Tensor& weights, const Tensor& scores,
                                          const Tensor& weight_gradients, const Tensor& score_gradients) {
  const int64_t batch = weights.size(0), heads = weights.size(1), queries = weights.size(2);
  const int64_t keys = weights.size(3);
  const Tensor logs = kernels::log(weights);
  const bool has_gradient = weight_gradients.defined();
  const Tensor none = has_gradient && score_gradients.defined() ? Tensor() : zeros_like(weights);
  const Rows<T> rows{weights.data<T>(), logs.data<T>(), scores.data<T>(),
                     (has_gradient ? weight_gradients : none).data<T>(),
                     (score_gradients.defined() ? score_gradients : none).data<T>()};
  std::vector<HeadStatistics> all(static_cast<size_t>(heads));
  // A head belongs to one thread, so that its sums do not depend on how many there are.
#pragma omp parallel for num_threads(num_threads()) if (weights.numel() > kSerial)
  for (int64_t h = 0; h < heads; ++h) {
    HeadStatistics& head = all[static_cast<size_t>(h)];
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t i = 0; i < queries; i += kSideBySide) {
        const int64_t count = std::min(kSideBySide, queries - i);
        const Rows<T> some = rows.from(((b * heads + h) * queries + i) * keys);
        add(head, sums_of(some, count, keys), count, has_gradient);
      }
    finish(head);
  }
  return all;
}

/// Column by column, some rows at a time: sums of so few keep their digits.
template <class T>
std::vector<double> squares_by_head(const Tensor& x, int64_t heads) {
  constexpr int64_t kRows = 64;
  const int64_t rows = x.size(0) * x.size(1), width = x.size(2);
  std::vector<T> columns(static_cast<size_t>(width));
  std::vector<double> squares(static_cast<size_t>(heads));
  for (int64_t begin = 0; begin < rows; begin += kRows) {
    std::ranges::fill(columns, T(0));
    for (int64_t i = begin; i < std::min(rows, begin + kRows); ++i) {
      const T* row = x.data<T>() + i * width;
      T* sums = columns.data();
#pragma omp simd
      for (int64_t j = 0; j < width; ++j) sums[j] += row[j] * row[j];
    }
    for (int64_t j = 0; j < width; ++j)
      squares[static_cast<size_t>(j * heads / width)] += static_cast<double>(columns[static_cast<size_t>(j)]);
  }
  return squares;
}

/// Counts and sums over a gradient.
template <class T>
void add_gradient(ParameterStatistics& result, const Tensor& gradient) {
  double squares = 0, zeros = 0, not_finite = 0;
  const auto values = gradient.span<T>();
#pragma omp simd reduction(+ : squares, zeros, not_finite)
  for (size_t i = 0; i < values.size(); ++i) {
    const T g = values[i];
    const bool finite = std::abs(g) <= std::numeric_limits<T>::max();
    squares += finite ? static_cast<double>(g) * static_cast<double>(g) : 0.0;
    zeros += g == 0 ? 1.0 : 0.0;
    not_finite += finite ? 0.0 : 1.0;
  }
  const double count = static_cast<double>(std::max<size_t>(values.size(), 1));
  result.gradient_norm = std::sqrt(squares);
  result.zeros = zeros / count;
  result.not_finite = not_finite / count;
}

template <class T>
double update_ratio(const Tensor& weight, const Tensor& before) {
  const auto now = weight.span<T>(), then = before.span<T>();
  double change = 0, size = 0;
#pragma omp simd reduction(+ : change, size)
  for (size_t i = 0; i < now.size(); ++i) {
    const double a = static_cast<double>(now[i]), b = static_cast<double>(then[i]);
    change += (a - b) * (a - b);
    size += b * b;
  }
  return size > 0 ? std::sqrt(change / size) : 0;
}

void expect_same(const char* op, const Tensor& wanted, const Tensor& came) {
  if (came.defined() && (came.shape() != wanted.shape() || came.dtype() != wanted.dtype()))
    raise<ShapeError>("[{}] wanted all alike, came {} and {}", op, describe(wanted), describe(came));
}

}  // namespace

std::vector<HeadStatistics> head_statistics(const Tensor& weights, const Tensor& scores,
                                            const Tensor& weight_gradients, const Tensor& score_gradients) {
  if (weights.rank() != 4)
    raise<ShapeError>("[head_statistics] wanted weights (batch, heads, queries, keys), came {}",
                      describe(weights));
  for (const Tensor* other : {&scores, &weight_gradients, &score_gradients})
    expect_same("head_statistics", weights, *other);
  const auto flat = [](const Tensor& x) { return x.defined() ? x.contiguous() : x; };
  return weights.dtype() == DType::f64 ? statistics_of<double>(flat(weights), flat(scores),
                                                               flat(weight_gradients), flat(score_gradients))
                                       : statistics_of<float>(flat(weights), flat(scores),
                                                              flat(weight_gradients), flat(score_gradients));
}

std::vector<double> norms_by_head(const Tensor& x, int64_t heads) {
  if (x.rank() != 3 || heads < 1 || x.size(2) % heads != 0)
    raise<ShapeError>("[norms_by_head] wanted (batch, length, a multiple of {} heads), came {}", heads,
                      describe(x));
  const Tensor flat = x.contiguous();
  std::vector<double> norms =
      x.dtype() == DType::f64 ? squares_by_head<double>(flat, heads) : squares_by_head<float>(flat, heads);
  for (double& norm : norms) norm = std::sqrt(norm);
  return norms;
}

double norm_of(const Tensor& x) { return std::sqrt(kernels::sum_of_squares(x)); }

ParameterStatistics parameter_statistics(const Tensor& weight, const Tensor& gradient, const Tensor& before) {
  expect_same("parameter_statistics", weight, gradient);
  expect_same("parameter_statistics", weight, before);
  ParameterStatistics result;
  result.weight_norm = norm_of(weight);
  const bool is_f64 = weight.dtype() == DType::f64;
  if (gradient.defined()) {
    const Tensor flat = gradient.contiguous();
    is_f64 ? add_gradient<double>(result, flat) : add_gradient<float>(result, flat);
  }
  if (before.defined())
    result.update_ratio = is_f64 ? update_ratio<double>(weight, before) : update_ratio<float>(weight, before);
  return result;
}

}  // namespace heed::study
