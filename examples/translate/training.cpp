#include "translate/training.h"

#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/shards.h>
#include <heed/nn/loss.h>
#include <heed/optim/clip.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/reduce.h>
#include <heed/tensor/threads.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "translate/architecture.h"

namespace heed::translate {
namespace {

/// Mean cross-entropy of a batch over its real target tokens.
Variable batch_loss(nn::EncoderDecoder& model, const Batch& batch) {
  const Shape grid{batch.rows, batch.length};
  std::vector<int64_t> places, words;
  for (size_t place = 0; place < batch.target_out.size(); ++place) {
    if (batch.target_out[place] == Vocabulary::kPadding) continue;
    places.push_back(static_cast<int64_t>(place));
    words.push_back(batch.target_out[place]);
  }
  const Variable logits = model(
      from_values<int64_t>(batch.source, grid), from_values<int64_t>(batch.source_lengths, {batch.rows}),
      from_values<int64_t>(batch.target_in, grid), from_values<int64_t>(places, {std::ssize(places)}));
  return nn::cross_entropy(logits, from_values<int64_t>(words, {std::ssize(words)}));
}

/// The ops of a model with so many parameters are large enough to be shared between threads themselves.
constexpr int64_t kLargeModel = 1 << 20;

/// An average over hundreds of steps needs no more of them, and costs as much as a good part of the
/// optimizer's step.
constexpr int64_t kStepsPerAverage = 10;

/// A number that tells these examples from others.
int64_t fingerprint(std::span<const Encoded> examples) {
  uLong crc = crc32(0, nullptr, 0);
  const auto add = [&](const std::vector<int64_t>& ids) {
    const auto bytes = std::as_bytes(std::span(ids));
    crc = crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
  };
  for (const Encoded& example : examples) add(example.source), add(example.target);
  return static_cast<int64_t>(crc);
}

/// The first parameter with a value or a gradient that is not finite; nullptr if there is none.
const std::string* first_not_finite(const NamedVariables& parameters) {
  for (const auto& [name, parameter] : parameters) {
    if (!kernels::all_finite(parameter.data())) return &name;
    if (parameter.grad().defined() && !kernels::all_finite(parameter.grad().data())) return &name;
  }
  return nullptr;
}

/// More than any training takes.
constexpr int64_t kMostSteps = 1'000'000'000'000'000'000;

/// The number of a snapshot's place that goes by `key`, in [least, most], which NaN is not.
template <class T>
T number_at(const std::map<std::string, Tensor>& place, const char* key, T least, T most) {
  const auto found = place.find(key);
  if (found == place.end() || found->second.dtype() != dtype_of<T>() || found->second.numel() != 1)
    raise<ValueError>("[training] wanted a place with the {} \"{}\", came one without",
                      name_of(dtype_of<T>()), key);
  const T number = *found->second.data<T>();
  if (!(number >= least && number <= most))
    raise<ValueError>("[training] wanted \"{}\" in [{}, {}], came {}", key, least, most, number);
  return number;
}

int64_t target_tokens(std::span<const Encoded> examples) {
  int64_t count = 0;
  for (const Encoded& example : examples) count += std::ssize(example.target);
  return count;
}

}  // namespace

Training::Training(nn::EncoderDecoder& model, std::span<const Encoded> examples,
                   const TrainingOptions& options)
    : model_(model),
      examples_(examples),
      options_(options),
      named_(model.named_parameters()),
      parameters_(model.parameters()),
      is_large_(model.parameter_count() >= kLargeModel),
      optimizer_(named_, {.lr = options.lr(0)}),
      steps_per_epoch_(order_of(0).batches()) {
  if (examples.empty()) raise<ValueError>("[training] wanted examples, came none");
  if (options.average > 0)
    average_.emplace(named_, optim::WeightAverageOptions{.decay = options.average, .warm_up = true});
  if (options.shards < 1) raise<ValueError>("[training] wanted 1 shard or more, came {}", options.shards);
}

EpochOrder Training::order_of(int64_t epoch) const {
  if (options_.bucket) return EpochOrder::bucketed(examples_, options_.batch, options_.seed, epoch);
  return {static_cast<int64_t>(examples_.size()), options_.batch, options_.seed, epoch};
}

std::vector<Batch> Training::next_batch() {
  const int64_t epoch = steps_ / steps_per_epoch_;
  if (epoch != order_epoch_) {
    order_ = order_of(epoch);
    order_epoch_ = epoch;
  }
  const auto chosen = order_->batch(steps_ % steps_per_epoch_);
  const size_t count = std::min(static_cast<size_t>(options_.shards), chosen.size());
  std::vector<Batch> shards;
  for (size_t i = 0; i < count; ++i) {
    const size_t begin = chosen.size() * i / count, end = chosen.size() * (i + 1) / count;
    const auto part = chosen.subspan(begin, end - begin);
    shards.push_back(
        make_batch(examples_, part, options_.length > 0 ? options_.length : longest_of(examples_, part)));
  }
  return shards;
}

StepReport Training::step() {
  model_.train();
  const std::vector<Batch> shards = next_batch();
  StepReport report{.lr = options_.lr(steps_)};
  for (const Batch& shard : shards) report.tokens += shard.target_tokens;
  optimizer_.zero_grad();
  const auto loss_of = [&](int64_t i) {
    const Batch& shard = shards[static_cast<size_t>(i)];
    return batch_loss(model_, shard) *
           (static_cast<double>(shard.target_tokens) / static_cast<double>(report.tokens));
  };
  const auto losses = sharded_backward(parameters_, std::ssize(shards), loss_of,
                                       {.together = options_.shards >= num_threads() || !is_large_});
  report.loss = std::accumulate(losses.begin(), losses.end(), 0.0);
  if (!std::isfinite(report.loss)) fail("loss", report.loss);
  report.gradient_norm = optim::clip_grad_norm(parameters_, options_.clip);
  if (!std::isfinite(report.gradient_norm)) fail("gradient's norm", report.gradient_norm);
  optimizer_.set_lr(report.lr);
  optimizer_.step();

  if (steps_ % steps_per_epoch_ == 0) loss_sum_ = 0, token_count_ = 0;
  ++steps_;
  if (average_ && steps_ % kStepsPerAverage == 0) average_->update();
  loss_sum_ += report.loss * static_cast<double>(report.tokens);
  token_count_ += report.tokens;
  return report;
}

void Training::fail(const char* what, double value) const {
  const std::string* name = first_not_finite(named_);
  raise<ValueError>(
      "[train] the {} of step {} is {}: {}; try a lower --lr", what, steps_ + 1, value,
      name == nullptr ? "all parameters and gradients are finite" : fmt::format("first in \"{}\"", *name));
}

double Training::epoch_loss() const {
  return token_count_ == 0 ? 0 : loss_sum_ / static_cast<double>(token_count_);
}

std::unique_ptr<const optim::AveragedWeights> Training::averaged() const {
  return average_ ? std::make_unique<const optim::AveragedWeights>(*average_) : nullptr;
}

optim::Snapshot Training::snapshot() const {
  for (const auto& [name, parameter] : named_)
    if (!kernels::all_finite(parameter.data()))
      raise<ValueError>("[train] step {} left \"{}\" with values that are not finite; try a lower --lr",
                        steps_, name);
  optim::Snapshot snapshot{{"model", model_.state_dict()},
                           {"optimizer", optimizer_.state_dict()},
                           {"random", optim::state_of(default_generator())},
                           {"place",
                            {{"step", scalar(static_cast<double>(steps_), DType::i64)},
                             {"tokens", scalar(static_cast<double>(token_count_), DType::i64)},
                             {"loss_sum", scalar(loss_sum_, DType::f64)},
                             {"data", scalar(static_cast<double>(fingerprint(examples_)), DType::i64)}}}};
  if (average_) snapshot.emplace("average", average_->state_dict());
  return snapshot;
}

void Training::restore(const optim::Snapshot& snapshot) {
  for (const char* part : {"model", "optimizer", "random", "place", "average"})
    if (!snapshot.contains(part) && (average_ || part != std::string_view("average")))
      raise<ValueError>("[training] wanted a snapshot of a training, came one without \"{}\"", part);
  const auto& place = snapshot.at("place");
  if (number_at<int64_t>(place, "data", 0, UINT32_MAX) != fingerprint(examples_))
    raise<ValueError>("[training] wanted the {} examples that it was begun with, came others",
                      examples_.size());
  constexpr double kMostLoss = std::numeric_limits<double>::max();
  const int64_t steps = number_at<int64_t>(place, "step", 0, kMostSteps);
  const int64_t token_count = number_at<int64_t>(place, "tokens", 0, target_tokens(examples_));
  const double loss_sum = number_at(place, "loss_sum", -kMostLoss, kMostLoss);
  load_weights(model_, snapshot.at("model"));
  optimizer_.load_state_dict(snapshot.at("optimizer"));
  if (average_) average_->load_state_dict(snapshot.at("average"));
  optim::restore(default_generator(), snapshot.at("random"));
  steps_ = steps;
  token_count_ = token_count;
  loss_sum_ = loss_sum;
}

}  // namespace heed::translate
