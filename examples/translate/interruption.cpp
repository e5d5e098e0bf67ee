#include "translate/interruption.h"

#include <unistd.h>

#include <algorithm>

namespace heed::translate {
namespace {

volatile std::sig_atomic_t noted = 0;

void note(int signal) { noted = signal; }

/// Enough for the registers of any processor, which the kernel puts there, and for the handler.
size_t stack_size() {
  constexpr long kLeast = 1 << 16;
  return static_cast<size_t>(std::max(sysconf(_SC_SIGSTKSZ), kLeast));
}

}  // namespace

// The handler needs a stack of its own: the matrix products of oneDNN 2.6 let the stack pointer point into
// the heap while they work, and a signal's frame, put below it, would destroy what lies there.
Interruption::Interruption() : stack_(stack_size()) {
  noted = 0;
  stack_t stack{};
  stack.ss_sp = stack_.data();
  stack.ss_size = stack_.size();
  sigaltstack(&stack, &old_stack_);
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
}

Interruption::~Interruption() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
  sigaltstack(&old_stack_, nullptr);
}

int Interruption::signal() { return noted; }

}  // namespace heed::translate
