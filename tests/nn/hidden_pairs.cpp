#include <limits>

#include <heed/autograd/engine.h>
#include <heed/nn/attention.h>
#include <heed/nn/pooling.h>
#include <heed/tensor/kernels/comparison.h>
#include <heed/tensor/kernels/softmax.h>

#include "tests/nn/helpers.h"
#include "tests/ops/any_mask.h"
#include "tests/tensor/generators.h"

using namespace heed;
using namespace heed::test;
using nn::Mask;

/// What is hidden from a query reaches neither its result nor its gradient, though other queries see it and
/// whatever stands there. Some keys and values are poisoned, and the queries that see nothing. All that has
/// met no poison must be as if there were none.
namespace {

constexpr int64_t kWidth = 4;

struct Setting {
  int64_t batch = any_between(1, 2), queries = any_between(1, 4), keys = any_between(1, 5);
  Mask mask = any_mask(batch, 1, queries, keys);
  Tensor weights = kernels::masked_softmax(zeros({batch, queries, keys}), mask);
  Tensor poison = zeros({batch, keys}, DType::boolean);
  Setting() {
    for (bool& place : poison.mutable_span<bool>()) place = any_between(0, 2) == 0;
  }

  bool sees(int64_t b, int64_t query, int64_t key) const { return weights.at({b, query, key}) != 0; }

  /// Whether the query has met poison.
  bool is_tainted(int64_t b, int64_t query) const {
    for (int64_t key = 0; key < keys; ++key)
      if (sees(b, query, key) && poison.at({b, key}) != 0) return true;
    return false;
  }

  /// Whether one of the queries that see the key has.
  bool meets_tainted(int64_t b, int64_t key) const {
    for (int64_t query = 0; query < queries; ++query)
      if (sees(b, query, key) && is_tainted(b, query)) return true;
    return false;
  }

  bool is_blind(int64_t b, int64_t query) const {
    for (int64_t key = 0; key < keys; ++key)
      if (sees(b, query, key)) return false;
    return true;
  }
};

double any_poison() {
  const double all[]{std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                     -std::numeric_limits<double>::infinity()};
  return all[any_between(0, 2)];
}

/// x (batch, rows, width) with poison in the rows for which is_poisoned(b, row).
template <class IsPoisoned>
Tensor poisoned(const Tensor& x, IsPoisoned is_poisoned) {
  Tensor result = x.clone();
  for (int64_t b = 0; b < x.size(0); ++b)
    for (int64_t row = 0; row < x.size(1); ++row)
      if (is_poisoned(b, row)) result.select(0, b).select(0, row).fill(any_poison());
  return result;
}

/// The rows of x (batch, rows, width) for which counts(b, row), zeros in place of the others.
template <class Counts>
Tensor rows_of(const Tensor& x, Counts counts) {
  Tensor result = zeros_like(x);
  for (int64_t b = 0; b < x.size(0); ++b)
    for (int64_t row = 0; row < x.size(1); ++row)
      if (counts(b, row)) result.select(0, b).select(0, row).copy_from(x.select(0, b).select(0, row));
  return result;
}

/// The output and the gradients of queries, keys and values.
template <class Attention>
std::vector<Tensor> run(Attention& attention, const std::vector<Tensor>& inputs, const Mask& mask,
                        bool create_graph) {
  Variables in;
  for (const Tensor& x : inputs) in.emplace_back(x, true);
  const Variables output{attention(in[0], in[1], in[2], mask)};
  const Variables upstream{random_tensor(output[0].shape(), 9)};
  std::vector<Tensor> all{output[0].data()};
  for (const Variable& slope :
       grad(output, in, upstream, {.create_graph = create_graph, .allow_unused = true}))
    all.push_back(slope.defined() ? slope.data() : zeros(in[all.size() - 1].shape()));
  return all;
}

template <class Attention>
void expect_hidden_from_each(Attention& attention) {
  const Setting s;
  const std::vector<Tensor> clean{random_tensor({s.batch, s.queries, kWidth}, 1),
                                  random_tensor({s.batch, s.keys, kWidth}, 2),
                                  random_tensor({s.batch, s.keys, kWidth}, 3)};
  const auto has_poison = [&](int64_t b, int64_t key) { return s.poison.at({b, key}) != 0; };
  const auto blind = [&](int64_t b, int64_t query) { return s.is_blind(b, query); };
  const std::vector<Tensor> dirty{poisoned(clean[0], blind), poisoned(clean[1], has_poison),
                                  poisoned(clean[2], has_poison)};
  const auto clean_query = [&](int64_t b, int64_t query) { return !s.is_tainted(b, query); };
  const auto clean_key = [&](int64_t b, int64_t key) { return !s.meets_tainted(b, key); };
  for (const bool create_graph : {false, true}) {
    const auto wanted = run(attention, clean, s.mask, create_graph);
    const auto got = run(attention, dirty, s.mask, create_graph);
    for (size_t i = 0; i < wanted.size(); ++i) {
      const auto rows = [&](const Tensor& x) {
        return i < 2 ? rows_of(x, clean_query) : rows_of(x, clean_key);
      };
      const auto result = close(rows(got[i]), rows(wanted[i]), kF32);
      if (!result) RC_FAIL(fmt::format("{} {}: {}", typeid(attention).name(), i, result.message()));
    }
  }
}

}  // namespace

TEST(HiddenPairs, reach_nothing_through_pooling_with_any_score) {
  nn::AttentionPooling<nn::UniformScore> uniform;
  nn::AttentionPooling<nn::KeyScore> key({.score = {.key_width = kWidth}});
  nn::AttentionPooling<nn::GaussianScore> gaussian({.score = {.learnable = true}});
  nn::AttentionPooling<nn::DotScore> dot;
  nn::AttentionPooling<nn::BilinearScore> bilinear({.score = {.query_width = kWidth, .key_width = kWidth}});
  nn::AttentionPooling<nn::AdditiveScore> additive(
      {.score = {.query_width = kWidth, .key_width = kWidth, .hidden = 3}});
  nn::MaxPooling largest;
  EXPECT_TRUE(rc::check([&] {
    expect_hidden_from_each(uniform);
    expect_hidden_from_each(key);
    expect_hidden_from_each(gaussian);
    expect_hidden_from_each(dot);
    expect_hidden_from_each(bilinear);
    expect_hidden_from_each(additive);
    expect_hidden_from_each(largest);
  }));
}

TEST(HiddenPairs, reach_nothing_through_heads_with_any_score) {
  const auto heads = [](nn::ScoreChoice score) {
    return nn::MultiHeadAttention({.width = kWidth, .heads = 2, .score = std::move(score)});
  };
  auto additive = heads(nn::each_head<nn::AdditiveScore>({.hidden = 3}));
  auto gaussian = heads(nn::each_head<nn::GaussianScore>({.learnable = true}));
  auto bilinear = heads(nn::each_head<nn::BilinearScore>());
  EXPECT_TRUE(rc::check([&] {
    expect_hidden_from_each(additive);
    expect_hidden_from_each(gaussian);
    expect_hidden_from_each(bilinear);
  }));
}

TEST(HiddenPairs, reach_nothing_through_attention) {
  nn::DotProductAttention dot;
  nn::AdditiveAttention additive({.query_width = kWidth, .key_width = kWidth, .hidden = 3});
  nn::MultiHeadAttention heads({.width = kWidth, .heads = 2});
  EXPECT_TRUE(rc::check([&] {
    expect_hidden_from_each(dot);
    expect_hidden_from_each(additive);
    expect_hidden_from_each(heads);
  }));
}
