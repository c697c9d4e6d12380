#include "memgraft/placement/mover.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

namespace memgraft::placement {

namespace {

// The kernel waits for every CPU once a call (lru_cache_disable(), mm/migrate.c), so not too few; it gives a
// batch up at the first page that cannot be moved, so not too many.
constexpr std::size_t kBatch = 1024;
constexpr std::size_t kAskedAtOnce = 4096;
constexpr std::uint64_t kEnoughPages = 256;  // moved, to know what it costs
// To find the pages that stop a batch, in one move(): a mapping that is pinned as a whole would take two
// calls for each of its pages.
constexpr unsigned kMostExtraCalls = 256;

std::uint64_t cpu_nanoseconds() {
  constexpr std::uint64_t kPerSecond = 1'000'000'000;
  timespec now{};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (static_cast<std::uint64_t>(now.tv_sec) * kPerSecond) + static_cast<std::uint64_t>(now.tv_nsec);
}

Access access_of(int error) {
  switch (error) {
    case ESRCH:
      return Access::ended;
    case EPERM:
      return Access::denied;
    case ENOSYS:
      return Access::none;
    default:
      return Access::granted;
  }
}

}  // namespace

Access Mover::places(std::span<const std::uint64_t> addresses, std::span<int> nodes) {
  std::ranges::fill(nodes, kUnknown);
  for (std::size_t start = 0; start < addresses.size(); start += kAskedAtOnce) {
    const std::size_t count = std::min(kAskedAtOnce, addresses.size() - start);
    const std::span<int> answers = nodes.subspan(start, count);
    const int error = pages_->nodes(process_, addresses.subspan(start, count), answers);
    if (const Access access = access_of(error); access != Access::granted) {
      std::ranges::fill(nodes.subspan(start), kUnknown);
      return access;
    }
    for (int& answer : answers) {
      const auto place = answer < 0 ? std::nullopt : topology_->position(static_cast<unsigned>(answer));
      answer = place ? static_cast<int>(*place) : kUnknown;
    }
  }
  return Access::granted;
}

Outcome Mover::outcome_of(int answer, std::size_t node) {
  if (answer >= 0) {
    // A page that was there already answers so too.
    return std::cmp_equal(answer, topology_->nodes()[node].number) ? Outcome::moved : Outcome::other;
  }
  switch (-answer) {
    case EBUSY:
      return Outcome::busy;
    case ENOMEM:
      full_.resize(topology_->size(), false);
      full_[node] = true;
      return Outcome::no_memory;
    case ENOENT:
      return Outcome::absent;
    case EACCES:
    case ENODEV:  // the target went offline
      return Outcome::forbidden;
    default:
      return Outcome::other;
  }
}

// Moves what can be moved. Where the kernel stops at a page, the two halves of what is left are tried on
// their own, down to a single page: that one is busy. Which pages it did move it does not tell, but when they
// are tried again it answers that they are there.
Access Mover::move_batch(std::size_t node, std::span<const std::uint64_t> addresses, std::span<int> answers) {
  const auto number = static_cast<int>(topology_->nodes()[node].number);
  const int error = pages_->move(process_, addresses, number, answers);
  access_ = access_of(error);
  if (access_ != Access::granted || error == 0) {
    return access_;
  }
  if (error > 0) {
    std::ranges::replace(answers, linux_os::ProcessPages::kNoAnswer, -error);
    return access_;
  }
  std::vector<std::uint64_t> left;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i] == linux_os::ProcessPages::kNoAnswer) {
      left.push_back(addresses[i]);
      places.push_back(i);
    }
  }
  if (addresses.size() == 1 || extra_calls_ >= kMostExtraCalls) {
    std::ranges::replace(answers, linux_os::ProcessPages::kNoAnswer, -EBUSY);
    return access_;
  }
  extra_calls_ += 2;
  const std::size_t half = (left.size() + 1) / 2;
  std::vector<int> of_left(left.size(), -EBUSY);
  for (std::size_t start = 0; start < left.size() && access_ == Access::granted; start += half) {
    const std::size_t count = std::min(half, left.size() - start);
    move_batch(node, std::span(left).subspan(start, count), std::span(of_left).subspan(start, count));
  }
  for (std::size_t i = 0; i < left.size(); ++i) {
    answers[places[i]] = of_left[i];
  }
  return access_;
}

void Mover::move_to(std::size_t node, std::span<const std::size_t> chosen, std::span<const Move> moves,
                    std::vector<Outcome>& outcomes) {
  std::vector<std::uint64_t> addresses;
  std::vector<int> answers;
  for (std::size_t start = 0; start < chosen.size() && access_ == Access::granted; start += kBatch) {
    const auto batch = chosen.subspan(start, std::min(kBatch, chosen.size() - start));
    if (is_full(node)) {
      std::ranges::for_each(batch, [&](std::size_t place) { outcomes[place] = Outcome::no_memory; });
      continue;
    }
    addresses.clear();
    std::ranges::for_each(batch, [&](std::size_t place) { addresses.push_back(moves[place].address); });
    answers.assign(batch.size(), linux_os::ProcessPages::kNoAnswer);
    if (move_batch(node, addresses, answers) != Access::granted) {
      return;
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
      outcomes[batch[i]] = outcome_of(answers[i], node);
      moved_pages_ += outcomes[batch[i]] == Outcome::moved ? moves[batch[i]].pages : 0;
    }
  }
}

Access Mover::move(std::span<const Move> moves, std::vector<Outcome>& outcomes) {
  outcomes.assign(moves.size(), Outcome::other);
  access_ = Access::granted;
  extra_calls_ = 0;
  const std::uint64_t before = cpu_nanoseconds();
  std::vector<std::size_t> chosen;
  for (std::size_t node = 0; node < topology_->size() && access_ == Access::granted; ++node) {
    chosen.clear();
    for (std::size_t place = 0; place < moves.size(); ++place) {
      if (moves[place].to == node) {
        chosen.push_back(place);
      }
    }
    move_to(node, chosen, moves, outcomes);
  }
  moving_nanoseconds_ += cpu_nanoseconds() - before;
  return access_;
}

double Mover::nanoseconds_per_page(double otherwise) const {
  return moved_pages_ < kEnoughPages
             ? otherwise
             : static_cast<double>(moving_nanoseconds_) / static_cast<double>(moved_pages_);
}

}  // namespace memgraft::placement
