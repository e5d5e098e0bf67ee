#include <heed/autograd/ops.h>
#include <heed/nn/attention.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;

/// A sequence as the columns of a matrix, as docs/conventions.md has it, against ours as rows. In f64, so
/// that nothing but the formula decides.
namespace {

constexpr int64_t kWidth = 6, kHeadWidth = 4, kLength = 5;
constexpr double kScale = 2;  // sqrt(head width)

Variable columns_of(const Variable& rows) { return rows.squeeze(0).transpose(0, 1); }

}  // namespace

TEST(Conventions, columns_and_rows_agree_with_all_gradients) {
  nn::SelfAttention attention({.width = kWidth, .head_width = kHeadWidth});
  attention.to(DType::f64);
  const auto state = attention.state_dict();
  const auto weight = [&](const std::string& name) {
    return Variable(state.at(name + "_proj.weight").clone(), true);
  };
  const Variable i = f64_leaf({kWidth, kLength}), w_q = weight("q"), w_k = weight("k"), w_v = weight("v");
  const Variable q = w_q.matmul(i), k = w_k.matmul(i), v = w_v.matmul(i);
  const Variable a = k.transpose(0, 1).matmul(q) / kScale;  // (keys, queries)
  const Variable weights = a.softmax(0), o = v.matmul(weights);

  const Variable x(i.data().transpose(0, 1).unsqueeze(0).clone(), true);
  const nn::Attended rows = attention.attend(x);
  EXPECT_TRUE(close(columns_of(rows.output).data(), o.data(), kF64));
  EXPECT_TRUE(close(columns_of(rows.weights).data(), weights.data(), kF64));

  const Variable upstream = f64_leaf({kHeadWidth, kLength}, 2).detach();
  (o * upstream).sum().backward();
  (columns_of(rows.output) * upstream).sum().backward();
  EXPECT_TRUE(close(columns_of(x.grad()).data(), i.grad().data(), kF64));
  const std::map<std::string, Variable> wanted{
      {"q_proj.weight", w_q.grad()}, {"k_proj.weight", w_k.grad()}, {"v_proj.weight", w_v.grad()}};
  for (const auto& [name, parameter] : attention.named_parameters())
    EXPECT_TRUE(close(parameter.grad().data(), wanted.at(name).data(), kF64)) << name;
}

// (batch, head_width) at each place, by a sum over the keys that is written out.
TEST(Conventions, each_output_is_the_sum_of_the_values_by_their_weights) {
  nn::SelfAttention attention({.width = kWidth, .head_width = kHeadWidth});
  attention.to(DType::f64);
  const auto state = attention.state_dict();
  const Variable x = f64_leaf({1, kLength, kWidth});
  const auto project = [&](const char* name, int64_t place) {  // W a, (head_width)
    return Variable(state.at(name)).matmul(x.select(1, place).squeeze(0).unsqueeze(1)).squeeze(1);
  };
  const Tensor whole = attention(x).data();
  for (int64_t i = 0; i < kLength; ++i) {
    Variable total = scalar(0, DType::f64), sum = zeros({kHeadWidth}, DType::f64);
    for (int64_t j = 0; j < kLength; ++j) {
      const Variable score = (project("q_proj.weight", i) * project("k_proj.weight", j)).sum() / kScale;
      total += exp(score);
      sum += exp(score) * project("v_proj.weight", j);
    }
    const Tensor wanted = (sum / total).unsqueeze(0).data();
    EXPECT_TRUE(close(attention.output_at(x, i).data(), wanted, kF64)) << i;
    EXPECT_TRUE(close(whole.select(1, i), wanted, kF64)) << i;
  }
}
