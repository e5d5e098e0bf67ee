#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

namespace heed::translate {

/// Reads a text file from elsewhere line by line, in bounded memory. What is wrong with the file itself
/// (missing, a directory, no permission, a read that fails) is a FileError that names `operation`.
class LineReader {
 public:
  /// No line of a sensible file is longer, in bytes; the rest of one that is gets dropped.
  static constexpr size_t kLongestLine = size_t{1} << 20;

  LineReader(std::filesystem::path path, std::string operation);

  /// Reads the next line into text(), without its line feed; false at the end of the file.
  bool next();

  const std::string& text() const { return text_; }
  /// The number of the line, from 1.
  int64_t number() const { return number_; }
  /// Whether the line was longer than kLongestLine.
  bool too_long() const { return too_long_; }
  /// Whether the line ended in a line feed: the last line of a file that was cut short does not.
  bool complete() const { return complete_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::filesystem::path path_;
  std::string operation_;
  std::unique_ptr<std::FILE, Close> file_;
  std::string text_;
  int64_t number_ = 0;
  bool too_long_ = false;
  bool complete_ = false;
};

}  // namespace heed::translate
