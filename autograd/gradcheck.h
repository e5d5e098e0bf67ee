#pragma once

#include <functional>
#include <string>

#include <heed/autograd/variable.h>

namespace heed {

struct GradcheckOptions {
  double step = 1e-6;      ///< central difference, relative to max(1, |x|)
  double absolute = 1e-6;  ///< allowed error: absolute + relative * |numeric|
  double relative = 1e-6;
  int64_t most_elements = 2000;  ///< of each input, evenly spaced, when it has more
  /// True for the values of an input that are left out: near a kink, as that of relu at 0, a difference over
  /// both sides tells nothing.
  std::function<bool(size_t input, double value)> excluded = {};
};

/// What the check found: empty when all is well, else one line that names the input, the index, and the
/// analytic and the numeric derivative.
struct GradcheckReport {
  std::string failure;
  double largest_error = 0;  ///< |analytic - numeric| / max(1, |numeric|)
  int64_t compared = 0;      ///< how many derivatives were
  explicit operator bool() const { return failure.empty(); }
};

using DifferentiableFunction = std::function<std::vector<Variable>(std::span<const Variable>)>;

/// Compares the gradients of f with central differences, input by input, element by element. The outputs are
/// weighted by fixed random numbers, so that every element of each counts. Inputs that require a gradient
/// must be f64 (DTypeError); f must give the same result each time.
GradcheckReport gradcheck(const DifferentiableFunction& f, std::span<const Variable> inputs,
                          const GradcheckOptions& options = {});

/// The same for the gradients themselves: second derivatives.
GradcheckReport gradgradcheck(const DifferentiableFunction& f, std::span<const Variable> inputs,
                              const GradcheckOptions& options = {});

}  // namespace heed
