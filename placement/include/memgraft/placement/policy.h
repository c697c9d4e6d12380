// Which pages should move where, and why each other one should stay: pure functions, without a clock or a
// system call, whose result depends on nothing but their arguments.
//
// The rule is that of Tikir, "Using Hardware Monitors to Automatically Improve Memory Performance", PhD
// thesis, University of Maryland, 2005, section 3.2: every interval each page moves to the node that touches
// it most, and one that moves too often is frozen. To it come what the thesis leaves open: the other nodes'
// touches are weighed with their distances (its 3.4.2), a move must pay (its FT lost 4 %, 3.4.4), and a page
// with too few touches is judged by those of the pages around it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "memgraft/placement/profile.h"

namespace memgraft::placement {

struct Settings {
  // A page that has moved so often is frozen. A streak of moves ends when the page stays for `freeze_for`
  // intervals; the thesis, which counts consecutive intervals only, lets a page move in every second one
  // for ever.
  unsigned freeze_after = 3;
  unsigned freeze_for = 10;  // intervals
  // The least part of what its accesses cost now, as distances, that a move must save.
  double least_share = 0.2;
  // Standard deviations by which the saving is taken to be smaller than the sample shows it. 1: a page that
  // one other node touches moves after 3 touches.
  double doubt = 1;
  // Whether the saving in the rest of the run must exceed the cost of the move.
  bool must_pay = true;
  // Whether pages with too few touches are judged by those around them (neighbours.h).
  bool neighbours = true;
  // Of an access to the node's own memory, which has distance 10: 90 to 120 on servers of the last ten
  // years. Twice the distance is taken for twice the time.
  double local_nanoseconds = 100;
  std::uint64_t most_pages = UINT64_MAX;  // in one interval
};

// What is known at the end of an interval.
struct Situation {
  std::uint32_t interval = 1;                    // its number, from 1
  std::vector<std::vector<unsigned>> distances;  // from the CPUs of a node to the memory of another
  std::vector<bool> allowed;                     // nodes that the process may have memory of
  std::vector<std::uint64_t> room;               // pages for which each has room
  double remaining_intervals = 1;                // that the program is expected to run on
  double move_nanoseconds = 3000;                // what it costs to move a page
};

enum class Stay : std::uint8_t {
  moves,
  best,       // no other node would be better
  nowhere,    // nobody told where it lies
  forbidden,  // the better node is none of the process's, or has no room
  share,      // too little would be saved
  few,        // its touches are too few to tell, and those of the pages around it do not tell either
  frozen,
  payback,  // the rest of the run would not pay the move
  rate      // others had precedence
};
inline constexpr std::size_t kStays = 9;

struct Move {
  std::uint64_t address = 0;
  std::uint32_t pages = 1;
  std::size_t from = 0;
  std::size_t to = 0;
  double saved_nanoseconds = 0;  // in the rest of the run, the cost of the move taken off
  bool by_neighbours = false;    // by the touches of the pages around it

  friend bool operator==(const Move&, const Move&) = default;
};

struct Plan {
  std::vector<Move> moves;                    // the most valuable first
  std::vector<Stay> stays;                    // by place in the profile
  std::array<std::uint64_t, kStays> pages{};  // how many pages each reason concerns

  [[nodiscard]] std::uint64_t held(Stay why) const { return pages.at(static_cast<std::size_t>(why)); }
};

Plan plan(const Profile& profile, const Situation& situation, const Settings& settings);

// The page has moved in that interval: where it is, its streak, whether it is frozen now.
void note_move(Page& page, std::size_t to, std::uint32_t interval, const Settings& settings);

[[nodiscard]] inline bool is_frozen(const Page& page, std::uint32_t interval) {
  return interval < page.frozen_until;
}

}  // namespace memgraft::placement
