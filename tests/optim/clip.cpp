#include <heed/optim/clip.h>

#include <cmath>
#include <limits>

#include <heed/autograd/ops/reduce.h>

#include "tests/optim/helpers.h"

using namespace heed;
using namespace heed::test;

namespace {

Variable f32_gradient(const NestedList& gradient) {
  const Tensor numbers = tensor_of(gradient);
  return with_grad(zeros(numbers.shape()), numbers);
}

}  // namespace

TEST(ClipGradNorm, matches_pytorch) {
  for (const auto& [name, limit] : std::map<std::string, double>{{"clip", 0.5}, {"clip_not", 100}})
    for (const DType dtype : {DType::f32, DType::f64}) {
      const LayerFixture fixture = load_fixture("optim.safetensors", name);
      Variables parameters;
      for (const Tensor& gradient : fixture.upstreams)
        parameters.push_back(with_grad(zeros(gradient.shape(), dtype), gradient.to(dtype).clone()));
      EXPECT_NEAR(optim::clip_grad_norm(parameters, limit), fixture.outputs[0].item(), 1e-9);
      // PyTorch divides by norm + 1e-6.
      const double ratio = name == "clip" ? 1 + 1e-6 / fixture.outputs[0].item() : 1;
      for (size_t i = 0; i < parameters.size(); ++i)
        EXPECT_TRUE(close((parameters[i].grad() / ratio).data(), fixture.outputs[i + 1],
                          dtype == DType::f64 ? kF64 : kF32));
    }
}

TEST(ClipGradNorm, leaves_a_smaller_norm_as_it_is) {
  const Variables parameters{f32_gradient({3, 4})};
  EXPECT_EQ(optim::clip_grad_norm(parameters, 5), 5);
  EXPECT_TRUE(close(parameters[0].grad().data(), {3, 4}, kExact));
  EXPECT_EQ(optim::clip_grad_norm(parameters, std::numeric_limits<double>::infinity()), 5);
  EXPECT_TRUE(close(parameters[0].grad().data(), {3, 4}, kExact));
}

TEST(ClipGradNorm, scales_a_gradient_that_others_hold_for_its_parameter_only) {
  Variable a(zeros({2}), true), b(zeros({2}), true);
  const Variable shared(tensor_of({3, 4}));
  a.set_grad(shared);
  b.set_grad(shared);
  EXPECT_NEAR(optim::clip_grad_norm(Variables{a, b}, std::sqrt(0.5)), std::sqrt(50), 1e-12);
  for (const Variable& parameter : {a, b}) EXPECT_TRUE(close(parameter.grad().data(), {0.3, 0.4}, kF32));
  EXPECT_TRUE(close(shared.data(), {3, 4}, kExact));
}

TEST(ClipGradNorm, scales_gradients_of_a_recorded_backward_once_each) {
  const Variable a(ones({4}), true), b(ones({4}), true), weight(full({4}, 3));
  ((a + b) * weight).sum().backward({.create_graph = true});
  EXPECT_NEAR(optim::clip_grad_norm(Variables{a, b}, 1), std::sqrt(72), 1e-12);
  for (const Variable& parameter : {a, b})
    EXPECT_TRUE(close(parameter.grad().data(), full({4}, 3 / std::sqrt(72)), kF32));
  EXPECT_TRUE(close(weight.data(), full({4}, 3), kExact));
}

TEST(ClipGradNorm, scales_an_expanded_gradient) {
  Variable parameter(zeros({2, 2}), true);
  parameter.set_grad(Variable(tensor_of({{3}}).expand({2, 2})));
  EXPECT_EQ(optim::clip_grad_norm(Variables{parameter}, 3), 6);
  EXPECT_TRUE(close(parameter.grad().data(), full({2, 2}, 1.5), kExact));
}

TEST(ClipGradNorm, names_the_first_parameter_whose_gradient_is_not_finite) {
  const double infinity = std::numeric_limits<double>::infinity();
  const NamedVariables parameters{{"a", f32_gradient({1, 2})},
                                  {"unused", Variable(ones({2}), true)},
                                  {"b", f32_gradient({1, infinity})},
                                  {"c", f32_gradient({NAN})}};
  expect_error<ValueError>([&] { optim::clip_grad_norm(parameters, 1, {.error_if_nonfinite = true}); },
                           "[clip_grad_norm] the gradients' norm is nan: first in \"b\"");
  EXPECT_TRUE(close(parameters[0].second.grad().data(), {1, 2}, kExact));
  EXPECT_TRUE(close(parameters[2].second.grad().data(), {1, infinity}, kExact));
  EXPECT_TRUE(std::isnan(optim::clip_grad_norm(parameters, 1, {})));
  const NamedVariables finite{{"a", f32_gradient({3})}, {"b", f32_gradient({4})}};
  EXPECT_EQ(optim::clip_grad_norm(finite, 2.5, {.error_if_nonfinite = true}), 5);
  EXPECT_TRUE(close(finite[0].second.grad().data(), {1.5}, kF32));
}

TEST(ClipGradNorm, is_an_error_if_only_all_gradients_together_are_beyond_all_numbers) {
  const auto large = [] { return with_grad(zeros({1}, DType::f64), full({1}, 1.2e154, DType::f64)); };
  const NamedVariables parameters{{"a", large()}, {"b", large()}};
  expect_error<ValueError>([&] { optim::clip_grad_norm(parameters, 1, {.error_if_nonfinite = true}); },
                           "[clip_grad_norm] the gradients' norm is inf");
}

TEST(ClipGradValue, limits_each_element) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Variable a = f32_gradient({-1e30, -0.5, 0, 0.25, infinity}), b = f32_gradient({NAN, 2}),
                 unused(ones({2}), true);
  optim::clip_grad_value(Variables{a, b, unused, a}, 0.5);
  EXPECT_TRUE(close(a.grad().data(), {-0.5, -0.5, 0, 0.25, 0.5}, kExact));
  EXPECT_TRUE(std::isnan(b.grad().data().at({0})));
  EXPECT_EQ(b.grad().data().at({1}), 0.5);
  EXPECT_FALSE(unused.grad().defined());
  optim::clip_grad_value({}, 1);
}

TEST(ClipGradValue, leaves_what_others_hold_as_it_is) {
  Variable a(zeros({2}), true), expanded(zeros({2, 2}), true);
  const Variable shared(tensor_of({3, -4}));
  a.set_grad(shared);
  expanded.set_grad(Variable(tensor_of({{3}}).expand({2, 2})));
  optim::clip_grad_value(Variables{a, expanded}, 1);
  EXPECT_TRUE(close(a.grad().data(), {1, -1}, kExact));
  EXPECT_TRUE(close(expanded.grad().data(), {1, 1, 1, 1}, kExact));
  EXPECT_TRUE(close(shared.data(), {3, -4}, kExact));
}

TEST(ClipGradValue, wants_a_limit_above_zero) {
  const Variables parameters{f32_gradient({3, 4})};
  for (const double limit : {-1.0, 0.0, static_cast<double>(NAN)})
    expect_error<ValueError>([&] { optim::clip_grad_value(parameters, limit); },
                             fmt::format("[clip_grad_value] wanted a limit above 0, came {}", limit));
  EXPECT_TRUE(close(parameters[0].grad().data(), {3, 4}, kExact));
}

TEST(case_C25, a_large_gradients_do_not_overflow) {
  const Variables parameters{f32_gradient({1e20, 1e20, 1e20, 1e20})};
  EXPECT_NEAR(optim::clip_grad_norm(parameters, 1) / 2e20, 1, 1e-6);
  EXPECT_TRUE(close(parameters[0].grad().data(), {0.5, 0.5, 0.5, 0.5}, kF32));
  const Variables larger{f32_gradient({1e30, 1e30, 1e30, 1e30})};
  EXPECT_NEAR(optim::clip_grad_norm(larger, 1) / 2e30, 1, 1e-6);
  EXPECT_TRUE(close(larger[0].grad().data(), {0.5, 0.5, 0.5, 0.5}, kF32));
}

TEST(case_C25, b_a_norm_that_is_not_finite_is_reported_and_changes_nothing) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Variables parameters{f32_gradient({1, infinity, 0, 0}), f32_gradient({2})};
  EXPECT_EQ(optim::clip_grad_norm(parameters, 1), infinity);
  EXPECT_TRUE(close(parameters[0].grad().data(), {1, infinity, 0, 0}, kExact));
  EXPECT_TRUE(close(parameters[1].grad().data(), {2}, kExact));
  const Variables unknown{f32_gradient({1, NAN})};
  EXPECT_TRUE(std::isnan(optim::clip_grad_norm(unknown, 1)));
  EXPECT_EQ(unknown[0].grad().data().at({0}), 1);
}

TEST(case_C25, c_a_limit_must_be_above_zero) {
  const Variables parameters{f32_gradient({3, 4})};
  for (const double limit : {-1.0, 0.0})
    expect_error<ValueError>([&] { optim::clip_grad_norm(parameters, limit); },
                             fmt::format("[clip_grad_norm] wanted a limit above 0, came {}", limit));
  expect_error<ValueError>([&] { optim::clip_grad_norm(parameters, NAN); }, "came nan");
  EXPECT_TRUE(close(parameters[0].grad().data(), {3, 4}, kExact));
}

TEST(case_C25, d_the_norm_is_that_of_all_gradients) {
  const Variables parameters{f32_gradient({3, 4}), f32_gradient({12})};
  EXPECT_EQ(optim::clip_grad_norm(parameters, 6.5), 13);
  EXPECT_TRUE(close(parameters[0].grad().data(), {1.5, 2}, kF32));
  EXPECT_TRUE(close(parameters[1].grad().data(), {6}, kF32));
}

TEST(case_C25, e_without_any_gradient_the_norm_is_zero) {
  const Variables parameters{Variable(ones({2}), true)};
  EXPECT_EQ(optim::clip_grad_norm(parameters, 1), 0);
  EXPECT_FALSE(parameters[0].grad().defined());
  EXPECT_EQ(optim::clip_grad_norm({}, 1), 0);
}

TEST(case_C25, f_a_parameter_given_twice_counts_once) {
  const Variable parameter = f32_gradient({3, 4});
  EXPECT_EQ(optim::clip_grad_norm(Variables{parameter, parameter}, 2.5), 5);
  EXPECT_TRUE(close(parameter.grad().data(), {1.5, 2}, kF32));
}
