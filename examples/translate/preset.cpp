#include "translate/preset.h"

#include <fmt/format.h>
#include <heed/tensor/error.h>

#include <array>

namespace heed::translate {
namespace {

struct Named {
  const char* name;
  Preset preset;
};

constexpr std::array kPresets{
    Named{"toy",
          {.examples = 600,
           .width = 32,
           .feed_forward = 64,
           .heads = 4,
           .layers = 2,
           .batch = 64,
           .length = 10,
           .min_frequency = 2,
           .dropout = 0.1,
           .lr = 0.005,
           .warmup_steps = 0,
           .average = 0,
           .epochs = 100}},
    Named{"small",
          {.examples = 17000,
           .width = 256,
           .feed_forward = 1024,
           .heads = 8,
           .layers = 3,
           .batch = 64,
           .length = 16,
           .min_frequency = 2,
           .dropout = 0.1,
           .lr = 0.001,
           .warmup_steps = 400,
           .average = 0.98,
           .epochs = 20}},
    Named{"base",
          {.examples = 17000,
           .width = 512,
           .feed_forward = 2048,
           .heads = 8,
           .layers = 6,
           .batch = 64,
           .length = 32,
           .min_frequency = 1,
           .dropout = 0.1,
           .lr = 0.001,
           .warmup_steps = 400,
           .average = 0.98,
           .epochs = 20}},
};

}  // namespace

const Preset& preset_by_name(const std::string& name) {
  std::string known;
  for (const Named& entry : kPresets) {
    if (name == entry.name) return entry.preset;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", entry.name);
  }
  raise<ValueError>("[preset] wanted one of {}, came \"{}\"", known, name);
}

}  // namespace heed::translate
