#pragma once

#include <optional>
#include <string>
#include <vector>

namespace heed::translate {

struct TrainCommand {
  std::string data;  ///< a file of sentence pairs; the embedded corpus when empty
  std::string model = "transformer";
  std::string preset = "toy";
  std::optional<int64_t> examples;
  std::optional<int64_t> epochs;
  std::optional<int64_t> holdout;  ///< sources with crc32(source) % holdout == 0 are kept out of training
  double lr = 0.005;
  uint64_t seed = 0;
  std::optional<int> threads;
  std::string out;
};

struct InferCommand {
  std::string folder;
  std::vector<std::string> texts;  ///< lines of standard input when empty
};

void run(const TrainCommand& command);
void run(const InferCommand& command);

}  // namespace heed::translate
