#include "translate/data/lines.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <heed/tensor/error.h>

namespace heed::translate {
namespace {

std::string last_error() { return std::generic_category().message(errno); }

}  // namespace

LineReader::LineReader(std::filesystem::path path, std::string operation)
    : path_(std::move(path)), operation_(std::move(operation)), file_(std::fopen(path_.c_str(), "rb")) {
  if (!file_)
    raise<FileError>("[{}] {}: wanted a readable file, came: {}", operation_, path_.string(), last_error());
}

bool LineReader::next() {
  text_.clear();
  too_long_ = false;
  complete_ = false;
  int byte = std::getc(file_.get());
  if (byte != EOF) ++number_;
  const bool any = byte != EOF;
  for (; byte != EOF && byte != '\n'; byte = std::getc(file_.get())) {
    if (text_.size() < kLongestLine) {
      text_.push_back(static_cast<char>(byte));
    } else {
      too_long_ = true;
    }
  }
  if (std::ferror(file_.get()) != 0) {
    raise<FileError>("[{}] {}: wanted a readable file, came: {}", operation_, path_.string(), last_error());
  }
  complete_ = byte == '\n';
  return any;
}

}  // namespace heed::translate
