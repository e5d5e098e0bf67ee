#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <heed/tensor/error.h>
#include <heed/tensor/files/quote.h>

namespace heed {

/// A plain file, read from its beginning on. Whatever goes wrong is a FileError with the path.
class FileReader {
 public:
  /// `op` names the caller in messages.
  FileReader(const char* op, const std::string& path);
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  /// The size when the file was opened.
  int64_t size() const { return size_; }
  /// The bytes that are left.
  int64_t remaining() const { return size_ - position_; }
  /// Fills `bytes` with the next ones of the file.
  void read(std::span<std::byte> bytes);
  /// What is being read from now on, for messages: `tensor "bias"`.
  void set_subject(std::string subject) { subject_ = std::move(subject); }

  /// Throws FileError: `[op] "path": message`, or `[op] "path": subject: message` once there is a subject.
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    raise<FileError>("[{}] {}: {}{}{}", op_, in_quotes(path_), subject_, subject_.empty() ? "" : ": ",
                     fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  const char* op_;
  std::string path_;
  std::string subject_;
  int descriptor_ = -1;
  int64_t size_ = 0;
  int64_t position_ = 0;
};

}  // namespace heed
