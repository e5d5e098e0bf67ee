#include "translate/training.h"

#include <heed/nn/loss.h>
#include <heed/optim/adam.h>
#include <heed/optim/clip.h>
#include <heed/tensor/creation.h>

#include <cmath>

#include "translate/progress.h"

namespace heed::translate {
namespace {

/// Mean cross-entropy of a batch over its real target tokens.
Variable batch_loss(nn::EncoderDecoder& model, const Batch& batch) {
  const Shape grid{batch.rows, batch.length};
  const Variable logits = model(from_values<int64_t>(batch.source, grid),
                                from_values<int64_t>(batch.source_lengths, {batch.rows}),
                                from_values<int64_t>(batch.target_in, grid));
  return nn::cross_entropy(logits, from_values<int64_t>(batch.target_out, grid),
                           {.ignore_index = Vocabulary::kPadding});
}

}  // namespace

TrainingResult train(Translator& translator, std::span<const Encoded> examples,
                     const TrainingOptions& options) {
  nn::EncoderDecoder& model = translator.model();
  optim::Adam optimizer(model.named_parameters(), {.lr = options.lr});
  const std::vector<Variable> parameters = model.parameters();
  const auto count = static_cast<int64_t>(examples.size());
  ProgressState state{.epochs = options.epochs, .floor = loss_floor(examples)};
  state.steps = options.epochs * EpochOrder(count, options.batch, options.seed, 0).batches();

  model.train();
  Progress progress;
  for (state.epoch = 1; state.epoch <= options.epochs; ++state.epoch) {
    const EpochOrder order(count, options.batch, options.seed, state.epoch - 1);
    double total = 0;
    int64_t tokens = 0;
    for (int64_t b = 0; b < order.batches(); ++b) {
      const Batch batch = make_batch(examples, order.batch(b), translator.architecture().length);
      const Variable loss = batch_loss(model, batch);
      if (!std::isfinite(loss.item()))
        raise<ValueError>("[train] the loss of step {} is {}: try a lower --lr", state.step + 1, loss.item());
      optimizer.zero_grad();
      loss.backward();
      const double norm = optim::clip_grad_norm(parameters, options.clip);
      if (!std::isfinite(norm))
        raise<ValueError>("[train] the gradient's norm at step {} is {}: try a lower --lr", state.step + 1,
                          norm);
      optimizer.step();

      total += loss.item() * static_cast<double>(batch.target_tokens);
      tokens += batch.target_tokens;
      state.tokens += batch.target_tokens;
      state.loss = total / static_cast<double>(tokens);
      ++state.step;
      progress.show(state);
    }
  }
  progress.finish();
  const double seconds = progress.seconds();
  return {state.loss, state.floor, seconds, static_cast<double>(state.tokens) / seconds};
}

}  // namespace heed::translate
