#pragma once

#include <heed/tensor/threads.h>

namespace heed::test {

/// Sets the number of threads while it lives.
class Threads {
 public:
  explicit Threads(int count) : before_(num_threads()) { set_num_threads(count); }
  ~Threads() { set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

}  // namespace heed::test
