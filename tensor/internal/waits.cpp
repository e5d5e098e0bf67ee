#include <heed/tensor/internal/waits.h>

#include <signal.h>
#include <unistd.h>

#include <future>
#include <thread>

namespace heed::internal {
namespace {

[[noreturn]] void park_a_team(std::promise<void> started) {
#pragma omp parallel num_threads(2)
  {
    // Not empty, or the compiler leaves the team out.
    asm volatile("" ::: "memory");
  }
  started.set_value();
  for (;;) pause();
}

bool start_parked_team() {
  // Signals are for the threads that the program knows of.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::promise<void> started;
  std::future<void> ready = started.get_future();
  std::thread(park_a_team, std::move(started)).detach();
  ready.wait();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return true;
}

}  // namespace

void sleep_while_waiting() {
#ifdef _OPENMP
  [[maybe_unused]] static const bool parked = start_parked_team();
#endif
}

}  // namespace heed::internal
