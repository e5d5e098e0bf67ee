#pragma once

#include <cstddef>
#include <string>

namespace heed::translate {

/// The lines of an open file that may still be written to, such as standard input, in bounded memory.
class LineStream {
 public:
  /// `source` is what errors call it. The descriptor is not closed.
  LineStream(int descriptor, std::string source) : descriptor_(descriptor), source_(std::move(source)) {}

  /// Reads the next line into text(), without its line feed and without a byte order mark in front of the
  /// first; false at the end. FileError when nothing can be read, ValueError for a line of more than
  /// LineReader::kLongestLine bytes.
  bool next();
  const std::string& text() const { return text_; }
  /// The number of the line, from 1.
  size_t number() const { return number_; }
  /// Whether next() would wait for whoever writes the lines.
  bool is_waiting();

 private:
  bool has_line() const;
  bool read_more();

  int descriptor_;
  std::string source_;
  std::string pending_;  // read, and not asked for yet
  std::string text_;
  size_t number_ = 0;
  bool ended_ = false;  // a terminal goes on behind its end
  int problem_ = 0;     // errno
};

}  // namespace heed::translate
