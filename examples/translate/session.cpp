#include "translate/session.h"

#include <heed/study/report_layers.h>
#include <spdlog/spdlog.h>

#include "translate/checkpoint.h"
#include "translate/interruption.h"
#include "translate/metrics.h"
#include "translate/progress.h"

namespace heed::translate {
namespace {

constexpr int64_t kStepsPerMetrics = 50;

class Session {
 public:
  Session(Training& training, const Translator& translator, const std::filesystem::path& folder,
          int64_t steps, double floor)
      : training_(training),
        translator_(translator),
        folder_(folder),
        metrics_(metrics_path(folder), training.steps()),
        state_{.epoch = training.epoch(),
               .epochs = (steps + training.steps_per_epoch() - 1) / training.steps_per_epoch(),
               .step = training.steps(),
               .steps = steps,
               .first_step = training.steps(),
               .loss = training.epoch_loss(),
               .floor = floor} {}

  SessionResult run() {
    save();
    while (state_.step < state_.steps && Interruption::signal() == 0) step();
    if (saved_step_ != state_.step) save();
    const double seconds = progress_.seconds();
    return {.loss = state_.loss,
            .seconds = seconds,
            .tokens_per_second = static_cast<double>(state_.tokens) / seconds,
            .signal = state_.step < state_.steps ? Interruption::signal() : 0};
  }

 private:
  void step() {
    const StepReport report = training_.step();
    state_.epoch = training_.epoch();
    state_.step = training_.steps();
    state_.loss = training_.epoch_loss();
    state_.lr = report.lr;
    state_.gradient_norm = report.gradient_norm;
    state_.tokens += report.tokens;
    progress_.show(state_);
    if (state_.step % kStepsPerMetrics == 0) add_step_metrics(report.loss);
    if (!training_.at_epoch_end()) return;
    metrics_.add_epoch(metrics(state_.loss), state_.floor);
    save();  // the checkpoint last: what is missing in it will be done, and told, again
  }

  void save() {
    save_checkpoint(folder_, training_, translator_);
    saved_step_ = state_.step;
    spdlog::debug("saved step {}", saved_step_);
  }

  void add_step_metrics(double loss) {
    Metrics line = metrics(loss);
    line.gradient_norms = study::gradient_norms_by_layer(training_.named_parameters());
    metrics_.add_step(line);
  }

  Metrics metrics(double loss) const {
    const double seconds = progress_.seconds();
    return {.epoch = state_.epoch,
            .step = state_.step,
            .loss = loss,
            .lr = state_.lr,
            .gradient_norm = state_.gradient_norm,
            .tokens_per_second = static_cast<double>(state_.tokens) / seconds,
            .seconds = seconds};
  }

  Training& training_;
  const Translator& translator_;
  std::filesystem::path folder_;
  MetricsFile metrics_;
  ProgressState state_;
  Progress progress_;
  int64_t saved_step_ = -1;
};

}  // namespace

SessionResult run_session(Training& training, const Translator& translator,
                          const std::filesystem::path& folder, int64_t steps, double floor) {
  const Interruption interruption;
  return Session(training, translator, folder, steps, floor).run();
}

}  // namespace heed::translate
