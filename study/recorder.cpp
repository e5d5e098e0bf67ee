#include <heed/study/recorder.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include <heed/study/internal/attention_log.h>
#include <heed/study/internal/named_modules.h>

namespace heed::study {
using internal::NamedModules;

class Recorder::Watching {
 public:
  Watching(nn::Module& model, const std::vector<std::string>& patterns, const RecorderOptions& options)
      : options_(options) {
    const NamedModules modules = model.named_modules();
    const auto clock = std::make_shared<uint64_t>(0);
    for (const auto& [name, module] : internal::matching("Recorder", modules, patterns))
      layers_.push_back(std::make_unique<Layer>(name, *module, modules, clock));
    if (options.flows) residuals_.emplace(modules, clock);
    if (options.parameters) parameters_ = model.named_parameters();
    before_.resize(parameters_.size());
  }

  const StepRecord& record() {
    StepRecord step;
    step.step = ++count_;
    const auto residuals = residuals_ ? residuals_->sources() : std::vector<ResidualSource>();
    for (const auto& layer : layers_) {
      auto seen = internal::attention_records(layer->points);
      if (options_.flows) internal::add_flows(seen, layer->points, layer->projections, residuals);
      std::ranges::move(seen, std::back_inserter(step.attention));
      std::ranges::move(internal::point_records(layer->points), std::back_inserter(step.points));
    }
    for (size_t i = 0; i < parameters_.size(); ++i) step.parameters.push_back(record_parameter(i));
    if (!options_.tensors) drop_tensors(step);
    discard();
    if (options_.keep > 0 && steps_.size() == options_.keep) steps_.erase(steps_.begin());
    return steps_.emplace_back(std::move(step));
  }

  void discard() {
    for (const auto& layer : layers_) {
      layer->points.clear();
      layer->projections.clear();
    }
    if (residuals_) residuals_->clear();
  }

  const std::vector<StepRecord>& steps() const { return steps_; }

 private:
  struct Layer {
    Layer(const std::string& name, nn::Module& module, const NamedModules& modules,
          const internal::Clock& clock)
        : points(name, module, clock), projections(name, modules, clock) {}
    internal::PointLog points;
    internal::ProjectionLogs projections;
  };

  ParameterRecord record_parameter(size_t i) {
    const auto& [name, parameter] = parameters_[i];
    const Variable grad = parameter.grad();
    ParameterRecord result{
        name, parameter_statistics(parameter.data(), grad.defined() ? grad.data() : Tensor(), before_[i])};
    if (before_[i].defined())
      before_[i].copy_from(parameter.data());
    else
      before_[i] = parameter.data().clone();
    return result;
  }

  static void drop_tensors(StepRecord& step) {
    for (AttentionRecord& layer : step.attention) {
      layer.values.clear();
      layer.gradients.clear();
      for (Flow& flow : layer.flows) {
        flow.whole = {};
        for (FlowPart& part : flow.parts) part.gradient = part.share = part.norm = {};
      }
    }
    for (PointRecord& point : step.points) point.values = point.gradients = {};
  }

  RecorderOptions options_;
  std::vector<std::unique_ptr<Layer>> layers_;
  std::optional<internal::ResidualLogs> residuals_;
  NamedVariables parameters_;
  std::vector<Tensor> before_;
  int64_t count_ = 0;
  std::vector<StepRecord> steps_;
};

Recorder::Recorder(nn::Module& model, const std::vector<std::string>& patterns,
                   const RecorderOptions& options)
    : watching_(std::make_unique<Watching>(model, patterns, options)) {}
Recorder::~Recorder() = default;

const StepRecord& Recorder::record() { return watching_->record(); }
const std::vector<StepRecord>& Recorder::steps() const { return watching_->steps(); }
void Recorder::discard() { watching_->discard(); }

}  // namespace heed::study
