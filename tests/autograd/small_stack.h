#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>

#include "tests/ops/memory.h"

namespace heed::test {

/// Runs f on a thread that has a stack of 512 KiB.
inline void on_small_stack(const std::function<void()>& f) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 512 * 1024), 0);
  const auto run = [](void* call) -> void* {
    (*static_cast<const std::function<void()>*>(call))();
    return nullptr;
  };
  pthread_t thread{};
  std::function<void()> call = f;
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &call), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace heed::test
