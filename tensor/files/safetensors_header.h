#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <heed/tensor/dtype.h>
#include <heed/tensor/shape.h>

namespace heed {

/// The most bytes of header that the format allows.
inline constexpr uint64_t kMostHeaderBytes = 100'000'000;
/// The one key of the header that names no tensor.
inline constexpr std::string_view kMetadataKey = "__metadata__";

/// What the header says of one tensor.
struct SafetensorsEntry {
  std::string name;
  std::string dtype;
  Shape shape;
  int64_t begin = 0;  // place of the first byte, from the end of the header
  int64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;
  std::map<std::string, std::string> metadata;
};

/// Reads the header's JSON. The text may hold anything: whatever is not a header is a FileError with `path`.
/// The offsets are not yet compared with the file or among each other.
SafetensorsHeader parse_safetensors_header(const std::string& path, std::string_view text);

/// The JSON text of a header; ValueError when a name or metadata is not UTF-8.
std::string format_safetensors_header(const SafetensorsHeader& header);

}  // namespace heed
