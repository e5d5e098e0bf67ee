#include <heed/optim/average.h>

#include <algorithm>

#include <heed/optim/internal/parameters.h>
#include <heed/optim/internal/state_reader.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/error.h>

namespace heed::optim {
namespace {

void expect_decay(double decay) {
  if (!(decay >= 0 && decay < 1)) raise<ValueError>("[average] wanted decay in [0, 1), came {}", decay);
}

}  // namespace

WeightAverage::WeightAverage(const NamedVariables& parameters, const WeightAverageOptions& options)
    : decay_(options.decay), warm_up_(options.warm_up) {
  expect_decay(decay_);
  for (const auto& [name, parameter] : internal::distinct("average", parameters))
    entries_.push_back({name, parameter, parameter.data().clone()});
}

void WeightAverage::update() {
  updates_.clear();  // of an update that threw
  const auto count = static_cast<double>(updated_);
  const double decay = warm_up_ ? std::min(decay_, (count + 1) / (count + 10)) : decay_;
  for (Entry& entry : entries_)
    kernels::average_update(updates_, entry.average, entry.parameter.data(), decay);
  updates_.run();
  ++updated_;
}

std::map<std::string, Tensor> WeightAverage::state_dict() const {
  std::map<std::string, Tensor> state{{"decay", scalar(decay_, DType::f64)}};
  if (warm_up_) state.emplace("updates", scalar(static_cast<double>(updated_), DType::i64));
  for (const Entry& entry : entries_) state.emplace(entry.name + "/average", entry.average);
  return state;
}

void WeightAverage::load_state_dict(const std::map<std::string, Tensor>& state) {
  internal::StateReader reader("average", state);
  const double decay = reader.number("decay", DType::f64);
  expect_decay(decay);
  constexpr double kMostUpdates = 1e15;
  const double updated = warm_up_ ? reader.number("updates", DType::i64, 0, kMostUpdates) : 0;
  std::vector<Tensor> averages;
  for (const Entry& entry : entries_)
    averages.push_back(reader.tensor(entry.name + "/average", entry.average));
  reader.expect_all_read();

  decay_ = decay;
  updated_ = static_cast<int64_t>(updated);
  for (size_t i = 0; i < entries_.size(); ++i) entries_[i].average = averages[i];
}

AveragedWeights::AveragedWeights(const WeightAverage& average) {
  for (const WeightAverage::Entry& entry : average.entries_)
    weights_.emplace_back(entry.parameter.data(), entry.parameter.data().clone());
  for (size_t i = 0; i < weights_.size(); ++i) weights_[i].first.copy_from(average.entries_[i].average);
}

AveragedWeights::~AveragedWeights() {
  for (auto& [weight, before] : weights_) weight.copy_from(before);
}

}  // namespace heed::optim
