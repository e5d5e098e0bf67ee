#include <heed/optim/accumulation.h>

#include <algorithm>

#include <heed/optim/internal/parameters.h>
#include <heed/tensor/error.h>

namespace heed::optim {

void GradientMean::add(const Variable& loss_sum, int64_t count) {
  if (count < 0) raise<ValueError>("[gradient_mean] wanted a count of 0 or more, came {}", count);
  if (batches_ == 0)
    for (Variable& parameter : parameters_) parameter.zero_grad();
  loss_sum.backward();
  loss_ += loss_sum.item();
  count_ += count;
  ++batches_;
}

double GradientMean::finish() {
  if (batches_ == 0) raise<ValueError>("[gradient_mean] there is no batch to take the mean of");
  const double factor = 1 / static_cast<double>(std::max<int64_t>(count_, 1));
  for (Variable& parameter : internal::with_gradients(parameters_))
    internal::scale_gradient(parameter, factor);
  const double mean = loss_ * factor;
  loss_ = 0;
  count_ = batches_ = 0;
  return mean;
}

}  // namespace heed::optim
