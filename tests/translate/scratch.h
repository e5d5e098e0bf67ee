#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

namespace heed::translate {

/// A folder of a test's own, removed with all that is in it.
class Scratch {
 public:
  Scratch() {
    static int made = 0;
    folder_ =
        std::filesystem::temp_directory_path() / fmt::format("heed-translate-{}-{}", ::getpid(), made++);
    std::filesystem::create_directories(folder_);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& folder() const { return folder_; }

  /// Writes a file of these bytes and returns its path.
  std::filesystem::path file(std::string_view bytes) const {
    const std::filesystem::path path = folder_ / "file";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

 private:
  std::filesystem::path folder_;
};

inline std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The message of the E that `action` throws; anything else is told in its place.
template <class E, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another error: ") + error.what();
  }
  return "no error";
}

}  // namespace heed::translate
