#include <cmath>
#include <limits>

#include <heed/tensor/kernels/comparison.h>
#include <heed/tensor/kernels/reduce.h>

#include "tests/ops/any_mask.h"
#include "tests/ops/op_case.h"

/// What is hidden reaches nothing, whatever stands there. Keys and values of some places are poisoned, at
/// random, and so are queries that see nothing. What has seen a poisoned place may be anything; all else must
/// be as if the place held ordinary numbers.
namespace heed::test {
namespace {

using kernels::Mask;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Sizes {
  int64_t batch, heads, queries, keys, d, e;
};

Sizes any_sizes() {
  return {any_between(1, 3),  any_between(1, 3), any_between(1, 40),
          any_between(1, 40), any_between(1, 9), any_between(1, 20)};
}

/// As any_mask, but that an additive part hides some pairs too.
Mask any_hiding_mask(const Sizes& s) {
  Mask mask = any_mask(s.batch, s.heads, s.queries, s.keys);
  if (!mask.bias.defined()) return mask;
  mask.bias = mask.bias.clone();
  for (int64_t key = 0; key < s.keys; ++key)
    if (any_between(0, 4) == 0) mask.bias.select(3, key).fill(-kInfinity);
  return mask;
}

double any_poison() {
  const double all[]{std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity,
                     std::numeric_limits<double>::max()};
  return all[any_between(0, 3)];
}

/// Bools (batch, heads, places), each true once in `one_in`.
Tensor any_places(const Shape& shape, int64_t one_in) {
  Tensor places = zeros(shape, DType::boolean);
  for (bool& place : places.mutable_span<bool>()) place = any_between(1, one_in) == 1;
  return places;
}

/// x (batch, places, heads * width) with poison where places (batch, heads, places) is true.
Tensor poisoned(const Tensor& x, const Tensor& places) {
  Tensor result = x.clone();
  const int64_t heads = places.size(1);
  Tensor split = result.reshape({x.size(0), x.size(1), heads, x.size(2) / heads});
  for (int64_t b = 0; b < x.size(0); ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < x.size(1); ++i)
        if (get(places, {b, h, i}) != 0) split.select(0, b).select(0, i).select(0, h).fill(any_poison());
  return result;
}

/// One call of attention: everything that comes out of it, forwards and backwards.
struct Results {
  Tensor output, weights, dq, dk, dv, dweights, dscores;
};

Results run(const std::vector<Tensor>& inputs, const std::vector<Tensor>& upstreams, AttentionOptions options,
            bool create_graph) {
  options.want_weights = options.want_gradients = true;
  const Variables in = leaves(inputs), upstream(upstreams.begin(), upstreams.end());
  const AttentionResult result = attention(in[0], in[1], in[2], options);
  const Variables outputs{result.output, result.weights};
  const Variables grads = grad(outputs, in, upstream, {.create_graph = create_graph});
  return {result.output.data(), result.weights.data(),     grads[0].data(),         grads[1].data(),
          grads[2].data(),      result.gradients->weights, result.gradients->scores};
}

/// A row of one head: (batch, places, heads * width) -> (width)
Tensor head_row(const Tensor& x, int64_t heads, int64_t b, int64_t h, int64_t place) {
  return x.reshape({x.size(0), x.size(1), heads, x.size(2) / heads})
      .select(0, b)
      .select(0, place)
      .select(0, h);
}

Tensor pair_row(const Tensor& x, int64_t b, int64_t h, int64_t query) {
  return x.select(0, b).select(0, h).select(0, query);
}

void expect_same(const Tensor& got, const Tensor& wanted, const char* what) {
  const auto result = close(got, wanted, kF64);
  if (!result) RC_FAIL(fmt::format("{}: {}", what, result.message()));
}

/// seen (batch, heads, queries, keys), from weights that are not 0.
bool sees_any(const Tensor& seen, const Tensor& places, int64_t b, int64_t h, int64_t query) {
  for (int64_t j = 0; j < seen.size(3); ++j)
    if (get(seen, {b, h, query, j}) != 0 && get(places, {b, h, j}) != 0) return true;
  return false;
}

TEST(case_C01, what_is_hidden_reaches_nothing_whatever_stands_there) {
  EXPECT_TRUE(rc::check([] {
    const Sizes s = any_sizes();
    Generator generator(static_cast<uint64_t>(any_between(0, 1 << 30)));
    const auto any = [&](const Shape& shape) { return rand_normal(shape, 0, 1, DType::f64, generator); };
    AttentionOptions options{.heads = s.heads, .scale = 0.3, .mask = any_hiding_mask(s)};
    if (any_between(0, 2) == 0) {
      options.dropout = 0.25;
      options.dropout_keep =
          rand_integers({s.batch, s.heads, s.queries, s.keys}, 0, 4, generator).to(DType::boolean);
    }
    const std::vector<Tensor> inputs{any({s.batch, s.queries, s.heads * s.d}),
                                     any({s.batch, s.keys, s.heads * s.d}),
                                     any({s.batch, s.keys, s.heads * s.e})};
    const std::vector<Tensor> upstreams{any({s.batch, s.queries, s.heads * s.e}),
                                        any({s.batch, s.heads, s.queries, s.keys})};
    const bool create_graph = any_between(0, 1) == 0;
    const Results wanted = run(inputs, upstreams, options, create_graph);

    const Tensor keys = any_places({s.batch, s.heads, s.keys}, any_between(1, 8));
    const Tensor blind = kernels::eq(kernels::sum(wanted.weights, {3}), scalar(0, DType::f64));
    const Results got =
        run({poisoned(inputs[0], blind), poisoned(inputs[1], keys), poisoned(inputs[2], keys)}, upstreams,
            options, create_graph);
    for (int64_t b = 0; b < s.batch; ++b)
      for (int64_t h = 0; h < s.heads; ++h) {
        std::vector<bool> clean_key(static_cast<size_t>(s.keys), true);
        for (int64_t i = 0; i < s.queries; ++i) {
          if (sees_any(wanted.weights, keys, b, h, i)) {
            for (int64_t j = 0; j < s.keys; ++j)
              if (get(wanted.weights, {b, h, i, j}) != 0) clean_key[static_cast<size_t>(j)] = false;
            continue;
          }
          const auto row = [&](const Tensor& x) { return head_row(x, s.heads, b, h, i); };
          const auto pairs = [&](const Tensor& x) { return pair_row(x, b, h, i); };
          expect_same(row(got.output), row(wanted.output), "output");
          expect_same(pairs(got.weights), pairs(wanted.weights), "weights");
          expect_same(row(got.dq), row(wanted.dq), "the gradient of a query");
          expect_same(pairs(got.dscores), pairs(wanted.dscores), "that of its scores");
          RC_ASSERT(kernels::all_finite(pairs(got.dweights)));
        }
        for (int64_t j = 0; j < s.keys; ++j) {
          if (!clean_key[static_cast<size_t>(j)]) continue;
          const auto row = [&](const Tensor& x) { return head_row(x, s.heads, b, h, j); };
          expect_same(row(got.dk), row(wanted.dk), "the gradient of a key");
          expect_same(row(got.dv), row(wanted.dv), "the gradient of a value");
        }
      }
  }));
}

TEST(case_C01, a_hidden_score_stays_hidden_in_a_row_of_nan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor scores = tensor_of({{{nan, 1, nan, 2}}, {{0, nan, kInfinity, nan}}});
  Mask additive =
      Mask::additive(tensor_of({{{0, -kInfinity, 0, 0}}, {{0, -kInfinity, -kInfinity, -kInfinity}}}));
  for (const Mask& mask :
       {Mask::valid_keys(tensor_of({{1, 0, 1, 1}, {1, 0, 0, 0}}, DType::boolean)), additive,
        Mask::valid_pairs(tensor_of({{{1, 0, 1, 1}}, {{1, 0, 0, 0}}}, DType::boolean))}) {
    const Variable x(scores, true);
    const Variable weights = masked_softmax(x, mask);
    EXPECT_TRUE(std::isnan(weights.data().at({0, 0, 0})));
    EXPECT_EQ(weights.data().at({0, 0, 1}), 0);
    EXPECT_TRUE(close(weights.data().select(0, 1), {1, 0, 0, 0}, kExact));
    for (const bool create_graph : {false, true}) {
      const Variables outputs{weights}, in{x},
          upstream{Variable(tensor_of({{{1, nan, 1, 1}}, {{1, nan, kInfinity, nan}}}))};
      const Tensor slope =
          grad(outputs, in, upstream, {.retain_graph = true, .create_graph = create_graph})[0].data();
      EXPECT_EQ(slope.at({0, 0, 1}), 0);
      EXPECT_TRUE(close(slope.select(0, 1), {0, 0, 0, 0}, kExact));
    }
  }
}

TEST(weighted_sum, takes_nothing_of_a_value_whose_weight_is_0) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Variable weights(tensor_of({{0.5, 0, 0.5}, {0, 1, 0}}), true),
      values(tensor_of({{1, 2}, {nan, kInfinity}, {3, 4}}), true);
  const Variable sums = weighted_sum(weights, values);
  EXPECT_TRUE(close(sums.data().select(0, 0), {2, 3}, kExact));
  EXPECT_TRUE(std::isnan(sums.data().at({1, 0})));
  EXPECT_EQ(sums.data().at({1, 1}), kInfinity);
  sums.select(0, 0).backward(tensor_of({1, 10}));
  EXPECT_TRUE(close(weights.grad().data().select(0, 0), {21, 0, 43}, kExact));
  EXPECT_TRUE(close(values.grad().data(), {0.5, 5, 0, 0, 0.5, 5}, kExact));
}

TEST(additive_score, takes_no_gradient_from_pairs_that_have_none) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Variable q(tensor_of({{{0.5}}}), true), k(tensor_of({{{0}, {nan}, {1}}}), true),
      w(tensor_of({1}), true);
  const Variable weights =
      masked_softmax(additive_score(q, k, w), Mask::valid_keys(tensor_of({{1, 0, 1}}, DType::boolean)));
  weighted_sum(weights, tensor_of({{{10}, {nan}, {20}}})).backward(ones({1, 1, 1}));
  // scores tanh(0.5), tanh(1.5); p = 0.39101896, 0.60898104; slopes of the scores -+ 10 p0 p1
  const double slope = 10 * 0.39101896 * 0.60898104, t0 = std::tanh(0.5), t1 = std::tanh(1.5);
  EXPECT_TRUE(close(q.grad().data(), {slope * ((1 - t1 * t1) - (1 - t0 * t0))}, kF32));
  EXPECT_TRUE(close(k.grad().data(), {-slope * (1 - t0 * t0), 0, slope * (1 - t1 * t1)}, kF32));
  EXPECT_TRUE(close(w.grad().data(), {slope * (t1 - t0)}, kF32));
}

}  // namespace
}  // namespace heed::test
