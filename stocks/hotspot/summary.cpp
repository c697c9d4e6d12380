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

#include "join/needs.h"

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

void add_work(Json& json, std::span<Graft* const> grafts, double wall_seconds) {
  json["wall_seconds"] = wall_seconds;
  add_cpu_time(json);
  for (const Graft* const graft : grafts) {
    json["grafts"][std::string(graft->name())] = graft->describe_work();
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

Json check_stock(const Grafts& grafts, const Stock& stock) {
  Json collectors = Json::array();
  for (const CollectorClasses& collector : kCollectors) {
    if (stock.has_collector(collector.collector)) {
      collectors.push_back(collector.name);
    }
  }
  Json checks = Json::object();
  for (const auto& graft : grafts) {
    checks[std::string(graft->name())] = graft->check(stock);
  }
  return {{"schema", kSchema},
          {"kind", "jvm-check"},
          {"jvm", describe_jvm(stock)},
          {"collectors", std::move(collectors)},
          {"grafts", std::move(checks)}};
}

Json summarise_running(std::span<Graft* const> grafts, const Stock& stock) {
  Json json = summary("running", describe_jvm(stock));
  for (const Graft* const graft : grafts) {
    if (Json said = graft->describe_installed(); !said.is_null()) {
      json["grafts"][std::string(graft->name())] = std::move(said);
    }
  }
  return json;
}

Json summarise_so_far(std::span<Graft* const> grafts, const Stock& stock, double wall_seconds) {
  Json json = summary("running", describe_jvm(stock));
  add_work(json, grafts, wall_seconds);
  return json;
}

Json summarise_ended(std::span<Graft* const> grafts, const Stock& stock, const std::string& program,
                     double wall_seconds, const linux_os::PerfCounters* counters) {
  Json json = summary("ended", describe_jvm(stock));
  json["program"] = program;
  add_work(json, grafts, wall_seconds);
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
