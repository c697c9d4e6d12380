// Which tier of tests runs. The gate's outcome depends on the code alone; the deep tests (make test-deep) may
// take long, need CPUs of their own, and need some luck.
#pragma once

#include <chrono>
#include <cstdlib>

namespace memgraft {

inline bool is_deep() { return std::getenv("MEMGRAFT_DEEP") != nullptr; }

// The rounds of a test that does something again and again. A deep test has more of them, as many as fit into
// a minute: on a busy machine it does fewer, and does not hang.
class Rounds {
 public:
  Rounds(int gate, int deep) : gate_(gate), wanted_(is_deep() ? deep : gate) {}

  // Whether there is one more.
  bool next() {
    if (done_ == wanted_ || (done_ >= gate_ && std::chrono::steady_clock::now() > end_)) {
      return false;
    }
    ++done_;
    return true;
  }

  // Those begun.
  [[nodiscard]] int count() const { return done_; }

 private:
  int gate_;
  int wanted_;
  int done_ = 0;
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + std::chrono::minutes(1);
};

}  // namespace memgraft

// At the begin of a test that is not the gate's.
#define MEMGRAFT_DEEP_TEST()                                             \
  if (!::memgraft::is_deep()) {                                          \
    GTEST_SKIP() << "SKIPPED: a deep test (make test-deep AREA=native)"; \
  }                                                                      \
  static_assert(true)
