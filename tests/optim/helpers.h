#pragma once

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

}  // namespace heed::test
