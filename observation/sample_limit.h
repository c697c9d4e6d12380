// Not more samples a second than reading them may cost: watching pauses when there were too many.
#pragma once

#include <algorithm>

namespace memgraft::observation {

// Once full, it lets a second's worth through at once; on average never more than `most_per_second`.
class SampleLimit {
 public:
  explicit SampleLimit(double most_per_second) : most_(most_per_second), left_(most_per_second) {}

  // What came in the `seconds` since the last call; whether to watch from now on.
  bool watches_after(double samples, double seconds) {
    elapsed_ += seconds;
    watched_ += watches_ ? seconds : 0;
    left_ = std::min(left_ + (most_ * seconds), most_) - samples;
    watches_ = left_ > (watches_ ? 0 : most_ * kEnoughToGoOn);
    return watches_;
  }
  // Of the time since the start.
  [[nodiscard]] double watched_share() const { return elapsed_ > 0 ? watched_ / elapsed_ : 1; }

 private:
  static constexpr double kEnoughToGoOn = 0.1;

  double most_;
  double left_;
  bool watches_ = true;
  double elapsed_ = 0;
  double watched_ = 0;
};

}  // namespace memgraft::observation
