#include <heed/optim/average.h>

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
    : decay_(options.decay) {
  expect_decay(decay_);
  for (const auto& [name, parameter] : internal::distinct("average", parameters))
    entries_.push_back({name, parameter, parameter.data().clone()});
}

void WeightAverage::update() {
  updates_.clear();  // of an update that threw
  for (Entry& entry : entries_)
    kernels::average_update(updates_, entry.average, entry.parameter.data(), decay_);
  updates_.run();
}

std::map<std::string, Tensor> WeightAverage::state_dict() const {
  std::map<std::string, Tensor> state{{"decay", scalar(decay_, DType::f64)}};
  for (const Entry& entry : entries_) state.emplace(entry.name + "/average", entry.average);
  return state;
}

void WeightAverage::load_state_dict(const std::map<std::string, Tensor>& state) {
  internal::StateReader reader("average", state);
  const double decay = reader.number("decay", DType::f64);
  expect_decay(decay);
  std::vector<Tensor> averages;
  for (const Entry& entry : entries_)
    averages.push_back(reader.tensor(entry.name + "/average", entry.average));
  reader.expect_all_read();

  decay_ = decay;
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
