#include <cmath>
#include <limits>

#include "tests/ops/op_case.h"

namespace heed::test {
namespace {

/// The formula, target by target, from log_softmax and sums alone.
Variable composed_losses(const Variable& logits, const Tensor& targets, const CrossEntropyOptions& options) {
  const int64_t classes = logits.size(-1), rows = targets.numel();
  const Variable logs = log_softmax(logits.reshape({rows, classes}), -1);
  Variables losses;
  const auto all = targets.to_vector<int64_t>();
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t target = all[static_cast<size_t>(row)];
    const Variable line = logs.select(0, row);
    losses.push_back(target == options.ignore_index ? sum(line) * 0
                                                    : (options.label_smoothing - 1) * line.select(0, target) -
                                                          options.label_smoothing * mean(line));
  }
  return stack(losses, 0).reshape(targets.shape());
}

OpCase mean_case(const std::string& name, const CrossEntropyOptions& options,
                 std::vector<Variant> small = {}) {
  return {name, [options](In x, Args a) { return Variables{cross_entropy(x[0], a[0], options)}; },
          [options](In x, Args a) {
            int64_t counted = 0;
            for (const int64_t target : a[0].to_vector<int64_t>()) counted += target != options.ignore_index;
            return Variables{sum(composed_losses(x[0], a[0], options)) / static_cast<double>(counted)};
          },
          std::move(small)};
}

std::vector<OpCase> cases() {
  const std::vector<Variant> small{{{{1, 1}}, {zeros({1}, DType::i64)}},
                                   {{{2}}, {scalar(1, DType::i64)}},
                                   {{{0, 3}}, {zeros({0}, DType::i64)}},
                                   {{{2, 3}}, {full({2}, -100, DType::i64)}},
                                   {{{2, 0}}, {full({2}, -100, DType::i64)}}};
  return {
      mean_case("cross_entropy", {}, small),
      mean_case("cross_entropy_ignore", {}),
      mean_case("cross_entropy_ignore_a_class", {.ignore_index = 2}),
      mean_case("cross_entropy_smoothing", {.label_smoothing = 0.1}, small),
      mean_case("cross_entropy_smoothing_ignore", {.label_smoothing = 0.1}),
      {"cross_entropy_losses",
       [](In x, Args a) { return Variables{cross_entropy_losses(x[0], a[0])}; },
       [](In x, Args a) { return Variables{composed_losses(x[0], a[0], {})}; },
       {},
       {{{{3, 67}}, {tensor_of({66, -100, 5}, DType::i64)}}}},
  };
}

INSTANTIATE_TEST_SUITE_P(cross_entropy, OpTest, op_cases(cases(), {{{512, 2000}}, {{{512}, 2000}}}),
                         case_name);

TEST(case_C09, nothing_but_ignored_targets_gives_zero_and_no_gradient) {
  const Variable logits(tensor_of({{1, 2, 3}, {0, 0, 0}}), true);
  const Variable loss = cross_entropy(logits, tensor_of({-100, -100}, DType::i64));
  EXPECT_EQ(loss.item(), 0);
  loss.backward();
  EXPECT_TRUE(close(logits.grad().data(), {0, 0, 0, 0, 0, 0}, kExact));
}

TEST(case_C09, the_mean_is_over_the_targets_that_count) {
  const Variable logits(tensor_of({{1, 2, 3}, {0, 0, 0}}), true);
  const Variable loss = cross_entropy(logits, tensor_of({2, -100}, DType::i64));
  EXPECT_NEAR(loss.item(), 0.40760596, 1e-6);
  loss.backward();
  EXPECT_TRUE(close(logits.grad().data(), {0.09003057, 0.24472847, -0.33475904, 0, 0, 0}, kF32));
}

TEST(case_C09, targets_outside_the_classes_are_named) {
  const Variable logits = zeros({2, 3});
  expect_error<IndexError>(
      [&] {
        return cross_entropy(logits, tensor_of({0, 3}, DType::i64));
      },
      "[cross_entropy] target 3 is outside the 3 classes");
  expect_error<IndexError>(
      [&] {
        return cross_entropy(logits, tensor_of({-4, 0}, DType::i64), {.ignore_index = -1});
      },
      "[cross_entropy] target -4 is outside the 3 classes and is not the ignore index -1");
}

TEST(case_C09, the_ignore_index_may_be_a_class) {
  const Variable logits(tensor_of({{1, 2, 3}, {1, 2, 3}}), true);
  const Variable loss = cross_entropy(logits, tensor_of({1, 2}, DType::i64), {.ignore_index = 1});
  EXPECT_NEAR(loss.item(), 0.40760596, 1e-6);  // of one target
  loss.backward();
  EXPECT_TRUE(close(logits.grad().data(), {0, 0, 0, 0.09003057, 0.24472847, -0.33475904}, kF32));
}

TEST(cross_entropy, shapes_and_options_that_do_not_fit_are_named) {
  const Variable logits = zeros({2, 3});
  expect_error<ShapeError>(
      [&] { return cross_entropy(logits, zeros({3}, DType::i64)); },
      "[cross_entropy] wanted logits (..., classes) and targets (...), came (2, 3) and (3,)");
  expect_error<ShapeError>([&] { return cross_entropy(scalar(1), zeros({}, DType::i64)); }, "came () and ()");
  expect_error<DTypeError>([&] { return cross_entropy(logits, zeros({2})); },
                           "[cross_entropy] wanted i64 targets, came f32(2,)");
  expect_error<ValueError>(
      [&] { return cross_entropy(logits, zeros({2}, DType::i64), {.label_smoothing = 1.5}); },
      "[cross_entropy] wanted label smoothing in [0, 1], came 1.5");
}

TEST(cross_entropy, large_logits_do_not_overflow) {
  const Variable logits(tensor_of({{1e4, 0}, {0, 1e4}}), true);
  const Variable loss = cross_entropy(logits, tensor_of({0, 0}, DType::i64));
  EXPECT_EQ(loss.item(), 5000);
  loss.backward();
  EXPECT_TRUE(close(logits.grad().data(), {0, 0, -0.5, 0.5}, kExact));
}

TEST(cross_entropy, of_a_row_without_a_possible_class_is_infinite_and_its_gradient_a_number) {
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  const Tensor targets = tensor_of({1, 0}, DType::i64);
  for (const double smoothing : {0., 0.3}) {
    const Variable logits(tensor_of({{kHidden, kHidden, kHidden}, {1, 1, 1}}), true);
    const CrossEntropyOptions options{.label_smoothing = smoothing};
    const Variable losses = cross_entropy_losses(logits, targets, options);
    EXPECT_TRUE(close(losses.data(), {-kHidden, std::log(3)}, kF32));
    const double spread = smoothing / 3, peak = spread + 1 - smoothing;
    const std::vector<double> wanted{-spread,       -peak,           -spread,
                                     1. / 3 - peak, 1. / 3 - spread, 1. / 3 - spread};
    for (const bool create_graph : {false, true}) {
      const Variables outputs{losses}, in{logits}, upstream{Variable(ones({2}))};
      const auto slopes = grad(outputs, in, upstream, {.retain_graph = true, .create_graph = create_graph});
      EXPECT_TRUE(close(slopes[0].data(), wanted, kF32)) << create_graph;
    }
  }
}

TEST(cross_entropy, of_a_class_that_is_not_possible_is_infinite_and_of_another_it_is_not) {
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  const Variable logits(tensor_of({{kHidden, 0, 0}, {kHidden, 0, 0}}), true);
  const Variable losses = cross_entropy_losses(logits, tensor_of({0, 1}, DType::i64));
  EXPECT_TRUE(close(losses.data(), {-kHidden, std::log(2)}, kF32));
  losses.backward(ones({2}));
  EXPECT_TRUE(close(logits.grad().data(), {-1, 0.5, 0.5, 0, -0.5, 0.5}, kF32));
}

}  // namespace
}  // namespace heed::test
