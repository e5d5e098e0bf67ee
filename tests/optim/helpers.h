#pragma once

#include <memory>

#include <heed/optim/adam.h>

#include "tests/nn/helpers.h"

/// What the tests of optimizers share.
namespace heed::test {

/// Parameters under the names p0, p1, ...
inline NamedVariables named(const Variables& parameters) {
  NamedVariables result;
  for (size_t i = 0; i < parameters.size(); ++i) result.emplace_back("p" + std::to_string(i), parameters[i]);
  return result;
}

/// A parameter whose gradient has been found.
inline Variable with_grad(const Tensor& value, const Tensor& gradient) {
  Variable parameter(value, true);
  parameter.set_grad(gradient);
  return parameter;
}

/// Twenty steps along PyTorch's gradients; the parameters p0, p1, ... are compared after each.
/// make(parameters) gives a std::unique_ptr<Optimizer>.
template <class Make>
void expect_steps_like_pytorch(const std::string& file, const std::string& name, Make&& make) {
  const LayerFixture fixture = load_fixture(file, name);
  for (const DType dtype : {DType::f32, DType::f64}) {
    Variables parameters;
    for (const Tensor& value : fixture.inputs) parameters.emplace_back(value.to(dtype).clone(), true);
    const std::unique_ptr<optim::Optimizer> optimizer = make(named(parameters));
    for (int64_t step = 0; step < 20; ++step) {
      for (size_t i = 0; i < parameters.size(); ++i)
        parameters[i].set_grad(fixture.upstreams[i].select(0, step).to(dtype));
      optimizer->step();
      for (size_t i = 0; i < parameters.size(); ++i)
        EXPECT_TRUE(close(parameters[i].data(), fixture.outputs[i].select(0, step),
                          dtype == DType::f64 ? kF64 : kF32))
            << "  " << name << " after step " << step + 1;
    }
  }
}

template <class O, class Options>
void expect_like_pytorch(const std::string& name, const Options& options,
                         const std::string& file = "optimizers.safetensors") {
  expect_steps_like_pytorch(
      file, name, [&](const NamedVariables& parameters) { return std::make_unique<O>(parameters, options); });
}

}  // namespace heed::test
