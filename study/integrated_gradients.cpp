#include <heed/study/integrated_gradients.h>

#include <cmath>

#include <heed/autograd/grad_mode.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/arithmetic.h>
#include <heed/tensor/kernels/reduce.h>

namespace heed::study {
namespace {

/// Runs with a point multiplied by a number.
class Scaled {
 public:
  Scaled(nn::Module& module, const std::string& point, double factor)
      : edit_(module.register_point_edit(point, [this, factor](const nn::Point& seen) {
          value_ = seen.value.data();
          return leaf_ = Variable(kernels::scale(value_, factor), true);
        })) {}
  Scaled(const Scaled&) = delete;
  Scaled& operator=(const Scaled&) = delete;

  /// The point as it was, undefined before it was come by.
  const Tensor& value() const { return value_; }

  Tensor gradient(const Variable& output) const {
    const Variable outputs[]{output}, inputs[]{leaf_};
    const Variable found = grad(outputs, inputs, {}, {.allow_unused = true})[0];
    return found.defined() ? found.data() : zeros_like(value_);
  }

 private:
  Tensor value_;
  Variable leaf_;
  HookHandle edit_;
};

}  // namespace

IntegratedGradients integrated_gradients(nn::Module& module, const std::string& point,
                                         const std::function<Variable()>& run,
                                         const IntegratedGradientsOptions& options) {
  if (options.steps < 1)
    raise<ValueError>("[integrated_gradients] wanted 1 step or more, came {}", options.steps);
  const EnableGrad recording;
  Tensor value, sum;
  for (int64_t i = 0; i < options.steps; ++i) {
    const Scaled scaled(module, point, (static_cast<double>(i) + 0.5) / static_cast<double>(options.steps));
    const Variable output = run();
    if (!scaled.value().defined())
      raise<ValueError>("[integrated_gradients] the run does not come by a point \"{}\" of the module",
                        point);
    value = scaled.value();
    const Tensor gradient = scaled.gradient(output);
    sum = sum.defined() ? kernels::add(sum, gradient) : gradient;
  }
  IntegratedGradients result;
  const Tensor by_element =
      kernels::mul(value, kernels::scale(sum, 1.0 / static_cast<double>(options.steps)));
  result.attributions = kernels::sum(by_element, {-1});
  const NoGrad guard;
  result.to = run().item();
  const Scaled nothing(module, point, 0);
  result.from = run().item();
  result.completeness_error = std::abs(kernels::sum(by_element).item() - (result.to - result.from));
  return result;
}

}  // namespace heed::study
