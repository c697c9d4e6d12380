#include "memgraft/placement/profile.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace memgraft::placement {

namespace {

constexpr std::size_t kFewestSlots = 1024;
constexpr std::size_t kForgottenAtOnce = 16;  // a sixteenth of the pages: finding the coldest looks at all

}  // namespace

Profile::Profile(std::size_t nodes, std::size_t most)
    : nodes_(nodes), most_(std::max<std::size_t>(most, 1)), slots_(kFewestSlots, 0) {}

std::size_t Profile::home_slot(std::uint64_t address) const {
  // Fibonacci hashing (Knuth, The Art of Computer Programming, vol. 3, 6.4): neighbours spread evenly.
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15U;
  const auto bits = static_cast<unsigned>(std::countr_zero(slots_.size()));
  return (address / kPageBytes * kGolden) >> ((64U - bits) % 64U);
}

// Where the address is, or the empty slot where it would be.
std::size_t Profile::slot_of(std::uint64_t address) const {
  std::size_t slot = home_slot(address);
  while (slots_[slot] != 0 && pages_[slots_[slot] - 1].address != address) {
    slot = (slot + 1) % slots_.size();
  }
  return slot;
}

std::optional<std::size_t> Profile::find(std::uint64_t address) const {
  const std::uint32_t there = slots_[slot_of(address)];
  return there == 0 ? std::nullopt : std::optional<std::size_t>(there - 1);
}

void Profile::rebuild(std::size_t slots) {
  slots_.assign(slots, 0);
  for (std::size_t place = 0; place < pages_.size(); ++place) {
    slots_[slot_of(pages_[place].address)] = static_cast<std::uint32_t>(place + 1);
  }
}

std::size_t Profile::add(std::uint64_t address, std::uint32_t pages) {
  if (pages_.size() >= most_) {
    make_room();
  }
  if ((pages_.size() + 1) * 2 > slots_.size()) {
    rebuild(slots_.size() * 2);
  }
  Page page;
  page.address = address;
  page.pages = pages;
  page.span = 1;
  pages_.push_back(page);
  touches_.resize(pages_.size() * nodes_, 0);
  slots_[slot_of(address)] = static_cast<std::uint32_t>(pages_.size());
  return pages_.size() - 1;
}

Page& Profile::count(const Seen& seen) {
  const auto known = find(seen.address);
  const std::size_t place = known ? *known : add(seen.address, seen.pages);
  touches_[(place * nodes_) + seen.node] += 1;
  Page& page = pages_[place];
  page.last_thread = seen.thread;
  page.touched_ago = 0;
  page.accesses_per_touch = seen.accesses;
  if (seen.watched) {
    page.span = *seen.watched + (page.is_sampled ? page.span : 0);
    page.is_sampled = true;
  }
  page.stores += seen.store.value_or(false) ? 1.0F : 0.0F;
  return page;
}

Page& Profile::add_untouched(std::uint64_t address, Page like) {
  if (const auto known = find(address)) {
    return pages_[*known];
  }
  Page& page = pages_[add(address, 1)];
  page.is_sampled = like.is_sampled;
  page.span = like.is_sampled ? 0 : like.span;
  page.touched_ago = UINT16_MAX;  // the first to make room for others
  return page;
}

// Moves those behind it up, as linear probing wants, so that no slot need be marked as once used.
void Profile::erase_slot(std::size_t slot) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t hole = slot;
  for (std::size_t next = (hole + 1) & mask; slots_[next] != 0; next = (next + 1) & mask) {
    const std::size_t home = home_slot(pages_[slots_[next] - 1].address);
    if (((next - home) & mask) >= ((next - hole) & mask)) {
      slots_[hole] = slots_[next];
      hole = next;
    }
  }
  slots_[hole] = 0;
}

void Profile::forget(std::size_t place) {
  erase_slot(slot_of(pages_[place].address));
  const std::size_t last = pages_.size() - 1;
  if (place != last) {
    slots_[slot_of(pages_[last].address)] = static_cast<std::uint32_t>(place + 1);
    pages_[place] = pages_[last];
    std::copy_n(touches_.begin() + static_cast<std::ptrdiff_t>(last * nodes_), nodes_,
                touches_.begin() + static_cast<std::ptrdiff_t>(place * nodes_));
  }
  pages_.pop_back();
  touches_.resize(pages_.size() * nodes_);
}

void Profile::make_room() {
  const std::size_t goners = std::max<std::size_t>(pages_.size() / kForgottenAtOnce, 1);
  std::vector<std::uint32_t> order(pages_.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto total = [this](std::uint32_t place) {
    const auto of_page = touches(place);
    return std::accumulate(of_page.begin(), of_page.end(), 0.0F);
  };
  const auto colder = [&](std::uint32_t a, std::uint32_t b) {
    const Page& left = pages_[a];
    const Page& right = pages_[b];
    if (left.touched_ago != right.touched_ago) {
      return left.touched_ago > right.touched_ago;
    }
    const float one = total(a);
    const float other = total(b);
    return one != other ? one < other : left.address < right.address;
  };
  std::ranges::nth_element(order, order.begin() + static_cast<std::ptrdiff_t>(goners - 1), colder);
  order.resize(goners);
  // From the highest place down: forget() fills a gap with the last page.
  std::ranges::sort(order, std::greater{});
  for (const std::uint32_t place : order) {
    forget(place);
  }
  forgotten_ += goners;
}

void Profile::age() {
  for (std::size_t place = 0; place < pages_.size(); ++place) {
    Page& page = pages_[place];
    const auto counts = std::span(touches_).subspan(place * nodes_, nodes_);
    if (std::accumulate(counts.begin(), counts.end(), 0.0F) > kFew) {
      std::ranges::for_each(counts, [](float& count) { count /= 2; });
      page.stores /= 2;
      page.span /= 2;
    }
    page.span += page.is_sampled ? 0.0F : 1.0F;
    if (page.touched_ago < UINT16_MAX) {
      ++page.touched_ago;
    }
  }
}

}  // namespace memgraft::placement
