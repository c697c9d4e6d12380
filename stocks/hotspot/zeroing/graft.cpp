#include "zeroing/graft.h"

#include <array>
#include <cstdint>
#include <string>

#include "join/availability.h"
#include "zeroing/epochs.h"
#include "zeroing/needs.h"

namespace memgraft::hotspot {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const Needs*, 3> kNeeds{&kZeroingNeeds, &kWindowNeeds, &kAheadNeeds};

Json describe_work(const ZeroingWork& work) {
  return {{"bytes", work.bytes.count()}, {"seconds", work.seconds}};
}

Json describe_decisions(const Epochs& epochs) {
  Json decisions = Json::object();
  for (const auto& [strategy, count] : epochs.decisions()) {
    decisions[std::string(name_of(strategy))] = count;
  }
  return decisions;
}

Json describe_changes(const Epochs& epochs) {
  Json changes = Json::array();
  for (const Adaptive::Decision& decision : epochs.changes()) {
    changes.push_back({{"collection", decision.collection},
                       {"strategy", name_of(decision.strategy)},
                       {"running_threads", decision.running_threads},
                       {"cpus", decision.cpus},
                       {"idle_cpus", decision.idle_cpus},
                       {"gigabytes_per_second", decision.gigabytes_per_second},
                       {"reason", decision.reason}});
  }
  return changes;
}

Json describe_epochs(const Epochs& epochs, ZeroingStrategy baseline) {
  Json records = Json::array();
  for (const Epochs::Record& record : epochs.records()) {
    const EpochMeasured& measured = record.measured;
    records.push_back({{"collection", measured.collection},
                       {"side", record.side == Epochs::Side::grafted ? "grafted" : "baseline"},
                       {"mutator_cpu_seconds", measured.program_cpu_seconds + measured.helper_cpu_seconds},
                       {"wall_seconds", measured.wall_seconds},
                       {"bytes", measured.allocated_bytes},
                       {"zeroing_seconds", measured.zeroing_seconds + measured.helper_cpu_seconds}});
  }
  return {{"grafted", name_of(epochs.strategy())},
          {"baseline", name_of(baseline)},
          {"records", std::move(records)}};
}

void add_followed_collections(Json& json, const ZeroingOptions& options, const Epochs& epochs) {
  json["collections"] = epochs.collections();
  if (options.strategy == ZeroingStrategy::adaptive) {
    json["decisions"] = describe_decisions(epochs);
    json["log"] = describe_changes(epochs);
  }
  if (options.against) {
    json["epochs"] = describe_epochs(epochs, *options.against);
  }
}

Json describe(const ZeroingOptions& options) {
  const ZeroingCounts counts = zeroing_counts();
  Json json = {{"strategy", name_of(options.strategy)},
               {"kernel", counts.kernel},
               {"tlabs", counts.tlabs},
               {"missed_tlabs", counts.missed_tlabs},
               {"bytes", counts.bytes().count()},
               {"cycles", static_cast<std::uint64_t>(counts.cycles)},
               {"seconds", counts.seconds()},
               {"by",
                {{"thread", describe_work(counts.by_threads)},
                 {"helper", describe_work(counts.by_helper)},
                 {"pause", describe_work(counts.in_pauses)}}},
               {"fresh_bytes", counts.fresh.count()}};
  if (counts.windows) {
    json["window_bytes"] = options.window_bytes;
    json["windows"] = counts.windows->handed_out;
    json["window_waste_bytes"] = counts.windows->given_up.count();
  }
  if (counts.helper) {
    json["helper"] = {{"started", counts.helper->started},
                      {"reason", counts.helper->reason},
                      {"ready_bytes", counts.helper->ready.count()},
                      {"waits", counts.helper->waits},
                      {"wait_seconds", counts.helper->wait_seconds},
                      {"steals", counts.helper->steals},
                      {"longest_close_seconds", counts.helper->longest_close_seconds}};
  }
  if (const Epochs* const epochs = zeroing_epochs()) {
    add_followed_collections(json, options, *epochs);
  }
  return json;
}

}  // namespace

std::span<const Needs* const> ZeroingGraft::needs() const { return kNeeds; }

Json ZeroingGraft::check(const Stock& stock) const {
  Json check = availability(always<kZeroingNeeds>, stock);
  check["strategies"][std::string(name_of(ZeroingStrategy::windows))] =
      availability(always<kWindowNeeds>, stock);
  check["strategies"][std::string(name_of(ZeroingStrategy::concurrent))] =
      availability(always<kAheadNeeds>, stock);
  return check;
}

bool ZeroingGraft::follows_collections() const { return zeroing_follows_collections(words_.options()); }

void ZeroingGraft::prepare(const Stock& stock) {
  joints_ = std::make_unique<const ZeroingJoints>(prepare_zeroing(words_.options(), stock));
}

void ZeroingGraft::install(const Stock& /*stock*/, LateRefusal /*refuse_late*/, Patch& patch) {
  install_zeroing(words_.options(), *joints_, patch);
}

Json ZeroingGraft::describe_installed() const {
  return {{"strategy", name_of(words_.options().strategy)}, {"kernel", zeroing_counts().kernel}};
}

Json ZeroingGraft::describe_work() const { return describe(words_.options()); }

std::unique_ptr<Graft> make_zeroing_graft(const Grafts& /*before*/) {
  return std::make_unique<ZeroingGraft>();
}

}  // namespace memgraft::hotspot
