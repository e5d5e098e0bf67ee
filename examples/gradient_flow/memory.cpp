#include "gradient_flow/memory.h"

#include <fmt/format.h>
#include <heed/autograd/grad_mode.h>
#include <heed/nn/bahdanau.h>
#include <heed/study/recorder.h>
#include <heed/study/statistics.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/kernels/extremes.h>
#include <heed/tensor/random.h>

#include <algorithm>
#include <limits>

#include "gradient_flow/data.h"
#include "gradient_flow/plain_encoder_decoder.h"
#include "translate/eval/bleu.h"
#include "translate/training.h"

namespace heed::gradient_flow {
namespace {

using translate::Encoded;

constexpr int64_t kTrainingSentences = 20000;
/// Of the greatest length, whose gradient is looked at.
constexpr size_t kWatched = 64;
/// Into which the lengths are cut.
constexpr int64_t kRanges = 4;
/// The last steps, whose loss is told.
constexpr int64_t kLastSteps = 50;

/// The sentences that are kept out come first, where there still are short ones, and those to train on behind
/// them.
struct Task {
  explicit Task(const MemoryOptions& options)
      : data(translate::task_pairs(options.task, options.longest, options.sentences + kTrainingSentences,
                                   options.seed)),
        kept_out(std::span(data.encoded).first(static_cast<size_t>(options.sentences))),
        training(std::span(data.encoded).subspan(kept_out.size())) {
    for (const Encoded& example : data.encoded)
      if (std::ssize(example.source) == options.longest + 1 && longest.size() < kWatched)
        longest.push_back(example);
  }

  Pairs data;
  std::span<const Encoded> kept_out, training;
  std::vector<Encoded> longest;
};

/// |gradient| to the embedded source, from its last place to its first.
std::vector<double> gradient_by_distance(nn::EncoderDecoder& model, const Task& task) {
  study::Recorder recorder(model, {"source_embedding"}, {.flows = false, .parameters = false});
  loss_of(model, side_by_side(task.longest)).backward();
  model.zero_grad();
  const Tensor gradient = recorder.record().points.at(0).gradients.at(0);  // (batch, length, width)
  std::vector<double> norms;
  // The end marker is no letter.
  for (int64_t place = gradient.size(1) - 2; place >= 0; --place)
    norms.push_back(study::norm_of(gradient.slice(1, place, place + 1)));
  return norms;
}

/// The likeliest word at each step, up to the end marker.
std::vector<translate::Sentence> translate_all(nn::EncoderDecoder& model, const Pairs& data,
                                               std::span<const Encoded> examples) {
  const NoGrad guard;
  const Sequences batch = side_by_side(examples);
  const auto decoding = model.start(batch.source, batch.source_lengths);
  std::vector<std::vector<int64_t>> ids(examples.size());
  Tensor last = full({batch.source.size(0)}, translate::Vocabulary::kBegin, DType::i64);
  for (int64_t step = 0; step < batch.source.size(1); ++step) {
    last = kernels::argmax(decoding->step(last).data(), -1);
    const auto chosen = last.span<int64_t>();
    for (size_t i = 0; i < ids.size(); ++i) ids[i].push_back(chosen[i]);
  }
  std::vector<translate::Sentence> sentences;
  sentences.reserve(ids.size());
  for (const auto& row : ids) sentences.push_back(translate::words(data.target.decode(row)));
  return sentences;
}

/// NaN where there are no sentences of such lengths.
double bleu_of(nn::EncoderDecoder& model, const Task& task, int64_t from, int64_t up_to) {
  std::vector<Encoded> chosen;
  std::vector<std::vector<translate::Sentence>> references;
  for (const Encoded& example : task.kept_out) {
    const auto length = std::ssize(example.source) - 1;
    if (length < from || length > up_to) continue;
    chosen.push_back(example);
    references.push_back({translate::words(task.data.target.decode(example.target))});
  }
  if (chosen.empty()) return std::numeric_limits<double>::quiet_NaN();
  return translate::corpus_bleu(translate_all(model, task.data, chosen), references).score;
}

MemoryCurves measure(const MemoryOptions& options, nn::EncoderDecoder& model, const Task& task,
                     const std::vector<int64_t>& up_to) {
  MemoryCurves curves;
  curves.before = gradient_by_distance(model, task);
  translate::Training training(model, task.training, {.seed = options.seed});
  const int64_t last_steps = std::min(kLastSteps, options.steps);
  for (int64_t step = 0; step < options.steps; ++step) {
    const double loss = training.step().loss;
    if (step >= options.steps - last_steps) curves.loss += loss / static_cast<double>(last_steps);
  }
  curves.after = gradient_by_distance(model, task);
  int64_t from = 1;
  for (const int64_t most : up_to) {
    curves.bleu.push_back(bleu_of(model, task, from, most));
    from = most + 1;
  }
  return curves;
}

}  // namespace

MemoryResult measure_memory(const MemoryOptions& options) {
  const Task task(options);
  MemoryResult result;
  for (int64_t i = 1; i <= kRanges; ++i) result.up_to.push_back(options.longest * i / kRanges);
  const int64_t source = task.data.source.size(), target = task.data.target.size();
  manual_seed(options.seed);
  PlainEncoderDecoder plain(
      {.source_vocabulary = source, .target_vocabulary = target, .width = options.width});
  result.plain = measure(options, plain, task, result.up_to);
  manual_seed(options.seed);
  nn::Bahdanau attention({.source_vocabulary = source, .target_vocabulary = target, .width = options.width});
  result.attention = measure(options, attention, task, result.up_to);
  return result;
}

namespace {

/// As shares of the gradient at distance 0.
std::vector<double> relative(const std::vector<double>& norms) {
  std::vector<double> result = norms;
  for (double& norm : result) norm /= norms.front();
  return result;
}

std::vector<double> counted(size_t count) {
  std::vector<double> result;
  for (size_t i = 0; i < count; ++i) result.push_back(static_cast<double>(i));
  return result;
}

}  // namespace

Findings findings_of(const MemoryResult& result) {
  const auto plain_before = relative(result.plain.before), plain_after = relative(result.plain.after);
  const auto with_before = relative(result.attention.before), with_after = relative(result.attention.after);
  Findings findings;
  Table gradients({"letters before the end", "plain, untrained", "attention, untrained", "plain, trained",
                   "attention, trained"});
  for (size_t i = 0; i < plain_before.size(); ++i)
    gradients.add({fmt::format("{}", i), three_digits(plain_before[i]), three_digits(with_before[i]),
                   three_digits(plain_after[i]), three_digits(with_after[i])});
  Table bleu({"letters", "BLEU plain", "BLEU attention"});
  int64_t from = 1;
  for (size_t i = 0; i < result.up_to.size(); ++i) {
    bleu.add({fmt::format("{} to {}", from, result.up_to[i]), three_digits(100 * result.plain.bleu[i]),
              three_digits(100 * result.attention.bleu[i])});
    from = result.up_to[i] + 1;
  }
  findings.tables = {gradients, bleu};
  findings.seen = fmt::format(
      "Before training, the letter that was read {} letters before the end gets {} of the last letter's "
      "gradient without attention, and {} with it; after training {} and {}. What the plain model keeps has "
      "to "
      "fit into one state: on the longest sentences its BLEU is {}, and {} with attention after as many "
      "steps "
      "(loss {:.3f} and {:.3f} nats per letter).",
      plain_before.size() - 1, three_digits(plain_before.back()), three_digits(with_before.back()),
      three_digits(plain_after.back()), three_digits(with_after.back()),
      three_digits(100 * result.plain.bleu.back()), three_digits(100 * result.attention.bleu.back()),
      result.plain.loss, result.attention.loss);
  findings.page.title = "A recurrent encoder-decoder with and without attention";
  const auto distances = counted(plain_before.size());
  const std::vector<double> lengths(result.up_to.begin(), result.up_to.end());
  findings.page.charts = {{.title = "Gradient that reaches a source letter, as a share of the last letter's",
                           .x_label = "letters before the end",
                           .y_label = "share",
                           .log_y = true,
                           .lines = {line("plain, untrained", distances, plain_before),
                                     line("attention, untrained", distances, with_before),
                                     line("plain, trained", distances, plain_after),
                                     line("attention, trained", distances, with_after)}},
                          {.title = "BLEU by length",
                           .x_label = "letters, up to",
                           .y_label = "BLEU, from 0 to 1",
                           .lines = {line("plain", lengths, result.plain.bleu),
                                     line("attention", lengths, result.attention.bleu)}}};
  return findings;
}

}  // namespace heed::gradient_flow
