#include <functional>

#include <heed/autograd/ops.h>
#include <heed/tensor/storage.h>

#include "tests/ops/close.h"
#include "tests/tensor/helpers.h"

/// What a graph keeps: edits are caught, and memory goes back as soon as it was used.
namespace heed::test {
namespace {

using Variables = std::vector<Variable>;

void edit(const Tensor& tensor) {
  Tensor handle = tensor;
  handle.fill(handle.dtype() == DType::boolean ? 0 : 1);
}

TEST(case_C13, an_edit_of_a_saved_value_is_an_error_that_names_the_op) {
  const Variable a(tensor_of({3}), true);
  const Variable x = a * 1, y = x * x;
  Tensor numbers = x.data();
  numbers.set({0}, 4);
  expect_error<GraphError>([&] { sum(y).backward(); },
                           "[backward of mul] a saved value was edited in place after the op ran: f32(1,)");
  EXPECT_FALSE(a.grad().defined());
}

TEST(case_C13, an_edit_through_a_view_is_seen) {
  for (const bool sliced : {false, true}) {
    const Variable a(tensor_of({{3, 3}, {3, 3}}), true);
    const Variable x = a * 1, view = sliced ? x.slice(0, 0, 1) : x.transpose(0, 1);
    const Variable y = view * x;
    Tensor numbers = x.data().select(0, 1);  // another view again
    numbers.fill(4);
    expect_error<GraphError>([&] { sum(y).backward(); },
                             "[backward of mul] a saved value was edited in place");
  }
}

TEST(case_C13, an_expanded_tensor_cannot_be_written) {
  const Tensor t = tensor_of({{1}});
  Tensor wide = t.expand({4, 5});
  EXPECT_THROW(wide.mutable_data<float>(), ValueError);
  EXPECT_THROW(wide.fill(2), ValueError);
  EXPECT_EQ(t.at({0, 0}), 1);
}

/// An op, what it is given, and which of that is edited afterwards.
struct Edited {
  const char* name;
  std::function<Variables(const Variable&, const Tensor&)> run;  // of x (2, 3) and a tensor without gradient
  Tensor other = {};
};

Variable attention_with(const Variable& x, AttentionOptions options) {
  const Variable sequence = x.unsqueeze(0);  // (1, 2, 3)
  return attention(sequence, sequence, sequence, options).output;
}

/// Ops whose backward reads x.
std::vector<Edited> ops_that_save_their_input() {
  using V = const Variable&;
  using T = const Tensor&;
  return {
      {"mul", [](V x, T) { return Variables{x * x}; }},
      {"div", [](V x, T) { return Variables{x / x}; }},
      {"pow", [](V x, T) { return Variables{x.pow(3)}; }},
      {"log", [](V x, T) { return Variables{x.log()}; }},
      {"relu", [](V x, T) { return Variables{x.relu()}; }},
      {"matmul", [](V x, T) { return Variables{x.matmul(x.transpose(0, 1))}; }},
      {"linear", [](V x, T) { return Variables{linear(x, x)}; }},
      {"layer_norm", [](V x, T) { return Variables{layer_norm(x, ones({3}), zeros({3}))}; }},
      {"cross_entropy", [](V x, T) { return Variables{cross_entropy_losses(x, zeros({2}, DType::i64))}; }},
      {"attention", [](V x, T) { return Variables{attention_with(x, {})}; }},
      {"additive_score",
       [](V x, T) { return Variables{additive_score(x.unsqueeze(0), x.unsqueeze(0), ones({3}))}; }},
      {"gru_cell",
       [](V x, T) {
         return Variables{gru_cell(zeros({2, 9}), zeros({2, 9}), x)};
       }},
  };
}

/// Ops whose backward reads their own result.
std::vector<Edited> ops_that_save_their_output() {
  using V = const Variable&;
  using T = const Tensor&;
  return {
      {"exp", [](V x, T) { return Variables{x.exp()}; }},
      {"sqrt", [](V x, T) { return Variables{x.sqrt()}; }},
      {"tanh", [](V x, T) { return Variables{x.tanh()}; }},
      {"sigmoid", [](V x, T) { return Variables{x.sigmoid()}; }},
      {"softmax", [](V x, T) { return Variables{x.softmax(-1)}; }},
      {"log_softmax", [](V x, T) { return Variables{log_softmax(x, -1)}; }},
      {"masked_softmax", [](V x, T) { return Variables{masked_softmax(x.unsqueeze(0), {})}; }},
  };
}

/// Ops whose backward reads a mask, ids or targets.
std::vector<Edited> ops_that_save_a_constant() {
  using V = const Variable&;
  using T = const Tensor&;
  const Tensor pairs = ones({1, 1, 2, 2}, DType::boolean);
  return {
      {"masked_fill", [](V x, T t) { return Variables{masked_fill(x, t, 0)}; }, ones({2, 3}, DType::boolean)},
      {"dropout", [](V x, T t) { return Variables{dropout_with_mask(x, t, 0.5)}; },
       ones({2, 3}, DType::boolean)},
      {"embedding", [](V x, T t) { return Variables{embedding(x, t)}; }, zeros({4}, DType::i64)},
      {"cross_entropy", [](V x, T t) { return Variables{cross_entropy_losses(x, t)}; },
       zeros({2}, DType::i64)},
      {"attention", [](V x, T t) { return Variables{attention_with(x, {.mask = {.lengths = t}})}; },
       full({1}, 2, DType::i64)},
      {"attention", [](V x, T t) { return Variables{attention_with(x, {.mask = {.keep = t}})}; },
       pairs.clone()},
      {"attention", [](V x, T t) { return Variables{attention_with(x, {.mask = {.bias = t}})}; },
       zeros({1, 1, 2, 2})},
      {"attention",
       [](V x, T t) { return Variables{attention_with(x, {.dropout_keep = t, .dropout = 0.5})}; },
       pairs.clone()},
  };
}

enum class What { input, output, other };

void expect_caught(const Edited& op, What what) {
  for (const bool create_graph : {false, true}) {
    const Variable leaf(tensor_of({{1, 2, 3}, {4, 5, 7}}), true);
    const Variable x = leaf * 1;
    const Variable y = op.run(x, op.other)[0];
    edit(what == What::input ? x.data() : what == What::output ? y.data() : op.other);
    expect_error<GraphError>([&] { y.backward(ones(y.shape()), {.create_graph = create_graph}); },
                             fmt::format("[backward of {}]", op.name));
    EXPECT_FALSE(leaf.grad().defined()) << op.name;
  }
}

TEST(case_C13, every_op_that_reads_its_input_sees_the_edit) {
  for (const Edited& op : ops_that_save_their_input()) expect_caught(op, What::input);
}

TEST(case_C13, every_op_that_reads_its_result_sees_the_edit) {
  for (const Edited& op : ops_that_save_their_output()) expect_caught(op, What::output);
}

TEST(case_C13, every_op_that_reads_a_mask_or_ids_sees_the_edit) {
  for (const Edited& op : ops_that_save_a_constant()) expect_caught(op, What::other);
}

TEST(saved, what_no_derivative_needs_may_be_edited) {
  const Variable leaf(tensor_of({{1, 2}, {3, 4}}), true);
  const Variable x = leaf * 1;
  const Variable y = sum((x + x - 3).transpose(0, 1).reshape({4}).slice(0, 1, 3));
  edit(x.data());
  y.backward();
  EXPECT_TRUE(close(leaf.grad().data(), {0, 2, 2, 0}, kExact));
}

TEST(saved, a_factor_is_kept_only_for_the_sake_of_the_other) {
  const Variable x(tensor_of({2}), true);
  Tensor factor = tensor_of({5});
  const Variable y = x * factor;
  edit(x.data());  // only the factor has no gradient, so x is not read again
  y.backward(ones({1}));
  EXPECT_EQ(x.grad().item(), 5);
}

TEST(saved, second_derivatives_see_edits_too) {
  const Variable x(tensor_of({1, 2}, DType::f64), true);
  const Variable inner = x * 1, y = sum(inner.relu().pow(2));
  const Variable slope = sum(grad({&y, 1}, {&x, 1}, {}, {.create_graph = true})[0]);
  edit(inner.data());
  EXPECT_THROW(slope.backward(), GraphError);
}

TEST(saved, values_go_back_as_soon_as_backward_has_used_them) {
  constexpr int64_t kCount = 1 << 18, kBytes = kCount * 4, kSteps = 20;
  const Variable x(full({kCount}, 0.5), true);
  const int64_t before = memory_stats().current;
  Variable y = x;
  for (int64_t i = 0; i < kSteps; ++i) y = y.exp().log();
  const Variable loss = sum(y);
  y = {};
  const int64_t forward = memory_stats().current - before;
  EXPECT_GE(forward, kSteps * kBytes);
  reset_peak_memory();
  loss.backward();
  // the walk frees what it passes: no gradient of every step is ever there beside every saved value
  EXPECT_LE(memory_stats().peak - before, forward + 4 * kBytes);
  EXPECT_LE(memory_stats().current - before, 2 * kBytes) << "only the gradient of x and the loss are left";
}

TEST(saved, nothing_is_kept_where_no_gradient_is_wanted) {
  constexpr int64_t kCount = 1 << 18, kBytes = kCount * 4;
  const int64_t before = memory_stats().current;
  Variable y = full({kCount}, 0.5);
  for (int i = 0; i < 20; ++i) y = y.exp().log();
  EXPECT_LE(memory_stats().current - before, kBytes);
}

}  // namespace
}  // namespace heed::test
