// The thread that chooses pages, guards them, and lets go of those that nobody touched (candidates.cpp: among
// what).
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <mutex>
#include <numeric>
#include <utility>

#include "budget.h"
#include "mappings.h"
#include "round.h"
#include "sampler.h"
#include "turns.h"

namespace memgraft::observation {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint32_t kRoundsGuarded = 5;  // a page that nobody touches
static_assert(kRoundsGuarded < kRoundsKnown);
constexpr std::uint64_t kForgottenAfter = 10 * kSecond;  // without being read

std::uint64_t random_number() {
  // xorshift64 (Marsaglia, Xorshift RNGs, 2003)
  g_round.random ^= g_round.random << 13U;
  g_round.random ^= g_round.random >> 7U;
  g_round.random ^= g_round.random << 17U;
  return g_round.random;
}

// Lets go of pages that were guarded long enough, and forgets those that were unmapped behind our back: what
// is there now is not ours.
void let_go() {
  for (std::size_t i = 0; i < g_round.snapshot_count; ++i) {
    const std::uintptr_t page = g_round.snapshot[i];
    const std::scoped_lock locked(g_state.lock);
    if (!g_state.guarded.has(page)) {
      continue;
    }
    if (!g_round.confirmed[i]) {
      g_state.guarded.erase(page);
    } else if (g_round.number - g_state.guarded.number_of(page) >= kRoundsGuarded) {
      release({.begin = page, .end = page + 1});
    }
  }
}

// Whether it still is what it was when the mappings were read. While a thread begins, new memory may be its
// stack. Under the lock.
bool unchanged(Range range) {
  const auto& known = g_state.candidates[g_state.newest];
  return !g_state.all_changed &&
         std::none_of(g_state.changed, g_state.changed + g_state.changed_count,
                      [&](Range changed) { return changed.overlaps(range); }) &&
         (g_state.beginning_threads == 0 ||
          std::any_of(known, known + kMostCandidates,
                      [&](const Candidate& old) { return old.range.contains(range); }));
}

void publish_candidates() {
  const std::scoped_lock locked(g_state.lock);
  auto& next = g_state.candidates[1 - g_state.newest];
  for (std::size_t i = 0; i < kMostCandidates; ++i) {
    const bool used = i < g_round.found_count;
    next[i] = {.range = used ? g_round.found[i] : Range{}, .live = used && unchanged(g_round.found[i])};
  }
  g_state.newest = 1 - g_state.newest;
}

// The page at a position in all candidates.
std::size_t candidate_at(std::uint64_t position, std::uintptr_t& page) {
  for (std::size_t i = 0; i < g_round.found_count; ++i) {
    const Range range = g_round.found[i];
    const std::uint64_t pages = (range.end - range.begin) / g_state.page_bytes;
    if (position < pages) {
      page = range.begin + position * g_state.page_bytes;
      return i;
    }
    position -= pages;
  }
  return kMostCandidates;
}

// Under the lock.
bool may_guard_anything() {
  return g_state.active.load(std::memory_order_relaxed) &&
         g_state.calm.load(std::memory_order_relaxed) == 0 && g_state.guarded.size() < kMostGuarded;
}

bool may_guard(std::size_t candidate, std::uintptr_t page) {
  if (!may_guard_anything() || !g_state.candidates[g_state.newest][candidate].live ||
      g_state.guarded.has(page) || g_state.futexes.has(page)) {
    return false;
  }
  const Range one{.begin = page, .end = page + g_state.page_bytes};
  return std::none_of(g_state.held, g_state.held + kMostHeld, [&](Range held) { return held.overlaps(one); });
}

bool guard(std::size_t candidate, std::uintptr_t page) {
  unsigned char resident = 0;
  void* const at = reinterpret_cast<void*>(page);
  if (mincore(at, g_state.page_bytes, &resident) != 0 || (resident & 1U) == 0) {
    return false;
  }
  split_huge_page(page);
  const std::scoped_lock locked(g_state.lock);
  if (!may_guard(candidate, page) || !g_state.guarded.insert(page, g_round.number)) {
    return false;
  }
  if (g_state.mprotect(at, g_state.page_bytes, PROT_NONE) != 0) {
    g_state.guarded.erase(page);
    return false;
  }
  ++g_state.guardings;
  return true;
}

// Steps of the golden ratio visit everything once, and are spread evenly at any time.
std::uint64_t step_over(std::uint64_t pages) {
  auto step = static_cast<std::uint64_t>(static_cast<double>(pages) * 0.6180339887498949) | 1U;
  while (std::gcd(step, pages) != 1) {
    step += 2;
  }
  return step;
}

std::uint64_t guard_pages(std::uint64_t wanted) {
  if (g_round.found_pages != g_round.walked_pages) {
    g_round.walked_pages = g_round.found_pages;
    g_round.position = g_round.found_pages == 0 ? 0 : random_number() % g_round.found_pages;
  }
  if (g_round.found_pages == 0) {
    return 0;
  }
  {
    const std::scoped_lock locked(g_state.lock);
    g_state.guarded_at[g_round.number % kRoundsKnown] = now_nanoseconds();
  }
  const std::uint64_t step = step_over(g_round.found_pages);
  const std::uint64_t most_tries = std::min<std::uint64_t>(4 * wanted, g_round.found_pages);
  std::uint64_t done = 0;
  for (std::uint64_t tries = 0; tries < most_tries && done < wanted; ++tries) {
    g_round.position = (g_round.position + step) % g_round.found_pages;
    std::uintptr_t page = 0;
    const std::size_t candidate = candidate_at(g_round.position, page);
    done += candidate < kMostCandidates && guard(candidate, page) ? 1U : 0U;
  }
  return done;
}

// A calm that a program ended with a jump out of its handler ends by itself.
bool is_calm(std::uint64_t now) {
  if (g_state.program_handlers.load(std::memory_order_relaxed) != 0) {
    if (now < g_state.program_handlers_until.load(std::memory_order_relaxed)) {
      return true;
    }
    g_state.program_handlers.store(0, std::memory_order_relaxed);
  }
  return g_state.calm.load(std::memory_order_relaxed) != 0 ||
         now < g_state.calm_until.load(std::memory_order_relaxed);
}

// Few enough for the kernel's limit of mappings, the half of which stays the program's.
std::uint64_t pages_wanted(const Shared& shared, std::uint64_t elapsed) {
  constexpr std::uint64_t kHalfOfAllMappings = 32765;
  const std::uint64_t rate = std::min(shared.pages_per_second.load(std::memory_order_relaxed), 1'000'000U);
  const std::uint64_t left =
      g_round.mappings >= kHalfOfAllMappings ? 0 : (kHalfOfAllMappings - g_round.mappings) / 2;
  return std::min(
      {rate * std::min(elapsed, kSecond) / kSecond, left, static_cast<std::uint64_t>(kMostGuarded)});
}

std::uint64_t own_cpu() { return now_nanoseconds(CLOCK_THREAD_CPUTIME_ID); }

struct Counts {
  std::uint64_t guarded;
  std::uint64_t touched;
};
Counts counts() {
  const std::scoped_lock locked(g_state.lock);
  return {.guarded = g_state.guarded.size(), .touched = g_state.touched};
}

// A page between two of the same kind, as those that are sampled are.
std::uintptr_t map_trial() {
  const std::size_t bytes = 3 * g_state.page_bytes;
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) {
    return 0;
  }
  never_guard({.begin = address_of(at), .end = address_of(at) + bytes});
  return address_of(at) + g_state.page_bytes;
}

// What a touch costs here and now: of a page of our own, by this thread.
std::uint64_t try_touch() {
  volatile char* const at = reinterpret_cast<char*>(g_state.trial);
  *at = 1;
  g_state.lock.lock();
  const bool guarded = may_guard_anything() && g_state.guarded.insert(g_state.trial, g_round.number);
  if (guarded) {
    g_state.mprotect(reinterpret_cast<void*>(g_state.trial), g_state.page_bytes, PROT_NONE);
  }
  g_state.lock.unlock();
  if (!guarded) {
    return 0;
  }
  sigset_t segv;
  sigemptyset(&segv);
  sigaddset(&segv, SIGSEGV);
  g_state.change_mask(SIG_UNBLOCK, &segv, nullptr);
  const std::uint64_t before = own_cpu();
  *at = 2;
  const std::uint64_t used = own_cpu() - before;
  g_state.change_mask(SIG_BLOCK, &segv, nullptr);
  return used;
}

void see_touch(Budget& budget) {
  if (g_state.trial == 0) {
    return;
  }
  // Threads touch a few in a row: the first, of a thread that has just woken up, takes three times as long.
  try_touch();
  if (const std::uint64_t used = try_touch(); used != 0) {
    budget.see_touch(used);
  }
}

// Not after the program has ended meanwhile, or whatever else stopped it.
void say(Shared& shared, Standing standing) {
  const std::scoped_lock locked(g_state.lock);
  if (active()) {
    shared.standing.store(static_cast<std::uint32_t>(standing), std::memory_order_relaxed);
  }
}

// What it takes of this thread's CPU time.
template <typename Work>
std::uint64_t time(Work work) {
  const std::uint64_t before = own_cpu();
  work();
  return own_cpu() - before;
}

// What pages took of this thread's time, rather than looking for them.
std::uint64_t one_round(Shared& shared, Budget& budget, std::uint64_t elapsed) {
  ++g_round.number;
  take_snapshot();
  read_mappings(shared);
  if (g_round.jvm) {
    stop(Standing::jvm);
    return 0;
  }
  std::uint64_t for_pages = time(let_go);
  publish_candidates();
  see_joined();
  keep_apart(shared);
  shared.candidate_bytes.store(g_round.found_pages * g_state.page_bytes, std::memory_order_relaxed);
  shared.left_out_bytes.store(g_round.left_out_bytes, std::memory_order_relaxed);
  shared.small_bytes.store(g_round.small_bytes, std::memory_order_relaxed);
  say(shared, g_round.found_pages == 0 ? Standing::idle : Standing::sampling);
  const std::uint64_t now = now_nanoseconds();
  const bool heard = now < shared.alive_nanoseconds.load(std::memory_order_relaxed) + kForgottenAfter;
  if (heard && !is_calm(now) && g_round.found_pages != 0) {
    see_touch(budget);
    const std::uint64_t wanted = std::min(pages_wanted(shared, elapsed), budget.pages(counts().guarded));
    std::uint64_t pages = 0;
    const std::uint64_t used = time([&] { pages = guard_pages(wanted); });
    budget.see_guarding(pages, used);
    for_pages += used;
    shared.protections.fetch_add(pages, std::memory_order_relaxed);
  }
  return for_pages;
}

std::uint64_t since(std::uint64_t& last, std::uint64_t now) { return now - std::exchange(last, now); }

void rest(std::uint64_t nanoseconds) {
  const timespec time{.tv_sec = static_cast<time_t>(nanoseconds / kSecond),
                      .tv_nsec = static_cast<long>(nanoseconds % kSecond)};
  nanosleep(&time, nullptr);
}

}  // namespace

bool retry_would_do(std::uintptr_t address, bool store) {
  // Only where we may have been: the program may well use SIGSEGV itself, and often.
  bool ours = false;
  g_state.lock.lock();
  for (const auto& candidates : g_state.candidates) {
    for (const auto& candidate : candidates) {
      ours = ours || (address >= candidate.range.begin && address < candidate.range.end);
    }
  }
  g_state.lock.unlock();
  if (!ours) {
    return false;
  }
  char buffer[512];
  Mappings mappings(g_state.read, buffer, sizeof(buffer));
  Mapping mapping;
  while (mappings.next(mapping)) {
    if (address >= mapping.begin && address < mapping.end) {
      return store ? mapping.writable : mapping.readable;
    }
  }
  return false;
}

void* sample(void* /*unused*/) {
  pthread_setname_np(pthread_self(), "memgraft-sample");
  Shared& shared = *g_state.shared.load();
  never_guard({.begin = address_of(&g_round), .end = address_of(&g_round) + sizeof(g_round)});
  never_guard_own_stack();
  find_huge_pages();
  g_state.trial = map_trial();
  std::uint64_t last = now_nanoseconds();
  g_round.random = last | 1U;
  std::uint64_t cpu = own_cpu();
  std::uint64_t touched = 0;
  std::uint64_t rests = Budget::kRound;
  Budget budget(shared.cpu_millionths.load(std::memory_order_relaxed) / 1e6);
  Turns turns;
  while (active()) {
    rest(rests);
    if (shared.stop.load(std::memory_order_relaxed) != 0) {
      stop(Standing::stopped);
    } else if (!handler_is_ours()) {
      stop(Standing::replaced);
    }
    const std::uint64_t now = now_nanoseconds();
    std::uint64_t for_pages = 0;
    if (active()) {
      turns.next();
      budget.earn(now - last);
      for_pages = one_round(shared, budget, now - last);
    }
    last = now;
    const std::uint64_t own = since(cpu, own_cpu());
    const std::uint64_t used = own + (since(touched, counts().touched) * budget.touch());
    shared.cpu_nanoseconds.fetch_add(used, std::memory_order_relaxed);
    budget.spend(used);
    rests = budget.rest(own - std::min(own, for_pages));
  }
  return nullptr;
}

}  // namespace memgraft::observation
