#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

/// Small files of JSON from elsewhere, which may hold anything.
namespace heed::translate {

/// The text of a plain file of at most a mebibyte, which no configuration exceeds; else a FileError of
/// `operation` with the path.
std::string read_small_file(const char* operation, const std::filesystem::path& path);

/// The whole number of an object that goes by `key`. ValueError unless it is in [least, most], which are 0 or
/// more; json::exception if there is none.
int64_t whole_number_at(const nlohmann::json& object, const std::string& key, int64_t least, int64_t most);

}  // namespace heed::translate
