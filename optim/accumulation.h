#pragma once

#include <vector>

#include <heed/autograd/variable.h>

namespace heed::optim {

/// The gradients of one large batch from several small ones, for a loss that is a mean over tokens: the sums
/// of the losses are differentiated batch by batch, and divided by the number of all their tokens in the end.
/// The mean of the batches' means would weigh a token in a short batch more.
///
///     for (const Batch& batch : batches) {
///       mean.add(cross_entropy_losses(model(batch.source), batch.target).sum(), batch.tokens);
///       if (mean.batches() < 8 && !batch.is_last) continue;
///       const double loss = mean.finish();
///       optimizer.step();
///     }
///
/// A last group of fewer batches has its own number of tokens.
class GradientMean {
 public:
  explicit GradientMean(std::vector<Variable> parameters) : parameters_(std::move(parameters)) {}

  /// Adds the gradients of the summed loss of `count` tokens; the first batch of a group drops those from
  /// before. ValueError unless count is 0 or more.
  void add(const Variable& loss_sum, int64_t count);
  /// How many batches were added since the last finish.
  int64_t batches() const { return batches_; }
  /// Divides the gradients by the number of tokens, and returns the mean loss. Without a single token both
  /// stay what was added up: zeros. ValueError when no batch was added.
  double finish();

 private:
  std::vector<Variable> parameters_;
  double loss_ = 0;
  int64_t count_ = 0;
  int64_t batches_ = 0;
};

}  // namespace heed::optim
