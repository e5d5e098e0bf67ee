#pragma once

#include <heed/nn/module.h>

namespace heed::nn {

/// In training, drops each element with probability p and multiplies the others by 1 / (1 - p); in
/// evaluation, nothing. Srivastava et al., "Dropout" (2014).
class Dropout : public Layer<Dropout> {
 public:
  /// ValueError unless 0 <= p <= 1.
  explicit Dropout(double p);
  Variable forward(const Variable& x);

  /// The probability in force: p in training, 0 in evaluation.
  double active_p() const { return is_training() ? p_ : 0; }

 private:
  double p_;
};

}  // namespace heed::nn
