// How many pages may be guarded, so that all that sampling costs stays below a share of one CPU: the sampling
// thread's own time, and what each touch costs the thread that it happens to. CPU time, in nanoseconds.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace memgraft::observation {

class Budget {
 public:
  static constexpr std::uint64_t kRound = 100'000'000;
  static constexpr std::uint64_t kRoundMost = 5'000'000'000;

  explicit Budget(double share) : share_(share) {}

  // So much time went by. What was not used is kept for as long as the longest round.
  void earn(std::uint64_t elapsed) {
    balance_ = std::min(balance_ + (share_ * static_cast<double>(elapsed)),
                        share_ * static_cast<double>(kRoundMost));
  }
  void spend(std::uint64_t used) { balance_ -= static_cast<double>(used); }

  // What a touch cost that was tried. The median of the last ones counts: one may be interrupted.
  void see_touch(std::uint64_t used) { touches_[touch_count_++ % touches_.size()] = used; }
  [[nodiscard]] std::uint64_t touch() const {
    if (touch_count_ == 0) {
      return kFirstGuess;
    }
    auto sorted = touches_;
    const std::size_t count = std::min(touch_count_, sorted.size());
    const std::size_t median = (count - 1) / 2;
    std::nth_element(sorted.begin(), sorted.begin() + median, sorted.begin() + count);
    return sorted[median];
  }

  // So many pages were guarded.
  void see_guarding(std::uint64_t pages, std::uint64_t used) {
    if (pages != 0) {
      guarding_ += kNewest * ((static_cast<double>(used) / static_cast<double>(pages)) - guarding_);
    }
  }

  // How many may be guarded now, where so many are, whose touches will have to be paid as well.
  [[nodiscard]] std::uint64_t pages(std::uint64_t guarded) const {
    const auto each = static_cast<double>(touch());
    const double left = balance_ - (each * static_cast<double>(guarded));
    return left <= 0 ? 0 : static_cast<std::uint64_t>(left / (guarding_ + each));
  }

  // Until the next round, of which so much is used whether or not a page is guarded: most of what is earned
  // until then is for pages.
  [[nodiscard]] std::uint64_t rest(std::uint64_t fixed) const {
    const double debt = std::max(-balance_, 0.0);
    const double wanted = std::max(debt, kFixedShare * static_cast<double>(fixed)) / share_;
    return static_cast<std::uint64_t>(
        std::clamp(wanted, static_cast<double>(kRound), static_cast<double>(kRoundMost)));
  }

 private:
  static constexpr std::uint64_t kFirstGuess = 10'000;
  static constexpr double kNewest = 0.25;
  static constexpr double kFixedShare = 8;

  double share_;
  double balance_ = 0;
  double guarding_ = kFirstGuess;  // a page
  std::array<std::uint64_t, 9> touches_{};
  std::size_t touch_count_ = 0;
};

}  // namespace memgraft::observation
