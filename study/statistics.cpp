#include <heed/study/statistics.h>

#include <algorithm>
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

/// What a query's row adds up to.
struct RowSums {
  double largest = 0;
  double entropy = 0;  // -sum p ln p
  double squares = 0;  // sum p^2
  double seen = 0, scores = 0, squared_scores = 0;
  double relevance = 0;
  double weight_gradient = 0, score_gradient = 0;  // squared
};

/// weights, their logarithms, scores and the gradients of weights and scores: (keys).
template <class T>
RowSums sums_of(const T* weights, const T* logs, const T* scores, const T* weight_grads, const T* score_grads,
                int64_t keys) {
  T largest = 0, squares = 0, entropy = 0, seen = 0, total = 0, squared = 0, relevance = 0, of_weights = 0,
    of_scores = 0;
#pragma omp simd reduction(+ : squares, entropy, seen, total, squared, relevance, of_weights, of_scores) \
    reduction(max : largest)
  for (int64_t j = 0; j < keys; ++j) {
    const T p = weights[j];
    const bool is_seen = p > 0;
    const T score = is_seen ? scores[j] : T(0);
    largest = p > largest ? p : largest;
    squares += p * p;
    entropy -= is_seen ? p * logs[j] : T(0);
    seen += is_seen ? T(1) : T(0);
    total += score;
    squared += score * score;
    relevance += std::abs(p * weight_grads[j]);
    of_weights += weight_grads[j] * weight_grads[j];
    of_scores += score_grads[j] * score_grads[j];
  }
  const auto wide = [](T sum) { return static_cast<double>(sum); };
  return {wide(largest), wide(entropy),   wide(squares),    wide(seen),     wide(total),
          wide(squared), wide(relevance), wide(of_weights), wide(of_scores)};
}

double spread_of(const RowSums& sums) {
  const double mean = sums.scores / sums.seen;
  return std::sqrt(std::max(0.0, sums.squared_scores / sums.seen - mean * mean));
}

void add(HeadStatistics& head, const RowSums& sums, bool has_gradient) {
  head.weight_gradient += sums.weight_gradient;
  head.score_gradient += sums.score_gradient;
  if (sums.seen == 0 || (has_gradient && sums.weight_gradient == 0)) return;
  ++head.queries;
  head.entropy += std::max(0.0, sums.entropy);
  head.largest += sums.largest;
  head.saturation += 1 - sums.squares;
  head.spread += spread_of(sums);
  head.relevance += sums.relevance;
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
  const T *p = weights.data<T>(), *lp = logs.data<T>(), *s = scores.data<T>();
  const bool has_gradient = weight_gradients.defined();
  const Tensor none = has_gradient && score_gradients.defined() ? Tensor() : zeros_like(weights);
  const T* dp = (has_gradient ? weight_gradients : none).data<T>();
  const T* ds = (score_gradients.defined() ? score_gradients : none).data<T>();
  std::vector<HeadStatistics> all(static_cast<size_t>(heads));
  // A head belongs to one thread, so that its sums do not depend on how many there are.
#pragma omp parallel for num_threads(num_threads()) if (weights.numel() > kSerial)
  for (int64_t h = 0; h < heads; ++h) {
    HeadStatistics& head = all[static_cast<size_t>(h)];
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t i = 0; i < queries; ++i) {
        const int64_t at = ((b * heads + h) * queries + i) * keys;
        add(head, sums_of(p + at, lp + at, s + at, dp + at, ds + at, keys), has_gradient);
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
  for (const T g : values) {
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
