#include "translate/standard_streams.h"

#include <fcntl.h>
#include <heed/tensor/error.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace heed::translate {

void reserve_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const bool is_closed = fcntl(descriptor, F_GETFD) == -1 && errno == EBADF;
    // The lowest free descriptor is this one: those below are taken.
    if (is_closed) open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void flush_output() {
  const bool is_flushed = std::fflush(stdout) == 0;
  const std::string reason = is_flushed ? "an earlier write failed" : std::generic_category().message(errno);
  if (!is_flushed || std::ferror(stdout) != 0)
    raise<FileError>("[output] standard output cannot be written: {}", reason);
}

}  // namespace heed::translate
