// What observing may cost.
#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>

namespace memgraft::placement {

// CPU time for one activity: a share of the time that passes, saved up for a while. An activity that took
// more than there was waits until that is paid back.
class Budget {
 public:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;

  // `saved`: at the start, and the most that is saved up.
  Budget(double share, Seconds saved) : share_(share), most_(saved), left_(saved) {}

  [[nodiscard]] bool allows() {
    const Clock::time_point now = Clock::now();
    left_ = std::min(most_, left_ + (Seconds(now - filled_) * share_));
    filled_ = now;
    return left_ > Seconds(0);
  }

  // Runs it, and books what it took of this thread's CPU time.
  template <typename Activity>
  void spend(Activity activity) {
    const Seconds before = cpu();
    activity();
    left_ -= cpu() - before;
  }

 private:
  static Seconds cpu() {
    constexpr double kNanoseconds = 1e-9;
    timespec now{};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return Seconds(static_cast<double>(now.tv_sec) + (static_cast<double>(now.tv_nsec) * kNanoseconds));
  }

  double share_;
  Seconds most_;
  Seconds left_;
  Clock::time_point filled_ = Clock::now();
};

}  // namespace memgraft::placement
