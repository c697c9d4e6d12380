#include "memgraft/placement/policy.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

namespace memgraft::placement {

namespace {

constexpr double kLocalDistance = 10;

struct Verdict {
  Stay why = Stay::best;
  std::size_t to = 0;
  double worth = 0;  // nanoseconds
};

class Judge {
 public:
  Judge(const Profile& profile, const Situation& situation, const Settings& settings)
      : profile_(profile), situation_(situation), settings_(settings) {}

  [[nodiscard]] Verdict judge(std::size_t place) const {
    const Page& page = profile_.pages()[place];
    const auto touches = profile_.touches(place);
    if (page.node < 0) {
      return {.why = Stay::nowhere};
    }
    const auto from = static_cast<std::size_t>(page.node);
    const std::size_t best = best_node(touches, from, page.pages, /*any=*/true);
    if (best == from) {
      return {.why = Stay::best};
    }
    const std::size_t to = best_node(touches, from, page.pages, /*any=*/false);
    if (to == from) {
      return {.why = Stay::forbidden};
    }
    const double saved = surely_saved(touches, from, to);
    if (saved <= 0 || saved < settings_.least_share * cost(touches, from)) {
      return {.why = Stay::share};
    }
    if (is_frozen(page, situation_.interval)) {
      return {.why = Stay::frozen};
    }
    const double worth = remaining_saving(page, saved) - (page.pages * situation_.move_nanoseconds);
    if (settings_.must_pay && worth <= 0) {
      return {.why = Stay::payback};
    }
    return {.why = Stay::moves, .to = to, .worth = worth};
  }

 private:
  // Of all touches, if the page lay on that node: as distances.
  [[nodiscard]] double cost(std::span<const float> touches, std::size_t node) const {
    double sum = 0;
    for (std::size_t by = 0; by < touches.size(); ++by) {
      sum += static_cast<double>(touches[by]) * situation_.distances[by][node];
    }
    return sum;
  }

  // Where it is, unless another is better: of the others the one that touches it most, then the lowest.
  [[nodiscard]] std::size_t best_node(std::span<const float> touches, std::size_t from, std::uint32_t pages,
                                      bool any) const {
    std::size_t best = from;
    double least = cost(touches, from);
    for (std::size_t node = 0; node < touches.size(); ++node) {
      if (node == from || (!any && (!situation_.allowed[node] || situation_.room[node] < pages))) {
        continue;
      }
      const double here = cost(touches, node);
      if (here < least || (here == least && best != from && touches[node] > touches[best])) {
        best = node;
        least = here;
      }
    }
    return best;
  }

  // What the touches that were seen would have cost less, as distances, and less by `doubt` standard
  // deviations: that many touches are a sample, counts with the standard deviation of their square root.
  [[nodiscard]] double surely_saved(std::span<const float> touches, std::size_t from, std::size_t to) const {
    double saved = 0;
    double variance = 0;
    for (std::size_t by = 0; by < touches.size(); ++by) {
      const double each = static_cast<double>(situation_.distances[by][from]) - situation_.distances[by][to];
      saved += touches[by] * each;
      variance += touches[by] * each * each;
    }
    return saved - (settings_.doubt * std::sqrt(variance));
  }

  [[nodiscard]] double remaining_saving(const Page& page, double saved) const {
    const double nanoseconds = saved / kLocalDistance * settings_.local_nanoseconds;
    return nanoseconds * page.accesses_per_touch / page.span * situation_.remaining_intervals;
  }

  const Profile& profile_;
  const Situation& situation_;
  const Settings& settings_;
};

struct Candidate {
  std::size_t place = 0;
  Move move;
};

// The pages that are worth most for what they take of the rate come first; equals by address.
void sort_by_worth(std::vector<Candidate>& candidates) {
  std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
    return std::tuple(-a.move.saved_nanoseconds / a.move.pages, a.move.address) <
           std::tuple(-b.move.saved_nanoseconds / b.move.pages, b.move.address);
  });
}

}  // namespace

Plan plan(const Profile& profile, const Situation& situation, const Settings& settings) {
  Plan made;
  made.stays.resize(profile.pages().size());
  const Judge judge(profile, situation, settings);
  std::vector<Candidate> candidates;
  for (std::size_t place = 0; place < profile.pages().size(); ++place) {
    const Page& page = profile.pages()[place];
    const Verdict verdict = judge.judge(place);
    made.stays[place] = verdict.why;
    if (verdict.why == Stay::moves) {
      candidates.push_back({.place = place,
                            .move = {.address = page.address,
                                     .pages = page.pages,
                                     .from = static_cast<std::size_t>(page.node),
                                     .to = verdict.to,
                                     .saved_nanoseconds = verdict.worth}});
    }
  }
  sort_by_worth(candidates);
  std::vector<std::uint64_t> room = situation.room;
  std::uint64_t left = settings.most_pages;
  for (const Candidate& candidate : candidates) {
    const Move& move = candidate.move;
    if (move.pages > left) {
      made.stays[candidate.place] = Stay::rate;
    } else if (move.pages > room[move.to]) {
      made.stays[candidate.place] = Stay::forbidden;
    } else {
      left -= move.pages;
      room[move.to] -= move.pages;
      made.moves.push_back(move);
    }
  }
  for (std::size_t place = 0; place < made.stays.size(); ++place) {
    made.pages.at(static_cast<std::size_t>(made.stays[place])) += profile.pages()[place].pages;
  }
  return made;
}

void note_move(Page& page, std::size_t to, std::uint32_t interval, const Settings& settings) {
  const bool streak = page.moved_at != 0 && interval - page.moved_at < settings.freeze_for;
  page.moves = static_cast<std::uint8_t>(streak && page.moves < UINT8_MAX ? page.moves + 1 : 1);
  page.moved_at = interval;
  page.node = static_cast<std::int16_t>(to);
  page.wanted = kUnknown;
  page.busy = 0;
  if (page.moves >= settings.freeze_after) {
    page.frozen_until = interval + settings.freeze_for + 1;
    page.moves = 0;
  }
}

}  // namespace memgraft::placement
