#pragma once

#include <csignal>
#include <cstddef>
#include <vector>

namespace heed::translate {

/// While it lives, Ctrl-C and SIGTERM only leave a note, so that work can end at a good place; the second one
/// ends the process at once, as it would have otherwise. One at a time, in the thread that works.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// The signal that came, 0 when none did.
  static int signal();

 private:
  std::vector<std::byte> stack_;
  stack_t old_stack_{};
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
};

}  // namespace heed::translate
