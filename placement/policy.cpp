#include "memgraft/placement/policy.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <tuple>

#include "memgraft/placement/neighbours.h"

namespace memgraft::placement {

namespace {

constexpr double kLocalDistance = 10;

struct Verdict {
  Stay why = Stay::best;
  std::size_t to = 0;
  double worth = 0;  // nanoseconds
  bool by_neighbours = false;
};

// What a page is judged by: its own touches, or those of the pages around it.
struct Evidence {
  std::span<const float> touches;
  float span = 1;
  float accesses_per_touch = 1;
};

class Judge {
 public:
  Judge(const Profile& profile, const Situation& situation, const Settings& settings)
      : profile_(profile), situation_(situation), settings_(settings) {
    if (settings.neighbours) {
      neighbours_.emplace(profile);
    }
  }

  [[nodiscard]] Verdict judge(std::size_t place) const {
    const Page& page = profile_.pages()[place];
    if (page.node < 0) {
      return {.why = Stay::nowhere};
    }
    const auto touches = profile_.touches(place);
    const Verdict own =
        judge(page, {.touches = touches, .span = page.span, .accesses_per_touch = page.accesses_per_touch});
    if (own.why != Stay::few || !neighbours_) {
      return own;
    }
    const Around around = neighbours_->around(place);
    if (around.touches.empty()) {
      return own;
    }
    Verdict theirs = judge(
        page,
        {.touches = around.touches, .span = around.span, .accesses_per_touch = around.accesses_per_touch});
    theirs.by_neighbours = true;
    const bool tells = theirs.why != Stay::best && theirs.why != Stay::share && theirs.why != Stay::few;
    return is_untouched(touches) || (tells && own.to == theirs.to) ? theirs : own;
  }

 private:
  static bool is_untouched(std::span<const float> touches) {
    return std::ranges::all_of(touches, [](float count) { return count == 0; });
  }

  [[nodiscard]] Verdict judge(const Page& page, const Evidence& evidence) const {
    const auto from = static_cast<std::size_t>(page.node);
    if (is_untouched(evidence.touches)) {
      return {.why = Stay::few, .to = from};
    }
    const std::size_t best = best_node(evidence.touches, from, page.pages, /*any=*/true);
    if (best == from) {
      return {.why = Stay::best};
    }
    const std::size_t to = best_node(evidence.touches, from, page.pages, /*any=*/false);
    if (to == from) {
      return {.why = Stay::forbidden, .to = best};
    }
    const Saving saving = saving_of(evidence.touches, from, to);
    const double least = settings_.least_share * cost(evidence.touches, from);
    const double sure = saving.mean - (settings_.doubt * saving.deviation);
    if (sure <= 0 || sure < least) {
      return {.why = saving.mean < least ? Stay::share : Stay::few, .to = to};
    }
    if (is_frozen(page, situation_.interval)) {
      return {.why = Stay::frozen, .to = to};
    }
    const double worth = remaining_saving(evidence, sure) - (page.pages * situation_.move_nanoseconds);
    if (settings_.must_pay && worth <= 0) {
      return {.why = Stay::payback, .to = to};
    }
    return {.why = Stay::moves, .to = to, .worth = worth};
  }

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

  // What the touches that were seen would have cost less, as distances, and by how much that may be wrong:
  // that many touches are a sample, counts with the standard deviation of their square root.
  struct Saving {
    double mean = 0;
    double deviation = 0;
  };
  [[nodiscard]] Saving saving_of(std::span<const float> touches, std::size_t from, std::size_t to) const {
    double saved = 0;
    double variance = 0;
    for (std::size_t by = 0; by < touches.size(); ++by) {
      const double each = static_cast<double>(situation_.distances[by][from]) - situation_.distances[by][to];
      saved += touches[by] * each;
      variance += touches[by] * each * each;
    }
    return {.mean = saved, .deviation = std::sqrt(variance)};
  }

  // Of one page: the touches of several are from as many times as long.
  [[nodiscard]] double remaining_saving(const Evidence& evidence, double saved) const {
    const double nanoseconds = saved / kLocalDistance * settings_.local_nanoseconds;
    return nanoseconds * evidence.accesses_per_touch / evidence.span * situation_.remaining_intervals;
  }

  const Profile& profile_;
  const Situation& situation_;
  const Settings& settings_;
  std::optional<Neighbours> neighbours_;
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
                                     .saved_nanoseconds = verdict.worth,
                                     .by_neighbours = verdict.by_neighbours}});
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
