#include "memgraft/allocation/auto_size.h"

#include <algorithm>

namespace memgraft::allocation {

namespace {

// HotSpot lets TLABs waste 1 % of eden at a collection (TLABWasteTargetPercent); so may the buffers of a level.
constexpr double kWasteTarget = 0.01;
constexpr double kWasteLimit = 0.02;
// As HotSpot wants a thread to refill its TLAB 50 times between collections (TLABALLOCATIONWeight's target).
constexpr double kRefillsWanted = 50;
constexpr double kContentionLimit = 0.01;
constexpr double kForeignLimit = 0.005;
// A buffer for fewer requests is hardly one.
constexpr std::uint64_t kLeastRequests = 4;

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

Sizing AutoSize::decide(const LevelSeen& seen) const {
  if (seen.taken == 0 || seen.nursery_words == 0) {
    return {.words = seen.words, .reason = "nothing was taken"};
  }
  const std::uint64_t request = seen.taken_words / seen.taken;
  const std::uint64_t least = std::max(least_, kLeastRequests * request);
  const auto within = [&](std::uint64_t words) { return std::clamp(words, std::min(least, most_), most_); };
  const double waste = share(seen.lost_words, seen.nursery_words);
  const double foreign = share(seen.foreign, seen.taken);
  if (waste > kWasteLimit) {
    return {.words = within(seen.words / 2), .reason = "too much was lost at the collection"};
  }
  if (foreign > kForeignLimit) {
    return {.words = within(seen.words / 2), .reason = "too many allocations were foreign"};
  }
  const double refills = static_cast<double>(seen.refills) / static_cast<double>(seen.buffers);
  const bool contended = share(seen.contended, seen.taken) > kContentionLimit;
  // Twice the size loses about twice as much.
  if ((contended || refills > kRefillsWanted) && 2 * waste < kWasteTarget) {
    return {.words = within(seen.words * 2), .reason = contended ? "requests contended" : "refills were frequent"};
  }
  return {.words = within(seen.words), .reason = "as it should be"};
}

}  // namespace memgraft::allocation
