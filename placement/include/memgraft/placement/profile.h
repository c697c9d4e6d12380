// Which node touched which page how often: what the policy decides from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace memgraft::placement {

inline constexpr std::uint64_t kPageBytes = 4096;  // the unit of blocks, counts and limits
inline constexpr int kUnknown = -1;

// What the kernel moves as one: a page, or a huge page. Nodes are positions in Topology::nodes().
struct Page {
  std::uint64_t address = 0;  // its start
  std::uint32_t pages = 1;    // of kPageBytes; 512 of a huge page of x86
  std::uint32_t last_thread = 0;
  std::int16_t node = kUnknown;    // where it lies, as was last seen
  std::int16_t wanted = kUnknown;  // it is to go there at its next touch; kUnknown: it is not waiting
  std::uint16_t touched_ago = 0;   // intervals
  std::uint8_t busy = 0;           // times in a row that the kernel could not move it
  std::uint8_t moves = 0;          // in its present streak: see Settings::freeze_after
  std::uint32_t moved_at = 0;      // number of the interval of the newest move; 0: none
  std::uint32_t frozen_until = 0;  // number of the first interval in which it may move again; 0: not frozen
  std::uint32_t seen_at = 0;       // number of the interval in which `node` was seen
  std::int16_t home = kUnknown;    // where it lay at first
  bool is_sampled = false;         // it is watched for a part of the time only, which `span` is the sum of
  bool by_neighbours = false;      // its newest move is for the touches of the pages around it
  float accesses_per_touch = 1;
  float stores = 0;  // of the touches, where the monitor tells them apart
  float span = 0;    // intervals that its touches are from, aged as they are
};

// Bounded: so many pages and no more; the ones not touched for the longest time, and of those the ones with
// the fewest touches, make room for others.
//
// Aged: age() ends an interval and halves all touches, so that the program's present shows through its past.
// Pages with so few that nothing follows from them yet keep them (kFew): a monitor that sees a page once in
// an interval would otherwise never see it more than twice. `span` is halved along, touches / span is their
// rate.
class Profile {
 public:
  static constexpr std::size_t kDefaultMost = std::size_t{1} << 20U;
  static constexpr float kFew = 6;

  explicit Profile(std::size_t nodes, std::size_t most = kDefaultMost);

  struct Seen {
    std::uint64_t address = 0;  // the page's start
    std::uint32_t pages = 1;
    std::size_t node = 0;  // of the CPU
    std::uint32_t thread = 0;
    std::optional<bool> store;
    float accesses = 1;
    std::optional<float> watched = std::nullopt;  // intervals, where it was not watched all the time
  };
  // The page; valid until the next call that is not const.
  Page& count(const Seen& seen);

  // A small page that nobody was seen to touch, if it is not there yet: watched as that other one. Valid as
  // that of count().
  Page& add_untouched(std::uint64_t address, Page like);

  // Its place in pages(), if it is there.
  [[nodiscard]] std::optional<std::size_t> find(std::uint64_t address) const;
  void forget(std::size_t place);
  void age();

  [[nodiscard]] std::size_t nodes() const { return nodes_; }
  [[nodiscard]] std::span<const Page> pages() const { return pages_; }
  [[nodiscard]] std::span<Page> pages() { return pages_; }
  // Touches by node, of the page at that place.
  [[nodiscard]] std::span<const float> touches(std::size_t place) const {
    return std::span(touches_).subspan(place * nodes_, nodes_);
  }
  // Pages that it had no room for, since the start.
  [[nodiscard]] std::uint64_t forgotten() const { return forgotten_; }

 private:
  [[nodiscard]] std::size_t slot_of(std::uint64_t address) const;
  [[nodiscard]] std::size_t home_slot(std::uint64_t address) const;
  std::size_t add(std::uint64_t address, std::uint32_t pages);
  void make_room();
  void rebuild(std::size_t slots);
  void erase_slot(std::size_t slot);

  std::size_t nodes_;
  std::size_t most_;
  std::uint64_t forgotten_ = 0;
  std::vector<Page> pages_;
  std::vector<float> touches_;
  std::vector<std::uint32_t> slots_;  // open addressing: place + 1 in pages_; 0: empty
};

}  // namespace memgraft::placement
