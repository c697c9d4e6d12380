// The placement of one process: touches come in, pages are moved, figures come out.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "memgraft/linux/process_pages.h"
#include "memgraft/observation/monitor.h"
#include "memgraft/placement/apart.h"
#include "memgraft/placement/budget.h"
#include "memgraft/placement/mappings.h"
#include "memgraft/placement/mover.h"
#include "memgraft/placement/policy.h"
#include "memgraft/placement/profile.h"
#include "memgraft/placement/topology.h"

namespace memgraft::placement {

// By two nodes.
using Matrix = std::vector<std::vector<std::uint64_t>>;
Matrix square(std::size_t nodes);
void add(Matrix& to, const Matrix& other);
std::uint64_t sum(const Matrix& matrix);

// What happened in one interval; docs/formats.md, section 13.
struct Interval {
  std::uint32_t number = 0;
  std::uint64_t samples = 0;
  std::uint64_t lost = 0;  // touches that the monitor could not keep, or that would have cost too much
  std::uint64_t unknown = 0;
  Matrix accesses;
  Matrix moved;
  std::array<std::uint64_t, kOutcomes> outcomes{};  // pages; of those that were to move
  std::array<std::uint64_t, kStays> held{};         // pages
  std::uint64_t moved_back = 0;                     // to where they lay at first
  std::uint64_t moved_by_neighbours = 0;            // for the touches of the pages around them
  std::uint64_t waiting = 0;
  std::uint64_t frozen = 0;
  std::uint64_t pages = 0;
  std::uint64_t forgotten = 0;
};

struct Plans {
  Settings settings;
  double interval_seconds = 5;
  bool dry_run = false;         // says what would be moved
  double observing_cpu = 0.01;  // CPUs that observing may take; tests, which are not timed, give more
  std::size_t most_pages = Profile::kDefaultMost;
  std::string root;  // where /proc and /sys are looked for; tests fake it
};

class Session {
 public:
  // All of them must live as long as this.
  Session(pid_t process, const Topology& topology, observation::Monitor& monitor, Plans plans,
          linux_os::ProcessPages& pages = linux_os::ProcessPages::real());

  // Takes what the monitor has, and moves pages that waited for their touch.
  void drain();

  // Ends an interval: moves what should move, unless `last`.
  Interval end_interval(bool last = false);

  // Whether the process can be asked where its pages are.
  [[nodiscard]] Access access() const { return access_; }
  [[nodiscard]] const Mappings& mappings() const { return mappings_; }
  [[nodiscard]] const Profile& profile() const { return profile_; }
  [[nodiscard]] Mover& mover() { return mover_; }

 private:
  struct Pending {
    std::uint64_t address = 0;  // of the block
    std::optional<std::size_t> node;
  };
  // Parts of a huge page that were seen to move as one.
  struct Together {
    std::uint32_t times = 0;
    std::uint32_t until = 0;  // the interval in which they may move again
  };

  void take(const observation::Touch& touch);
  [[nodiscard]] std::optional<float> watched_for(const observation::Touch& touch) const;
  std::optional<std::size_t> node_of(const observation::Touch& touch);
  void flush();
  void look_where(std::vector<std::uint64_t>& addresses);
  void ask_where(const std::vector<std::uint64_t>& addresses);
  void apply(std::vector<Move> moves);
  void carry_out(const std::vector<Move>& moves);
  void settle(const Move& move, Outcome outcome);
  [[nodiscard]] Block block_of(std::uint64_t address);
  void postpone(std::vector<Move>& moves, const std::function<bool(const Move&)>& when);
  void await_parts(std::vector<Move>& moves);
  void move_first_parts(std::vector<Move>& moves);
  void move_first(const Move& move, std::uint64_t region, std::uint64_t bytes);
  [[nodiscard]] std::vector<std::uint64_t> known_parts(std::uint64_t region, std::uint64_t bytes) const;
  void add_neighbours(const std::vector<Move>& moves);
  void add_neighbours(std::uint64_t page, std::vector<std::uint64_t>& added);
  void propose(const std::vector<Move>& moves);
  void forget_gone();
  [[nodiscard]] Situation situation();
  Plan decide();

  pid_t process_;
  const Topology* topology_;
  observation::Monitor* monitor_;
  Plans plans_;
  Mover mover_;
  Profile profile_;
  Mappings mappings_;
  Budget taking_;
  Budget asking_;
  Budget reading_;
  Budget neighbours_;
  Access access_ = Access::granted;
  std::uint32_t number_ = 1;
  std::uint64_t seen_ = 0;
  std::uint64_t keep_one_in_ = 1;  // touches
  std::uint64_t lost_before_ = 0;
  std::uint64_t forgotten_before_ = 0;
  Interval now_;
  std::vector<Pending> pending_;
  std::vector<std::uint64_t> to_ask_;
  Regions apart_;                                               // that the monitor was asked to keep so
  Regions separate_;                                            // whose parts are seen to move one by one
  std::unordered_map<std::uint64_t, Together> together_;        // ... and those whose are not, by region
  std::unordered_map<std::uint64_t, std::uint32_t> completed_;  // region: the interval in which it was
  std::unordered_map<std::uint32_t, std::optional<std::size_t>> node_of_thread_;  // in this drain
};

}  // namespace memgraft::placement
