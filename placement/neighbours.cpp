#include "memgraft/placement/neighbours.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace memgraft::placement {

// Columns of sums_ behind those of the nodes' touches.
enum : std::uint8_t { kSpan, kAccesses, kMore };

Neighbours::Neighbours(const Profile& profile)
    : profile_(profile), columns_(profile.nodes() + kMore), around_(profile.pages().size(), 0) {
  const auto pages = profile.pages();
  const std::size_t nodes = profile.nodes();
  for (std::uint32_t place = 0; place < pages.size(); ++place) {
    if (pages[place].pages == 1) {
      order_.push_back({.address = pages[place].address, .place = place});
    }
  }
  std::ranges::sort(order_, {}, &Placed::address);
  std::vector<double> all(columns_, 0);
  sums_ = all;
  sums_.reserve((order_.size() + 1) * columns_);
  for (const Placed& placed : order_) {
    const auto touches = profile.touches(placed.place);
    std::ranges::transform(touches, all, all.begin(), std::plus<>{});
    const Page& page = pages[placed.place];
    all[nodes + kSpan] += page.span;
    all[nodes + kAccesses] +=
        std::accumulate(touches.begin(), touches.end(), 0.0) * static_cast<double>(page.accesses_per_touch);
    sums_.insert(sums_.end(), all.begin(), all.end());
  }
  constexpr std::uint64_t kBytes = kMostPages * kPageBytes;
  for (std::size_t first = 0; first < order_.size();) {
    const std::uint64_t region = order_[first].address / kBytes;
    std::size_t last = first + 1;
    while (last < order_.size() && order_[last].address / kBytes == region) {
      ++last;
    }
    divide({.first = first, .last = last, .address = region * kBytes, .pages = kMostPages});
    first = last;
  }
}

double Neighbours::sum(std::size_t first, std::size_t last, std::size_t column) const {
  return sums_[(last * columns_) + column] - sums_[(first * columns_) + column];
}

// Whether it has enough touches: then each of its pages has a block, this one or a smaller one.
bool Neighbours::divide(const Part& part) {
  double all = 0;
  for (std::size_t node = 0; node < profile_.nodes(); ++node) {
    all += sum(part.first, part.last, node);
  }
  if (all < kEnough) {
    return false;
  }
  if (part.pages == 1) {
    assign(part, add_block(part));
    return true;
  }
  const std::uint64_t pages = part.pages / 2;
  const std::uint64_t middle = part.address + (pages * kPageBytes);
  const auto in_first = [&](const Placed& page) { return page.address < middle; };
  const auto split = std::partition_point(order_.begin() + static_cast<std::ptrdiff_t>(part.first),
                                          order_.begin() + static_cast<std::ptrdiff_t>(part.last), in_first);
  const auto at = static_cast<std::size_t>(split - order_.begin());
  std::uint32_t block = 0;
  for (const Part& half : {Part{.first = part.first, .last = at, .address = part.address, .pages = pages},
                           Part{.first = at, .last = part.last, .address = middle, .pages = pages}}) {
    if (!divide(half)) {
      block = block == 0 ? add_block(part) : block;
      assign(half, block);
    }
  }
  return true;
}

void Neighbours::assign(const Part& part, std::uint32_t block) {
  for (std::size_t i = part.first; i < part.last; ++i) {
    around_[order_[i].place] = block;
  }
}

std::uint32_t Neighbours::add_block(const Part& part) {
  const std::size_t nodes = profile_.nodes();
  double all = 0;
  for (std::size_t node = 0; node < nodes; ++node) {
    const double touches = sum(part.first, part.last, node);
    touches_.push_back(static_cast<float>(touches));
    all += touches;
  }
  blocks_.push_back(
      {.touches = {},  // touches_ grows
       .span = static_cast<float>(sum(part.first, part.last, nodes + kSpan)),
       .accesses_per_touch = static_cast<float>(sum(part.first, part.last, nodes + kAccesses) / all)});
  return static_cast<std::uint32_t>(blocks_.size());
}

Around Neighbours::around(std::size_t place) const {
  const std::uint32_t block = around_[place];
  if (block == 0) {
    return {};
  }
  Around found = blocks_[block - 1];
  found.touches = std::span(touches_).subspan((block - 1) * profile_.nodes(), profile_.nodes());
  return found;
}

}  // namespace memgraft::placement
