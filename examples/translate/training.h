#pragma once

#include <heed/nn/encoder_decoder.h>
#include <heed/optim/adam.h>
#include <heed/optim/average.h>
#include <heed/optim/schedule.h>
#include <heed/optim/snapshot.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "translate/data/batches.h"

namespace heed::translate {

struct TrainingOptions {
  int64_t batch = 64;
  int64_t length = 0;  ///< to which sentences are filled up; 0: that of the longest beside them
  optim::Schedule lr = optim::constant(0.005);
  double clip = 1;      ///< of the gradients' common norm
  double average = 0;   ///< decay of the average of the weights, which is taken every tenth step; 0: none
  bool bucket = false;  ///< batches of sentences of about the same length, as EpochOrder::bucketed() has them
  /// Parts of a batch that are computed at once: see sharded_backward(). When there are more threads than
  /// parts, those of a large model are computed one after the other, each by all threads.
  int64_t shards = 1;
  uint64_t seed = 0;
};

/// What a step did.
struct StepReport {
  double loss = 0;           ///< of its batch: nats per target token, padding left out
  double gradient_norm = 0;  ///< before it was clipped
  double lr = 0;
  int64_t tokens = 0;  ///< target tokens, padding left out
};

/// A run of training by Adam that can be stopped after any step and taken up again to the last bit. The
/// model and the examples must outlive it.
class Training {
 public:
  Training(nn::EncoderDecoder& model, std::span<const Encoded> examples, const TrainingOptions& options);

  /// Trains on the next batch. ValueError when the loss or the gradient is not finite: it names the step and
  /// the first parameter with a value or a gradient that is not finite, and the step is not taken.
  StepReport step();

  const NamedVariables& named_parameters() const { return named_; }
  /// Steps that are taken.
  int64_t steps() const { return steps_; }
  int64_t steps_per_epoch() const { return steps_per_epoch_; }
  /// The epoch of the last step, from 1; 0 before the first.
  int64_t epoch() const { return (steps_ + steps_per_epoch_ - 1) / steps_per_epoch_; }
  bool at_epoch_end() const { return steps_ > 0 && steps_ % steps_per_epoch_ == 0; }
  /// The mean loss per target token of that epoch so far.
  double epoch_loss() const;

  /// The model has the average of its weights, where one is taken, for as long as this lives.
  std::unique_ptr<const optim::AveragedWeights> averaged() const;

  /// Model, optimizer, this thread's generator, and the place in the data. ValueError when a parameter is not
  /// finite.
  optim::Snapshot snapshot() const;
  /// Brings all of them there. ValueError or ShapeError for a snapshot of another model or other data, and
  /// for a place or weights that no training comes to.
  void restore(const optim::Snapshot& snapshot);

 private:
  EpochOrder order_of(int64_t epoch) const;
  /// The next batch, as its shards.
  std::vector<Batch> next_batch();
  [[noreturn]] void fail(const char* what, double value) const;

  nn::EncoderDecoder& model_;
  std::span<const Encoded> examples_;
  TrainingOptions options_;
  NamedVariables named_;
  std::vector<Variable> parameters_;
  bool is_large_;
  optim::Adam optimizer_;
  std::optional<optim::WeightAverage> average_;
  int64_t steps_per_epoch_;
  int64_t steps_ = 0;
  double loss_sum_ = 0;      // over the tokens of the epoch so far
  int64_t token_count_ = 0;  // of the epoch so far
  std::optional<EpochOrder> order_;
  int64_t order_epoch_ = -1;
};

}  // namespace heed::translate
