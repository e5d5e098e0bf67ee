#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <heed/autograd/grad_mode.h>
#include <heed/nn/module.h>
#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/files/safetensors.h>
#include <heed/tensor/kernels/reduce.h>
#include <heed/tensor/random.h>

#include "tests/ops/close.h"
#include "tests/support/paths.h"
#include "tests/tensor/helpers.h"

/// What the tests of layers and optimizers share.
namespace heed::test {

using Variables = std::vector<Variable>;
using StateDict = std::map<std::string, Tensor>;

/// What PyTorch computed for a layer: floats in f64, whatever the layer works in.
struct LayerFixture {
  std::vector<Tensor> inputs, args, outputs, upstreams, grads;
  StateDict state, state_grads;
};

inline LayerFixture load_fixture(const std::string& file_name, const std::string& name) {
  const auto file = load_safetensors(fixture_path(file_name));
  const auto list = [&](const char* kind) {
    std::vector<Tensor> tensors;
    for (auto found = file.tensors.end();; tensors.push_back(found->second)) {
      found = file.tensors.find(fmt::format("{}/{}{}", name, kind, tensors.size()));
      if (found == file.tensors.end()) return tensors;
    }
  };
  const auto named = [&](const std::string& kind) {
    const std::string prefix = name + "/" + kind + "/";
    StateDict tensors;
    for (const auto& [key, tensor] : file.tensors)
      if (key.starts_with(prefix)) tensors.emplace(key.substr(prefix.size()), tensor);
    return tensors;
  };
  LayerFixture fixture{list("in"),   list("arg"),    list("out"),        list("upstream"),
                       list("grad"), named("state"), named("state_grad")};
  if (fixture.outputs.empty()) raise<FileError>("[fixtures] there is no case {} in {}", name, file_name);
  return fixture;
}

inline Tensor f32(const Tensor& x) { return x.to(DType::f32); }

inline std::vector<Tensor> all_f32(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> result;
  for (const Tensor& x : tensors) result.push_back(f32(x));
  return result;
}

inline StateDict all_f32(const StateDict& state) {
  StateDict result;
  for (const auto& [name, x] : state) result.emplace(name, f32(x));
  return result;
}

/// A gradient of a parameter is a sum over all places, whose terms may cancel: its rounding error goes with
/// the largest of its elements rather than with each one.
inline Tolerance f32_sum_tolerance(const Tensor& wanted) {
  double largest = 0;
  for (double value : wanted.to_vector<double>()) largest = std::max(largest, std::abs(value));
  return {.relative = kF32.relative, .absolute = kF32.absolute + kF32.relative * largest};
}

inline Variables f32_leaves(const std::vector<Tensor>& tensors) {
  Variables result;
  for (const Tensor& x : tensors) result.emplace_back(f32(x), true);
  return result;
}

/// Every parameter's gradient against PyTorch's, which has exactly these names.
inline void expect_parameter_grads(const nn::Module& module, const StateDict& wanted) {
  size_t count = 0;
  for (const auto& [name, parameter] : module.named_parameters()) {
    ASSERT_TRUE(wanted.contains(name)) << name;
    ASSERT_TRUE(parameter.grad().defined()) << name;
    EXPECT_TRUE(close(parameter.grad().data(), wanted.at(name), f32_sum_tolerance(wanted.at(name))))
        << "  in the gradient of " << name;
    ++count;
  }
  EXPECT_EQ(count, wanted.size());
}

/// Every parameter must have a gradient without infinities and NaN.
inline void expect_finite_grads(const nn::Module& module) {
  for (const auto& [name, parameter] : module.named_parameters()) {
    ASSERT_TRUE(parameter.grad().defined()) << name;
    EXPECT_TRUE(kernels::all_finite(parameter.grad().data())) << name;
  }
}

/// Loads PyTorch's weights into the module and compares outputs and all gradients, in f32.
/// run(inputs, args) gives the outputs.
template <class Run>
void expect_like_pytorch(nn::Module& module, const std::string& name, Run&& run) {
  const LayerFixture fixture = load_fixture("nn.safetensors", name);
  module.load_state_dict(all_f32(fixture.state));
  const Variables inputs = f32_leaves(fixture.inputs), outputs = run(inputs, fixture.args);
  ASSERT_EQ(outputs.size(), fixture.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_EQ(outputs[i].dtype(), DType::f32);
    EXPECT_TRUE(close(outputs[i].data(), fixture.outputs[i], kF32)) << "  in output " << i;
    outputs[i].backward(f32(fixture.upstreams[i]), {.retain_graph = true});
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    EXPECT_TRUE(close(inputs[i].grad().data(), fixture.grads[i], kF32)) << "  in the gradient of input " << i;
  expect_parameter_grads(module, fixture.state_grads);
}

/// Gradients of a module against central differences, in f64: of the inputs that require one and of every
/// parameter, within what gradcheck allows. run() gives the outputs, which are weighted by fixed numbers so
/// that each counts.
template <class Run>
void expect_gradients(nn::Module& module, const Variables& inputs, Run&& run) {
  const auto total = [&] {
    Generator generator(7);
    Variable sum = scalar(0, DType::f64);
    for (const Variable& output : Variables(run()))
      sum += (output * rand_uniform(output.shape(), 0.5, 1.5, DType::f64, generator)).sum();
    return sum;
  };
  NamedVariables leaves = module.named_parameters();
  for (const Variable& input : inputs)
    if (input.requires_grad()) leaves.emplace_back("an input", input);
  for (auto& [name, leaf] : leaves) leaf.zero_grad();
  total().backward();
  for (const auto& [name, leaf] : leaves) {
    ASSERT_EQ(leaf.dtype(), DType::f64) << name;
    const Tensor analytic = leaf.grad().defined() ? leaf.grad().data().contiguous() : zeros_like(leaf.data());
    Tensor moved = leaf.data();
    const int64_t stride = 1 + moved.numel() / 40;
    for (int64_t i = 0; i < moved.numel(); i += stride) {
      const NoGrad guard;
      constexpr double kStep = 1e-5;
      const double before = moved.data<double>()[i];
      moved.mutable_data<double>()[i] = before + kStep;
      const double above = total().item();
      moved.mutable_data<double>()[i] = before - kStep;
      const double below = total().item();
      moved.mutable_data<double>()[i] = before;
      const double numeric = (above - below) / (2 * kStep);
      EXPECT_NEAR(analytic.data<double>()[i], numeric, 1e-6 * (1 + std::abs(numeric)))
          << name << ", element " << i;
    }
  }
}

/// Uniform in [-1, 1), the same numbers for the same seed.
inline Tensor random_tensor(const Shape& shape, uint64_t seed = 1) {
  Generator generator(seed);
  return rand_uniform(shape, -1, 1, DType::f32, generator);
}

inline Variable f64_leaf(const Shape& shape, uint64_t seed = 1) {
  return {random_tensor(shape, seed).to(DType::f64), true};
}

inline Tensor ids(const NestedList& values) { return tensor_of(values, DType::i64); }

/// True if both have the same names and under each the same bits.
inline bool same_numbers(const StateDict& a, const StateDict& b) {
  return std::ranges::equal(
      a, b, [](const auto& x, const auto& y) { return x.first == y.first && identical(x.second, y.second); });
}

/// Slices of an axis in another order.
inline Tensor reordered(const Tensor& x, int64_t axis, const std::vector<int64_t>& order) {
  Tensor result = Tensor::empty(x.shape(), x.dtype());
  for (size_t i = 0; i < order.size(); ++i)
    result.select(axis, static_cast<int64_t>(i)).copy_from(x.select(axis, order[i]));
  return result;
}

/// A copy of x with `value` in [begin, end) of an axis.
inline Tensor filled(const Tensor& x, int64_t axis, int64_t begin, int64_t end, double value) {
  Tensor result = x.clone();
  result.slice(axis, begin, end).fill(value);
  return result;
}

inline std::vector<std::string> names_of(const NamedVariables& parameters) {
  std::vector<std::string> names;
  for (const auto& [name, value] : parameters) names.push_back(name);
  return names;
}

}  // namespace heed::test
