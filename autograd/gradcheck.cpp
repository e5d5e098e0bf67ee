#include <heed/autograd/gradcheck.h>

#include <algorithm>
#include <cmath>

#include <heed/autograd/grad_mode.h>
#include <heed/autograd/ops.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/random.h>

namespace heed {
namespace {

/// Copies of the inputs whose memory is theirs alone, so that single elements can be moved. Inputs that are
/// the same variable stay the same variable.
std::vector<Variable> own_copies(std::span<const Variable> inputs) {
  std::vector<Variable> copies;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto before =
        std::ranges::find_if(inputs.first(i), [&](const Variable& v) { return v.is_same(inputs[i]); });
    if (before != inputs.first(i).end()) {
      copies.push_back(copies[static_cast<size_t>(before - inputs.begin())]);
      continue;
    }
    const bool wanted = inputs[i].requires_grad();
    if (wanted && inputs[i].dtype() != DType::f64)
      raise<DTypeError>("[gradcheck] wanted f64 inputs, came {} as input {}", describe(inputs[i].data()), i);
    copies.emplace_back(inputs[i].data().clone(), wanted);
  }
  return copies;
}

/// The outputs as one number: each weighted by fixed random numbers.
Variable weighted_sum(const std::vector<Variable>& outputs) {
  Generator generator(20240229);
  Variable total = scalar(0, DType::f64);
  for (const Variable& output : outputs)
    if (is_floating(output.dtype()))
      total += sum(output.to(DType::f64) * rand_uniform(output.shape(), 0.5, 1.5, DType::f64, generator));
  return total;
}

/// The index of a flat place, "(1, 0, 2)".
std::string index_of(int64_t place, const Shape& shape) {
  Dims index = Dims::filled(shape.rank(), 0);
  for (int64_t axis = shape.rank() - 1; axis >= 0; --axis) {
    index[axis] = place % shape[axis];
    place /= shape[axis];
  }
  return to_string(index);
}

double numeric_derivative(const std::function<double()>& value, double& element, double step) {
  const double before = element, distance = step * std::max(1.0, std::abs(before));
  element = before + distance;
  const double above = value();
  element = before - distance;
  const double below = value();
  element = before;
  return (above - below) / (2 * distance);
}

}  // namespace

GradcheckReport gradcheck(const DifferentiableFunction& f, std::span<const Variable> inputs,
                          const GradcheckOptions& options) {
  const std::vector<Variable> copies = own_copies(inputs);
  const auto value = [&] {
    const NoGrad guard;
    return weighted_sum(f(copies)).item();
  };
  const Variable total = weighted_sum(f(copies));
  if (total.requires_grad()) total.backward();

  GradcheckReport report;
  for (size_t i = 0; i < copies.size(); ++i) {
    if (!copies[i].requires_grad()) continue;
    const Tensor analytic =
        copies[i].grad().defined() ? copies[i].grad().data().contiguous() : zeros_like(copies[i].data());
    Tensor moved = copies[i].data();
    const int64_t most = std::max<int64_t>(options.most_elements, 1);
    const int64_t stride = std::max<int64_t>(1, (moved.numel() + most - 1) / most);
    for (int64_t place = 0; place < moved.numel(); place += stride) {
      if (options.excluded && options.excluded(i, moved.data<double>()[place])) continue;
      ++report.compared;
      const double numeric = numeric_derivative(value, moved.mutable_data<double>()[place], options.step);
      const double found = analytic.data<double>()[place], error = std::abs(found - numeric);
      report.largest_error = std::max(report.largest_error, error / std::max(1.0, std::abs(numeric)));
      if (error <= options.absolute + options.relative * std::abs(numeric)) continue;
      report.failure = fmt::format("[gradcheck] input {} at {}: analytic {:.10g}, numeric {:.10g}", i,
                                   index_of(place, moved.shape()), found, numeric);
      return report;
    }
  }
  return report;
}

GradcheckReport gradgradcheck(const DifferentiableFunction& f, std::span<const Variable> inputs,
                              const GradcheckOptions& options) {
  const DifferentiableFunction gradients = [&](std::span<const Variable> at) {
    const EnableGrad recording;
    std::vector<Variable> wanted;
    for (const Variable& input : at)
      if (input.requires_grad() &&
          std::ranges::none_of(wanted, [&](const Variable& v) { return v.is_same(input); }))
        wanted.push_back(input);
    const Variable total = weighted_sum(f(at));
    if (!total.requires_grad()) return std::vector<Variable>{};
    auto grads = grad(std::span(&total, 1), wanted, {}, {.create_graph = true, .allow_unused = true});
    std::erase_if(grads, [](const Variable& g) { return !g.defined(); });
    return grads;
  };
  return gradcheck(gradients, inputs, options);
}

}  // namespace heed
