#include "translate/line_stream.h"

#include <heed/tensor/error.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "translate/data/lines.h"
#include "translate/data/text.h"

namespace heed::translate {

bool LineStream::next() {
  while (!has_line() && read_more()) {
  }
  if (!has_line() && problem_ != 0)
    raise<FileError>("[lines] {}: wanted something readable, came: {}", source_,
                     std::generic_category().message(problem_));
  if (pending_.empty()) return false;
  ++number_;
  const size_t length = std::min(pending_.find('\n'), pending_.size());
  if (length > LineReader::kLongestLine)
    raise<ValueError>("[lines] {}, line {}: wanted at most {} bytes, came more", source_, number_,
                      LineReader::kLongestLine);
  text_ = pending_.substr(0, length);
  pending_.erase(0, length + 1);  // the line feed too, which the last line may lack
  if (number_ == 1) text_ = without_byte_order_mark(text_);
  return true;
}

bool LineStream::is_waiting() {
  pollfd input{descriptor_, POLLIN, 0};
  while (!has_line() && !ended_) {
    if (poll(&input, 1, 0) == 0) return true;
    read_more();
  }
  return false;
}

/// Whether a line is there, whole or too long.
bool LineStream::has_line() const {
  return pending_.size() > LineReader::kLongestLine || pending_.find('\n') != std::string::npos;
}

/// Reads some more of the file; false at its end, and where it cannot be read.
bool LineStream::read_more() {
  if (ended_) return false;
  std::array<char, 1 << 16> bytes{};
  ssize_t count = 0;
  do count = read(descriptor_, bytes.data(), bytes.size());
  while (count < 0 && errno == EINTR);
  if (count < 0) problem_ = errno;
  ended_ = count <= 0;
  if (count > 0) pending_.append(bytes.data(), static_cast<size_t>(count));
  return !ended_;
}

}  // namespace heed::translate
