#include <heed/tensor/files/file_reader.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace heed {
namespace {

std::string reason(int number) { return std::generic_category().message(number); }

}  // namespace

FileReader::FileReader(const char* op, const std::string& path) : op_(op), path_(path) {
  // O_NONBLOCK, so that a pipe without a writer is turned down below and not waited for.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail("cannot be opened: {}", reason(errno));
  struct stat status {};
  const int error = ::fstat(descriptor_, &status) == 0 ? 0 : errno;
  if (error != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);  // a constructor that throws has no destructor to do it
    if (error != 0) fail("cannot be looked up: {}", reason(error));
    fail("wanted a plain file, came {}", S_ISDIR(status.st_mode) ? "a folder" : "something else");
  }
  size_ = status.st_size;
}

FileReader::~FileReader() { ::close(descriptor_); }

void FileReader::read(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::read(descriptor_, bytes.data(), bytes.size());
    if (count > 0) {
      bytes = bytes.subspan(static_cast<size_t>(count));
      position_ += count;
    } else if (count == 0) {
      fail("wanted {} more bytes, came the end of the file", bytes.size());
    } else if (errno != EINTR) {
      fail("cannot be read: {}", reason(errno));
    }
  }
}

}  // namespace heed
