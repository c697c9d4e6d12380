// Which tier of tests runs. The gate's outcome depends on the code alone; the deep tests (make test-deep) may
// take long, need CPUs of their own, and need some luck.
#pragma once

#include <cstdlib>

namespace memgraft {

inline bool is_deep() { return std::getenv("MEMGRAFT_DEEP") != nullptr; }

// How often a deep test repeats something that it repeats so often without ThreadSanitizer, under which a
// round takes some 20 times as long.
constexpr int deep_rounds(int rounds) {
#ifdef __SANITIZE_THREAD__
  return rounds / 10;
#else
  return rounds;
#endif
}

}  // namespace memgraft

// At the begin of a test that is not the gate's.
#define MEMGRAFT_DEEP_TEST()                                             \
  if (!::memgraft::is_deep()) {                                          \
    GTEST_SKIP() << "SKIPPED: a deep test (make test-deep AREA=native)"; \
  }                                                                      \
  static_assert(true)
