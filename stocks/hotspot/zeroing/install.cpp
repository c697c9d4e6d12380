#include "zeroing/install.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>

#include "join/refusal.h"
#include "memgraft/units.h"
#include "zeroing/beneath.h"
#include "zeroing/needs.h"
#include "zeroing/state.h"

namespace memgraft::hotspot {

namespace {

Zeroing& state() {
  static Zeroing graft;
  return graft;
}

bool has_nursery(Collector collector) {
  return std::ranges::find(kAheadNeeds.collectors, collector) != kAheadNeeds.collectors.end();
}

bool zeroes_ahead(const ZeroingOptions& options, Collector collector) {
  return options.uses(ZeroingStrategy::concurrent) || options.uses(ZeroingStrategy::pause) ||
         (options.uses(ZeroingStrategy::adaptive) && has_nursery(collector));
}

bool hands_out_windows(const ZeroingOptions& options) {
  return options.uses(ZeroingStrategy::windows) || options.uses(ZeroingStrategy::adaptive);
}

bool has_epochs(const ZeroingOptions& options) {
  return options.against || options.uses(ZeroingStrategy::concurrent) ||
         options.uses(ZeroingStrategy::pause) || options.uses(ZeroingStrategy::adaptive);
}

double rate(const Zeroing& graft) { return graft.cycle_rate.per_nanosecond(); }

ZeroingTotals totals(const Zeroing& graft) {
  ZeroingTotals totals{.allocated_bytes = value_of(graft.allocated_bytes),
                       .zeroed_bytes = value_of(graft.thread_bytes),
                       .zeroing_seconds = graft.thread_timer.seconds(rate(graft))};
  if (graft.ahead != nullptr) {
    const auto counts = graft.ahead->counts();
    totals.zeroed_bytes += counts.zeroed_ahead.count();
    totals.helper_cpu_seconds = to_seconds(counts.helper_cpu_time);
  }
  return totals;
}

void load_table(const std::filesystem::path& table) {
  std::array<char, 512> error{};
  if (!memgraft_zero_load_table(table.c_str(), error.data(), error.size())) {
    throw Refusal("wrong agent option 'table=" + table.string() + "'",
                  {.looked_for = "a table of `memgraft zero calibrate` for this CPU",
                   .found = error.data(),
                   .advice = "run `memgraft zero calibrate`, or remove that file"},
                  kExitWrongUsage);
  }
}

void choose_kernels(Zeroing& graft, const ZeroingOptions& options) {
  graft.ordinary = memgraft_zero_chosen(MEMGRAFT_ZERO_ORDINARY);
  graft.non_temporal = memgraft_zero_chosen(MEMGRAFT_ZERO_NON_TEMPORAL);
  if (graft.non_temporal == nullptr) {
    if (options.uses(ZeroingStrategy::non_temporal) || options.uses(ZeroingStrategy::mixed)) {
      throw Refusal("zeroing with non-temporal stores is not possible on this machine",
                    {.looked_for = "non-temporal store instructions that a zeroing kernel uses",
                     .found = "none on this CPU",
                     .advice = "use zeroing=bulk or zeroing=windows"},
                    kExitCannotTakeGraft);
    }
    graft.non_temporal = graft.ordinary;
  }
  graft.window_bytes = options.window_bytes;
  graft.window = graft.ordinary;
  if (options.table) {
    load_table(*options.table);
    // Objects are written into a window right after it was zeroed.
    graft.window = memgraft_zero_best(MEMGRAFT_ZERO_USED_SOON, options.window_bytes, 1);
  }
  switch (options.strategy) {
    case ZeroingStrategy::bulk:
      graft.kernel = graft.ordinary->name;
      break;
    case ZeroingStrategy::windows:
      graft.kernel = graft.window->name;
      break;
    default:
      graft.kernel = graft.non_temporal->name;
  }
}

std::vector<ZeroingStrategy> on_thread_strategies(const Zeroing& graft) {
  // The first is in use until another proves better. Non-temporal stores, because nurseries are larger than
  // caches: a program of few collections hardly gets to know the others.
  std::vector strategies{ZeroingStrategy::non_temporal, ZeroingStrategy::bulk, ZeroingStrategy::windows};
  if (graft.non_temporal == graft.ordinary) {
    strategies.erase(strategies.begin());
  }
  return strategies;
}

void start_helper(Zeroing& graft) {
  if (graft.helper_reason == nullptr) {
    graft.helper_reason = new std::string;
    graft.helper_started = graft.ahead->start(*graft.helper_reason);
  }
}

// What the strategy that is now in force does with the free nursery.
void prepare_nursery(Zeroing& graft) {
  const ZeroingStrategy now = strategy_now(graft);
  if (now == ZeroingStrategy::concurrent) {
    start_helper(graft);
    graft.ahead->open(graft.nursery.free());
  } else if (now == ZeroingStrategy::pause) {
    const std::span<std::byte> free = graft.nursery.free();
    graft.pause_timer.time(Bytes(free.size()), [&] { graft.non_temporal->zero(free.data(), free.size()); });
    count(graft.pause_bytes, free.size());
    graft.zeroed_in_pause = free;
  }
}

}  // namespace

bool zeroing_follows_collections(const ZeroingOptions& options) {
  return has_epochs(options) || hands_out_windows(options);
}

ZeroingJoints prepare_zeroing(const ZeroingOptions& options, const Stock& stock) {
  const Collector collector = the_collector(kZeroingNeeds, stock);
  choose_kernels(state(), options);
  ZeroingJoints joints{.collector = collector,
                       .all = find_joints(kZeroingNeeds, stock, collector),
                       .windows = {},
                       .ahead = {}};
  if (hands_out_windows(options)) {
    joints.windows = find_joints(kWindowNeeds, stock, collector);
  }
  if (zeroes_ahead(options, collector)) {
    Needs needs = kAheadNeeds;
    if (options.uses(ZeroingStrategy::pause)) {
      needs.graft = "zeroing=pause";  // what was asked for, in a refusal
    }
    joints.ahead = find_joints(needs, stock, collector);
  }
  return joints;
}

void install_zeroing(const ZeroingOptions& options, const ZeroingJoints& joints, Patch& patch) {
  Zeroing& graft = state();
  graft.ensure_parsability = nullptr;  // only some strategies replace it: see zeroing_calls()
  graft.hands_out_windows = hands_out_windows(options);
  if (joints.windows) {
    // A function of libjvm, whose mangled name tells its type.
    const auto fill = reinterpret_cast<FillWithObjects>(joints.windows->at(kFillWithObjects).original);
    graft.windows.configure(options.window_bytes, fill);
  }
  if (joints.ahead) {
    graft.nursery = joints.ahead->nursery();
    if (!options.uses(ZeroingStrategy::pause)) {
      graft.ahead = new zeroing::ZeroingAhead(
          {.zero_ahead = graft.non_temporal->zero, .zero_now = graft.ordinary->zero});
    }
  }
  if (options.strategy == ZeroingStrategy::adaptive) {
    graft.epochs = new Epochs(Adaptive(on_thread_strategies(graft), graft.ahead != nullptr));
  } else if (has_epochs(options)) {
    graft.epochs = new Epochs(options.strategy, options.against);
  }
  graft.now = graft.epochs != nullptr ? graft.epochs->first() : options.strategy;
  graft.fresh_heap = has_nursery(joints.collector) && has_epochs(options);
  if (options.uses(ZeroingStrategy::concurrent)) {
    start_helper(graft);
  }
  the_graft = &graft;
  take_over(patch, joints.all.at(kMemset), graft.memset, &grafted_memset);
  take_over(patch, joints.all.at(kAllocateNewTlab.method), graft.allocate_new_tlab,
            &grafted_allocate_new_tlab);
  if (joints.windows) {
    take_over(patch, joints.windows->at(kFillWithDummyObject.method), graft.fill_with_dummy_object,
              &grafted_fill_with_dummy_object);
  }
  if (joints.ahead) {
    take_over(patch, joints.ahead->at(kMemAllocate.method), graft.mem_allocate, &grafted_mem_allocate);
  }
  if (joints.windows || joints.ahead) {
    const Joints& with_it = joints.windows ? *joints.windows : *joints.ahead;
    take_over(patch, with_it.at(kEnsureParsability.method), graft.ensure_parsability,
              &grafted_ensure_parsability);
  }
}

void zeroing_collection_starts() {
  Zeroing& graft = *the_graft;
  if (graft.epochs != nullptr) {
    graft.epochs->collection_starts(totals(graft));
  }
  leave_free_memory_alone(graft);
  if (graft.hands_out_windows) {
    graft.windows.close_all();
  }
}

void zeroing_collection_ended() {
  Zeroing& graft = *the_graft;
  leave_free_memory_alone(graft);
  if (graft.epochs == nullptr) {
    return;
  }
  // Relaxed: the world is stopped.
  graft.now.store(graft.epochs->collection_ended(totals(graft)), std::memory_order_relaxed);
  prepare_nursery(graft);
}

std::uintptr_t* zeroing_calls(std::string_view method) {
  Zeroing& graft = *the_graft;
  // Pointers to functions, replaced as the slots were from which they come.
  if (method == kAllocateNewTlab.method) {
    return reinterpret_cast<std::uintptr_t*>(&graft.allocate_new_tlab);
  }
  if (method == kEnsureParsability.method && graft.ensure_parsability != nullptr) {
    return reinterpret_cast<std::uintptr_t*>(&graft.ensure_parsability);
  }
  return nullptr;
}

void zeroing_leaves_alone(std::byte* start, std::size_t bytes) {
  const Zeroing& graft = *the_graft;
  if (strategy_now(graft) == ZeroingStrategy::concurrent) {
    graft.ahead->exclude(start, bytes);
  }
}

ZeroingCounts zeroing_counts() {
  const Zeroing& graft = *the_graft;
  const double cycles_per_nanosecond = rate(graft);
  ZeroingCounts counts;
  counts.kernel = graft.kernel;
  counts.tlabs = value_of(graft.tlabs);
  counts.missed_tlabs = value_of(graft.missed_tlabs);
  counts.cycles = graft.thread_timer.cycles(cycles_per_nanosecond);
  counts.by_threads = {.bytes = Bytes(value_of(graft.thread_bytes)),
                       .seconds = graft.thread_timer.seconds(cycles_per_nanosecond)};
  counts.in_pauses = {.bytes = Bytes(value_of(graft.pause_bytes)),
                      .seconds = graft.pause_timer.seconds(cycles_per_nanosecond)};
  counts.fresh = Bytes(value_of(graft.fresh_bytes));
  if (graft.hands_out_windows) {
    counts.windows = {.handed_out = graft.windows.handed_out(),
                      .given_up = Bytes(graft.windows.given_up_bytes())};
  }
  if (graft.ahead != nullptr) {
    const auto ahead = graft.ahead->counts();
    counts.by_helper = {.bytes = ahead.zeroed_ahead, .seconds = to_seconds(ahead.helper_cpu_time)};
    ZeroingCounts::Helper helper{.started = graft.helper_started,
                                 .reason = graft.helper_reason != nullptr ? *graft.helper_reason : "",
                                 .ready = ahead.taken_ready,
                                 .waits = ahead.waits,
                                 .wait_seconds = to_seconds(ahead.wait_time),
                                 .steals = ahead.steals,
                                 .longest_close_seconds = to_seconds(ahead.longest_close)};
    if (helper.started && helper.reason.empty()) {
      (void)graft.ahead->can_steal(helper.reason);
    }
    counts.helper = helper;
  }
  return counts;
}

const Epochs* zeroing_epochs() { return the_graft->epochs; }

}  // namespace memgraft::hotspot
