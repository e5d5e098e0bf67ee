#include "translate/json_file.h"

#include <heed/tensor/error.h>
#include <heed/tensor/files/file_reader.h>

#include <nlohmann/json.hpp>
#include <span>

namespace heed::translate {

std::string read_small_file(const char* operation, const std::filesystem::path& path) {
  constexpr int64_t kMostBytes = 1 << 20;
  FileReader file(operation, path.string());
  if (file.size() > kMostBytes) file.fail("wanted at most {} bytes, came {}", kMostBytes, file.size());
  std::string text(static_cast<size_t>(file.size()), '\0');
  file.read(std::as_writable_bytes(std::span(text)));
  return text;
}

int64_t whole_number_at(const nlohmann::json& object, const std::string& key, int64_t least, int64_t most) {
  const nlohmann::json& value = object.at(key);
  // An unsigned number that int64_t cannot hold becomes a negative one.
  const int64_t number = value.is_number_integer() ? value.get<int64_t>() : -1;
  if (number < least || number > most)
    raise<ValueError>("wanted \"{}\" to be a whole number from {} to {}, came {}", key, least, most,
                      value.is_number() ? value.dump() : value.type_name());
  return number;
}

}  // namespace heed::translate
