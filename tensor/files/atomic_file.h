#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace heed {

/// The open end of a file that is being written; see write_file_atomically.
class FileWriter {
 public:
  FileWriter(int descriptor, const std::string& path) : descriptor_(descriptor), path_(path) {}
  /// Appends all the bytes, or throws FileError.
  void write(std::span<const std::byte> bytes);

 private:
  int descriptor_;
  const std::string& path_;
};

/// Writes a file whole or not at all: `write` fills a temporary file in the same folder, which is brought to
/// the disk and then renamed to `path`. Whatever fails before the rename, an exception of `write` included,
/// leaves an old file at `path` as it was and removes the temporary one; a process that dies leaves one named
/// ".heed-*.tmp", which remove_abandoned_files takes away. A symbolic link is followed, the mode of an old
/// file is kept. Throws FileError, with the path and the system's reason.
void write_file_atomically(const std::string& path, const std::function<void(FileWriter&)>& write);

/// Removes the temporary files that processes which died in write_file_atomically have left in a folder:
/// plain files named ".heed-PROCESS-RANDOM.tmp" (a decimal and eight hexadecimal digits), nothing else. No
/// one may be writing there meanwhile. Throws FileError, with the path and the system's reason.
void remove_abandoned_files(const std::string& folder);

}  // namespace heed
