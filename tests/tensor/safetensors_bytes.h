#pragma once

#include <cstdint>
#include <string>

#include "helpers.h"

/// Safetensors files, byte by byte.
namespace heed::test {

/// The entry of one tensor in a header.
inline std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                         int begin, int end) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":[" +
         std::to_string(begin) + "," + std::to_string(end) + "]}";
}

/// Length, header and data.
inline std::string file_of(const std::string& header, const std::string& data = {}) {
  return bytes_of(static_cast<uint64_t>(header.size())) + header + data;
}

}  // namespace heed::test
