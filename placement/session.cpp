#include "memgraft/placement/session.h"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>
#include <utility>

namespace memgraft::placement {

namespace {

constexpr std::size_t kFlushAt = 16384;  // touches: bounds what a drain holds
// An access that a monitor only samples the first of, as hint faults do: they show a page at most once in a
// scan. A program that passes over a page misses in the caches once for each of its 64 lines.
constexpr float kAssumedAccesses = 64;
constexpr double kMostRemainingSeconds = 600;
constexpr std::uint8_t kMostBusy = 5;   // intervals in a row; then the page is left alone as if frozen
constexpr std::uint64_t kReserve = 32;  // a 32th of a node's memory stays free: above the kernel's watermarks

// Shares of what observing may cost.
constexpr double kTakingShare = 0.6;
constexpr double kAskingShare = 0.2;
constexpr double kReadingShare = 0.1;
constexpr double kNeighboursShare = 0.1;
constexpr Budget::Seconds kSavedUp{0.05};
constexpr std::uint64_t kLeastKept = 1024;  // one touch in so many

// The CPU on which the thread ran last: field 39 of stat (proc(5)).
std::optional<unsigned> last_cpu(const std::string& root, pid_t process, std::uint32_t thread) {
  constexpr int kFieldsBetween = 36;  // the third, after the name in brackets, to the 38th
  std::ifstream in(root + "/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(in, line);
  const std::size_t bracket = line.rfind(')');
  if (bracket == std::string::npos) {
    return std::nullopt;
  }
  std::istringstream rest(line.substr(bracket + 1));
  std::string skipped;
  for (int field = 0; field < kFieldsBetween; ++field) {
    rest >> skipped;
  }
  unsigned cpu = 0;
  return rest >> cpu ? std::optional(cpu) : std::nullopt;
}

}  // namespace

Matrix square(std::size_t nodes) {
  Matrix zeroes(nodes);
  std::ranges::for_each(zeroes, [&](auto& row) { row.resize(nodes, 0); });
  return zeroes;
}

void add(Matrix& to, const Matrix& other) {
  for (std::size_t row = 0; row < other.size(); ++row) {
    for (std::size_t column = 0; column < other.size(); ++column) {
      to[row][column] += other[row][column];
    }
  }
}

std::uint64_t sum(const Matrix& matrix) {
  std::uint64_t all = 0;
  for (const auto& row : matrix) {
    all = std::accumulate(row.begin(), row.end(), all);
  }
  return all;
}

Session::Session(pid_t process, const Topology& topology, observation::Monitor& monitor, Plans plans,
                 linux_os::ProcessPages& pages)
    : process_(process),
      topology_(&topology),
      monitor_(&monitor),
      plans_(std::move(plans)),
      mover_(process, topology, pages),
      profile_(topology.size(), plans_.most_pages),
      mappings_(process, plans_.root),
      taking_(kTakingShare * plans_.observing_cpu, kSavedUp),
      asking_(kAskingShare * plans_.observing_cpu, kSavedUp),
      reading_(kReadingShare * plans_.observing_cpu, kSavedUp),
      neighbours_(kNeighboursShare * plans_.observing_cpu, kSavedUp) {
  now_.accesses = square(topology.size());
  now_.moved = square(topology.size());
  // Also tells whether the process can be asked at all.
  std::array<int, 1> node{};
  access_ = mover_.places(std::array{std::uint64_t{0}}, node);
}

std::optional<std::size_t> Session::node_of(const observation::Touch& touch) {
  if (monitor_->sees().cpu) {
    return topology_->node_of_cpu(touch.cpu);
  }
  const auto [entry, added] = node_of_thread_.try_emplace(touch.thread);
  if (added) {
    if (const auto cpu = last_cpu(plans_.root, process_, touch.thread)) {
      entry->second = topology_->node_of_cpu(*cpu);
    }
  }
  return entry->second;
}

Block Session::block_of(std::uint64_t address) {
  return monitor_->sees().splits ? mappings_.part_of(address) : mappings_.block_of(address);
}

std::optional<float> Session::watched_for(const observation::Touch& touch) const {
  constexpr double kSecond = 1e9;
  return touch.watched_nanoseconds
             ? std::optional(static_cast<float>(static_cast<double>(*touch.watched_nanoseconds) / kSecond /
                                                plans_.interval_seconds))
             : std::nullopt;
}

void Session::take(const observation::Touch& touch) {
  if (++seen_ % keep_one_in_ != 0) {
    ++now_.lost;
    return;
  }
  const Block block = block_of(touch.address);
  const auto node = node_of(touch);
  pending_.push_back({.address = block.address, .node = node});
  if (node) {
    // A fault shows a huge page once, however many of its lines are touched.
    const float accesses = touch.stands_for ? static_cast<float>(*touch.stands_for)
                                            : kAssumedAccesses * static_cast<float>(block.pages);
    Page& page = profile_.count({.address = block.address,
                                 .pages = block.pages,
                                 .node = *node,
                                 .thread = touch.thread,
                                 .store = touch.store,
                                 .accesses = accesses,
                                 .watched = watched_for(touch)});
    if (page.seen_at != number_ || page.node < 0) {
      page.seen_at = number_;
      to_ask_.push_back(block.address);
    }
  }
  if (pending_.size() >= kFlushAt) {
    flush();
  }
}

void Session::drain() {
  node_of_thread_.clear();
  // A sample of the sample, where all of it would cost too much.
  keep_one_in_ = taking_.allows() ? std::max<std::uint64_t>(keep_one_in_ / 2, 1)
                                  : std::min(keep_one_in_ * 2, kLeastKept);
  taking_.spend([this] { monitor_->drain([this](const observation::Touch& touch) { take(touch); }); });
  flush();
}

// Pages that were just touched are present: their hint faults are not pending any more. One that was seen
// before is looked for again only as far as the budget goes, a new one always: it could not be moved else.
void Session::look_where(std::vector<std::uint64_t>& addresses) {
  if (topology_->size() > 1 && !asking_.allows()) {
    std::erase_if(addresses, [this](std::uint64_t address) {
      const auto place = profile_.find(address);
      return !place || profile_.pages()[*place].node >= 0;
    });
  }
  ask_where(addresses);
}

void Session::ask_where(const std::vector<std::uint64_t>& addresses) {
  std::vector<int> nodes(addresses.size(), 0);
  if (topology_->size() > 1 && !addresses.empty()) {
    asking_.spend([&] { access_ = mover_.places(addresses, nodes); });
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const auto place = profile_.find(addresses[i]);
    if (place && nodes[i] >= 0) {
      Page& page = profile_.pages()[*place];
      page.node = static_cast<std::int16_t>(nodes[i]);
      page.home = page.home < 0 ? page.node : page.home;
    }
  }
}

void Session::flush() {
  look_where(to_ask_);
  to_ask_.clear();
  std::vector<Move> awaited;
  for (const Pending& touch : pending_) {
    ++now_.samples;
    const auto place = profile_.find(touch.address);
    Page* const page = place ? &profile_.pages()[*place] : nullptr;
    if (!touch.node || page == nullptr || page->node < 0) {
      ++now_.unknown;
      continue;
    }
    ++now_.accesses[*touch.node][static_cast<std::size_t>(page->node)];
    if (plans_.dry_run || page->wanted < 0) {
      continue;
    }
    if (page->wanted != page->node) {
      awaited.push_back({.address = page->address,
                         .pages = page->pages,
                         .from = static_cast<std::size_t>(page->node),
                         .to = static_cast<std::size_t>(page->wanted)});
    }
    page->wanted = kUnknown;  // once in a flush
  }
  pending_.clear();
  if (!awaited.empty()) {
    apply(std::move(awaited));
  }
}

void Session::apply(std::vector<Move> moves) {
  move_first_parts(moves);
  carry_out(moves);
}

void Session::carry_out(const std::vector<Move>& moves) {
  std::vector<Outcome> outcomes;
  const Access access = mover_.move(moves, outcomes);
  if (access != Access::granted) {
    access_ = access;
  }
  for (std::size_t i = 0; access != Access::ended && i < moves.size(); ++i) {
    settle(moves[i], outcomes[i]);
  }
}

void Session::settle(const Move& move, Outcome outcome) {
  const auto place = profile_.find(move.address);
  if (!place) {
    return;
  }
  Page& page = profile_.pages()[*place];
  if (outcome == Outcome::moved) {
    now_.moved[move.from][move.to] += page.pages;
    now_.moved_back += std::cmp_equal(move.to, page.home) ? page.pages : 0;
    now_.moved_by_neighbours += page.by_neighbours ? page.pages : 0;
    note_move(page, move.to, number_, plans_.settings);
    return;
  }
  now_.outcomes.at(static_cast<std::size_t>(outcome)) += page.pages;
  const auto leave_alone = [&] { page.frozen_until = number_ + plans_.settings.freeze_for + 1; };
  switch (outcome) {
    case Outcome::absent:
      page.wanted = static_cast<std::int16_t>(move.to);
      break;
    case Outcome::busy:
      if (++page.busy >= kMostBusy) {
        page.busy = 0;
        leave_alone();
      }
      break;
    case Outcome::forbidden:
      leave_alone();
      break;
    case Outcome::other:
      profile_.forget(*place);  // unmapped, most likely; it comes back if it is touched
      break;
    default:
      break;
  }
}

// A dry run: each page once, as if it had gone there.
void Session::propose(const std::vector<Move>& moves) {
  for (const Move& move : moves) {
    const auto place = profile_.find(move.address);
    if (!place) {
      continue;
    }
    Page& page = profile_.pages()[*place];
    if (std::cmp_not_equal(page.wanted, move.to)) {
      page.wanted = static_cast<std::int16_t>(move.to);
      now_.moved[move.from][move.to] += move.pages;
      now_.moved_by_neighbours += move.by_neighbours ? move.pages : 0;
    }
  }
}

Situation Session::situation() {
  Situation made;
  made.interval = number_;
  for (const Node& node : topology_->nodes()) {
    made.distances.push_back(node.distances);
  }
  made.allowed = allowed_nodes(*topology_, process_, plans_.root);
  const std::vector<std::uint64_t> free = free_bytes(*topology_, plans_.root);
  for (std::size_t node = 0; node < topology_->size(); ++node) {
    const std::uint64_t reserve = topology_->nodes()[node].memory_bytes / kReserve;
    const bool room = free[node] > reserve && !mover_.is_full(node);
    made.room.push_back(room ? (free[node] - reserve) / kPageBytes : 0);
  }
  // It will run as long as it has run: what is known of lifetimes that vary widely (Harchol-Balter and
  // Downey, "Exploiting process lifetime distributions for dynamic load balancing", TOCS 15(3), 1997).
  made.remaining_intervals = std::min<double>(number_, kMostRemainingSeconds / plans_.interval_seconds);
  made.move_nanoseconds = mover_.nanoseconds_per_page(made.move_nanoseconds);
  return made;
}

// By neighbours as often as their budget goes: with a million pages that takes half a second.
Plan Session::decide() {
  Settings settings = plans_.settings;
  settings.neighbours = settings.neighbours && neighbours_.allows();
  const Situation now = situation();
  if (!settings.neighbours) {
    return plan(profile_, now, settings);
  }
  Plan planned;
  neighbours_.spend([&] { planned = plan(profile_, now, settings); });
  return planned;
}

// Pages that are no longer what they were: unmapped, or part of a huge page now, or of none any more.
void Session::forget_gone() {
  for (std::size_t place = profile_.pages().size(); place-- > 0;) {
    const Page& page = profile_.pages()[place];
    const Block block = block_of(page.address);
    if (mappings_.of(page.address) == nullptr || block.address != page.address || block.pages != page.pages) {
      profile_.forget(place);
    }
  }
}

Interval Session::end_interval(bool last) {
  if (!last) {
    if (reading_.allows()) {
      reading_.spend([this] {
        if (mappings_.refresh()) {
          forget_gone();
        }
      });
    }
    Plan planned = decide();
    mover_.clear_full();
    now_.held = planned.pages;
    add_neighbours(planned.moves);
    if (plans_.dry_run) {
      propose(planned.moves);
    } else {
      for (Page& page : profile_.pages()) {
        page.wanted = kUnknown;
      }
      await_parts(planned.moves);
      apply(std::move(planned.moves));
    }
  }
  now_.number = number_++;
  const std::uint64_t lost = monitor_->lost();
  now_.lost += lost - lost_before_;
  lost_before_ = lost;
  now_.forgotten = profile_.forgotten() - forgotten_before_;
  forgotten_before_ += now_.forgotten;
  for (const Page& page : profile_.pages()) {
    now_.pages += page.pages;
    now_.waiting += !plans_.dry_run && page.wanted >= 0 ? page.pages : 0;
    now_.frozen += is_frozen(page, number_) ? page.pages : 0;
  }
  profile_.age();
  Interval ended = std::exchange(now_, {});
  now_.accesses = square(topology_->size());
  now_.moved = square(topology_->size());
  return ended;
}

}  // namespace memgraft::placement
