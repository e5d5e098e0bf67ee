#include "translate/data/split.h"

#include <zlib.h>

#include <string>
#include <utility>

#include <heed/tensor/error.h>

namespace heed::translate {
namespace {

void check(const SplitOptions& options) {
  if (options.holdout < 0)
    raise<ValueError>("[split] wanted a holdout of 0 (none) or more, came {}", options.holdout);
  if (options.validation && options.holdout < 2)
    raise<ValueError>("[split] wanted a holdout of 2 or more for a validation part, came {}",
                      options.holdout);
}

}  // namespace

uint32_t source_checksum(const Sentence& source) {
  const std::string text = joined(source);
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

Split split(std::vector<SentencePair> pairs, const SplitOptions& options) {
  check(options);
  Split parts;
  if (options.holdout == 0) {
    parts.training = std::move(pairs);
    return parts;
  }
  for (SentencePair& pair : pairs) {
    const int64_t remainder = source_checksum(pair.source) % options.holdout;
    const bool validates = options.validation && remainder == 1;
    std::vector<SentencePair>& part = remainder == 0 ? parts.test
                                      : validates    ? parts.validation
                                                     : parts.training;
    part.push_back(std::move(pair));
  }
  return parts;
}

}  // namespace heed::translate
