#include "summary.h"

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <system_error>
#include <vector>

#include "c1_check.h"
#include "c1_emission.h"
#include "graft_buffers.h"
#include "graft_ordering.h"
#include "graft_zeroing.h"
#include "interpreter_emission.h"
#include "joints.h"
#include "ordering_needs.h"

namespace memgraft::hotspot {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

Json describe_identity(const Identity& identity) {
  return {{"version", identity.version},
          {"feature", identity.feature},
          {"vendor", identity.vendor},
          {"name", identity.name}};
}

Json summary(const char* state, Json jvm) {
  return {{"schema", kSchema},
          {"kind", "jvm-summary"},
          {"state", state},
          {"pid", getpid()},
          {"jvm", std::move(jvm)}};
}

double seconds_of(const timeval& time) {
  constexpr double kSecondsPerMicrosecond = 1e-6;
  return static_cast<double>(time.tv_sec) + (static_cast<double>(time.tv_usec) * kSecondsPerMicrosecond);
}

void add_cpu_time(Json& json) {
  rusage usage{};
  // Cannot fail for RUSAGE_SELF (getrusage(2)).
  (void)getrusage(RUSAGE_SELF, &usage);
  json["user_seconds"] = seconds_of(usage.ru_utime);
  json["system_seconds"] = seconds_of(usage.ru_stime);
}

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

Json describe_zeroing(const ZeroingOptions& options) {
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

Json describe_latencies(const Latencies& latencies) {
  return {{"requests", latencies.requests},
          {"median_nanoseconds", latencies.median},
          {"p99_nanoseconds", latencies.p99},
          {"highest_nanoseconds", latencies.highest}};
}

double percent_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

// What automatic sizes came to, and why: the threads' buffers, then each level.
Json describe_sizes(const BufferCounts& counts) {
  Json all = Json::array();
  for (std::size_t i = 0; i < counts.sizes.size(); ++i) {
    const allocation::AutoSize::OfLevel& of = counts.sizes[i];
    Json decisions = Json::object();
    for (std::size_t reason = 0; reason < of.decisions.size(); ++reason) {
      if (of.decisions.at(reason) > 0) {
        decisions[allocation::kReasonNames.at(reason)] = of.decisions.at(reason);
      }
    }
    Json json{{"kind", i == 0 ? "thread" : allocation::name_of(counts.levels.at(i - 1).level.kind)},
              {"first_bytes", of.first_words * kBytesPerWord},
              {"bytes", of.words * kBytesPerWord},
              {"changes", of.changes},
              {"decisions", std::move(decisions)}};
    if (of.changes > 0) {
      const allocation::LevelSeen& seen = of.last.seen;
      json["last_change"] = {
          {"collection", of.last.collection},
          {"reason", allocation::kReasonNames.at(static_cast<std::size_t>(of.last.decision.reason))},
          {"bytes_before", seen.words * kBytesPerWord},
          {"bytes", of.last.decision.words * kBytesPerWord},
          {"waste_percent", percent_of(seen.lost_words, seen.nursery_words)},
          {"foreign_percent", percent_of(seen.foreign, seen.taken)},
          {"contended_percent", percent_of(seen.contended, seen.taken)},
          {"refills_per_buffer", percent_of(seen.refills, seen.buffers) / 100}};
    }
    all.push_back(std::move(json));
  }
  return all;
}

Json describe_buffers(const BufferOptions& options) {
  const BufferCounts counts = buffer_counts();
  const auto bytes = [](std::uint64_t words) { return words * kBytesPerWord; };
  Json levels = Json::array();
  for (const BufferCounts::OfLevel& of : counts.levels) {
    const allocation::LevelCounts& level = of.counts;
    levels.push_back({{"kind", allocation::name_of(of.level.kind)},
                      {"bytes", bytes(of.level.words)},
                      {"asked_bytes", bytes(of.asked_words)},
                      {"buffers", of.buffers},
                      {"take", of.restartable ? "restartable" : "atomic"},
                      {"taken", level.taken},
                      {"taken_bytes", bytes(level.words)},
                      {"refills", level.refills},
                      {"foreign", level.foreign},
                      {"foreign_percent", percent_of(level.foreign, level.taken)},
                      {"contended", level.contended},
                      {"moved", level.moved},
                      {"waste_at_refills_bytes", bytes(level.words_lost_at_refills)},
                      {"waste_at_collections_bytes", bytes(level.words_lost_at_closes)},
                      {"latency", describe_latencies(of.latencies)}});
  }
  Json json{{"levels", std::move(levels)},
            {"zero_at", options.zero_at_refill ? "refill" : "tlab"},
            {"heap", {{"tlabs", counts.heap_tlabs}, {"latency", describe_latencies(counts.heap_latencies)}}},
            {"refill_latency", describe_latencies(counts.refill_latencies)},
            {"clock_nanoseconds", counts.clock_nanoseconds},
            {"collections", counts.collections}};
  if (options.automatic) {
    json["sizes"] = describe_sizes(counts);
  }
  if (options.numa_eden) {
    json["numa"] = {{"nodes", counts.numa.nodes},
                    {"fillings", counts.numa.fillings},
                    {"local_fillings", counts.numa.local_fillings},
                    {"moved_fillings", counts.numa.moved_fillings},
                    {"remote_fillings", counts.numa.remote_fillings},
                    {"spares_used", counts.numa.spares_used},
                    {"bound_bytes", counts.numa.bound_bytes},
                    {"waste_at_collections_bytes", bytes(counts.numa.words_lost_at_closes)},
                    {"failures", counts.numa.failures},
                    {"reason", counts.numa.reason}};
  }
  return json;
}

Json describe_ordering(const OrderingOptions& options) {
  const OrderingCounts counts = ordering_counts();
  const FencesBefore& before = counts.c2_fences_before;
  Json json{{"placement", options.placement},
            {"c2",
             {{"methods", counts.c2_methods},
              {"loads", counts.c2_loads},
              {"stores", counts.c2_stores},
              {"relaxed", counts.c2_relaxed},
              {"annotated", counts.c2_annotated},
              {"final_loads", counts.c2_final_loads},
              {"private_loads", counts.c2_private_loads},
              {"private_stores", counts.c2_private_stores},
              {"private_later", counts.c2_private_later},
              {"joined_fences", counts.c2_joined_fences},
              {"fences_before",
               {{"loads", before.loads},
                {"unknown", before.unknown},
                {"calls", before.calls},
                {"ends", before.ends}}},
              {"fences_at_ends", counts.c2_ends},
              {"atomics", counts.c2_atomics},
              {"fences_behind_calls", counts.c2_fences}}},
            {"c1",
             {{"methods", counts.c1_methods},
              {"loads", counts.c1_loads},
              {"stores", counts.c1_stores},
              {"fences_behind_calls", counts.c1_fences}}},
            {"interpreter", {{"loads", counts.interpreter_loads}, {"stores", counts.interpreter_stores}}}};
  if (options.check) {
    json["check"] = {{"methods", counts.checked_methods},
                     {"accesses", counts.checked_accesses},
                     {"excused", counts.excused_accesses},
                     {"unsafe", counts.unsafe_accesses},
                     {"unsafe_methods", counts.unsafe_methods}};
    if (c1::kKnowsThisMachine) {
      const c1::EmissionCounts emission = c1::emission_counts();
      json["check"]["c1"] = {{"methods", emission.methods},
                             {"stores", emission.stores},
                             {"own", emission.own},
                             {"unsafe", emission.unsafe},
                             {"unsafe_methods", emission.unsafe_methods}};
      const InterpreterEmissionCounts templates = interpreter_emission_counts();
      json["check"]["interpreter"] = {{"stores", templates.stores}, {"unsafe", templates.unsafe}};
    }
  }
  return json;
}

void add_work(Json& json, const Options& options, double wall_seconds) {
  json["wall_seconds"] = wall_seconds;
  add_cpu_time(json);
  if (options.zeroing) {
    json["grafts"]["zeroing"] = describe_zeroing(*options.zeroing);
  }
  if (options.buffers) {
    json["grafts"]["buffers"] = describe_buffers(*options.buffers);
  }
  if (options.ordering) {
    json["grafts"]["ordering"] = describe_ordering(*options.ordering);
  }
}

Json describe_counters(const linux_os::PerfCounters& counters) {
  Json all = Json::array();
  for (const linux_os::Counter& counter : counters.read()) {
    all.push_back({{"name", counter.name},
                   {"unit", counter.unit},
                   {"available", counter.available},
                   {"reason", counter.reason},
                   {"value", counter.value},
                   {"running_share", counter.running_share}});
  }
  return all;
}

Json availability(bool available, const std::string& reason) {
  return {{"available", available}, {"reason", reason}};
}

using NeedsOf = const Needs& (*)(Collector collector);

Json check_graft(NeedsOf needs_of, const Stock& stock) {
  Json by_collector = Json::object();
  std::string joined;
  std::string refused;
  for (const CollectorClasses& collector : kCollectors) {
    if (!stock.has_collector(collector.collector)) {
      continue;
    }
    const std::string name(collector.name);
    try {
      (void)find_joints(needs_of(collector.collector), stock, collector.collector);
      by_collector[name] = availability(true, "every joint found");
      joined += (joined.empty() ? "" : ", ") + name;
    } catch (const Refusal& refusal) {
      by_collector[name] = availability(false, refusal.what());
      // Collectors come in the order of how likely a graft knows them: the first refusal says most.
      refused = refused.empty() ? refusal.what() : refused;
    }
  }
  Json check = availability(!joined.empty(), joined.empty() ? refused : "joins " + joined);
  check["collectors"] = std::move(by_collector);
  return check;
}

// Of a graft that needs the same whatever the collector.
template <const Needs& needs>
const Needs& always(Collector /*collector*/) {
  return needs;
}

}  // namespace

SummaryFile::SummaryFile(const std::filesystem::path& folder, const std::string& kind) {
  // The time, because a process in another PID namespace, or after a wrap-around, may have this PID too.
  const auto started = std::chrono::system_clock::now().time_since_epoch();
  path_ = folder / (kind + "-" + std::to_string(getpid()) + "-" +
                    std::to_string(std::chrono::nanoseconds(started).count()) + ".json");
}

bool SummaryFile::write(const Json& content) const {
  const std::filesystem::path draft = path_.string() + ".draft";
  // A program's name and arguments may be no UTF-8; replacing those bytes beats losing the summary.
  const std::string text = content.dump(2, ' ', false, Json::error_handler_t::replace);
  std::error_code error;
  {
    std::ofstream file(draft, std::ios::binary);
    file << text << '\n';
    file.flush();
    if (!file) {
      error = std::error_code(errno, std::generic_category());
    }
  }
  if (!error) {
    std::filesystem::rename(draft, path_, error);
  }
  if (error) {
    std::error_code ignored;
    std::filesystem::remove(draft, ignored);
    (void)std::fprintf(stderr, "memgraft: cannot write the summary %s: %s; the program is not affected\n",
                       path_.c_str(), error.message().c_str());
  }
  return !error;
}

Json describe_jvm(const Stock& stock) {
  Json jvm = describe_identity(stock.identity());
  jvm["libjvm"] = stock.libjvm().string();
  const auto collector = stock.collector();
  jvm["collector"] = collector ? Json(classes_of(*collector).name) : Json(nullptr);
  return jvm;
}

Json check_stock(const Stock& stock) {
  Json collectors = Json::array();
  for (const CollectorClasses& collector : kCollectors) {
    if (stock.has_collector(collector.collector)) {
      collectors.push_back(collector.name);
    }
  }
  Json zeroing = check_graft(always<kZeroingNeeds>, stock);
  zeroing["strategies"][std::string(name_of(ZeroingStrategy::windows))] =
      check_graft(always<kWindowNeeds>, stock);
  zeroing["strategies"][std::string(name_of(ZeroingStrategy::concurrent))] =
      check_graft(always<kAheadNeeds>, stock);
  return {{"schema", kSchema},
          {"kind", "jvm-check"},
          {"jvm", describe_jvm(stock)},
          {"collectors", std::move(collectors)},
          {"grafts",
           {{kZeroingNeeds.graft, std::move(zeroing)},
            {kBufferNeeds.graft, check_graft(always<kBufferNeeds>, stock)},
            {kOrderingNeeds.graft, check_graft(ordering_needs, stock)}}}};
}

Json summarise_running(const Options& options, const Stock& stock) {
  Json json = summary("running", describe_jvm(stock));
  if (options.zeroing) {
    json["grafts"]["zeroing"] = {{"strategy", name_of(options.zeroing->strategy)},
                                 {"kernel", zeroing_counts().kernel}};
  }
  return json;
}

Json summarise_so_far(const Options& options, const Stock& stock, double wall_seconds) {
  Json json = summary("running", describe_jvm(stock));
  add_work(json, options, wall_seconds);
  return json;
}

Json summarise_ended(const Options& options, const Stock& stock, const std::string& program,
                     double wall_seconds, const linux_os::PerfCounters* counters) {
  Json json = summary("ended", describe_jvm(stock));
  json["program"] = program;
  add_work(json, options, wall_seconds);
  if (counters != nullptr) {
    json["counters"] = describe_counters(*counters);
  }
  return json;
}

Json summarise_refusal(const Refusal& refusal, const Identity& identity) {
  Json json = summary("refused", describe_identity(identity));
  json["refusal"] = {{"message", refusal.what()},
                     {"looked_for", refusal.reason().looked_for},
                     {"found", refusal.reason().found},
                     {"advice", refusal.reason().advice},
                     {"exit_code", refusal.exit_code()}};
  return json;
}

}  // namespace memgraft::hotspot
