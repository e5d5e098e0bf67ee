#include "translate/interruption.h"

#include <gtest/gtest.h>

namespace heed::translate {
namespace {

struct sigaction action_for(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action;
}

TEST(Interruption, notes_a_signal_once_and_leaves_things_as_they_were) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const auto before = action_for(signal).sa_handler;
    {
      const Interruption interruption;
      EXPECT_EQ(Interruption::signal(), 0);
      // Below the stack pointer may be the heap: the frame must not go there.
      EXPECT_NE(action_for(signal).sa_flags & SA_ONSTACK, 0);
      std::raise(signal);
      EXPECT_EQ(Interruption::signal(), signal);
      EXPECT_EQ(action_for(signal).sa_handler, SIG_DFL);
    }
    EXPECT_EQ(action_for(signal).sa_handler, before);
  }
}

}  // namespace
}  // namespace heed::translate
