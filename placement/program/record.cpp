#include "record.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <system_error>

namespace memgraft::placement {

namespace {

constexpr std::size_t kMostKept = 4096;  // matrices

Json line_of(const char* event) { return {{"schema", 1}, {"kind", "placement"}, {"event", event}}; }

std::string now_in_words() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  (void)gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

Json refused_of(const std::array<std::uint64_t, kOutcomes>& outcomes) {
  const auto pages = [&](Outcome outcome) { return outcomes.at(static_cast<std::size_t>(outcome)); };
  return {{"busy", pages(Outcome::busy)},
          {"no_memory", pages(Outcome::no_memory)},
          {"absent", pages(Outcome::absent)},
          {"forbidden", pages(Outcome::forbidden)},
          {"other", pages(Outcome::other)}};
}

Json held_of(const std::array<std::uint64_t, kStays>& held) {
  const auto pages = [&](Stay stay) { return held.at(static_cast<std::size_t>(stay)); };
  return {{"share", pages(Stay::share)},     {"few", pages(Stay::few)},
          {"payback", pages(Stay::payback)}, {"rate", pages(Stay::rate)},
          {"frozen", pages(Stay::frozen)},   {"forbidden", pages(Stay::forbidden)}};
}

Json local_share(const Matrix& accesses) {
  const std::uint64_t all = sum(accesses);
  if (all == 0) {
    return nullptr;
  }
  std::uint64_t local = 0;
  for (std::size_t node = 0; node < accesses.size(); ++node) {
    local += accesses[node][node];
  }
  return static_cast<double>(local) / static_cast<double>(all);
}

std::string in_hexadecimal(std::uint64_t address) {
  std::array<char, 24> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(address));
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace

std::string RecordFile::open(const std::string& file) {
  if (file.empty()) {
    return "";
  }
  name_ = file;
  file_.reset(std::fopen(file.c_str(), "we"));
  return file_ ? "" : file + ": cannot be written: " + std::generic_category().message(errno);
}

void RecordFile::write(const Json& line) {
  if (!file_) {
    return;
  }
  // A program's name need not be UTF-8.
  const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size() || std::fflush(file_.get()) != 0) {
    (void)std::fprintf(stderr, "%s%s: %s: nothing more is recorded\n", kSays, name_.c_str(),
                       std::generic_category().message(errno).c_str());
    file_.reset();
    is_whole_ = false;
  }
}

Json start_line(const Options& options, const Start& start, const Topology& topology,
                const observation::Sees& sees, const Settings& settings) {
  constexpr double kMilliseconds = 1000;
  Json line = line_of("start");
  line["memgraft"] = MEMGRAFT_VERSION;
  line["started"] = now_in_words();
  line["pid"] = start.pid;
  line["program"] = start.program;
  line["command"] = options.command.empty() ? Json(nullptr) : Json(options.command);
  line["page_bytes"] = start.page_bytes;
  line["interval_ms"] = static_cast<std::uint64_t>(options.interval_seconds * kMilliseconds);
  line["dry_run"] = options.dry_run;
  line["monitor"] = {{"name", sees.name},
                     {"what", sees.what},
                     {"thread", sees.thread},
                     {"cpu", sees.cpu},
                     {"store", sees.store},
                     {"latency", sees.latency},
                     {"every_access", sees.every_access}};
  line["nodes"] = Json::array();
  for (const Node& node : topology.nodes()) {
    line["nodes"].push_back({{"node", node.number},
                             {"cpus", node.cpus},
                             {"memory_bytes", node.memory_bytes},
                             {"distances", node.distances}});
  }
  line["policy"] = {{"freeze_after", settings.freeze_after},
                    {"freeze_for", settings.freeze_for},
                    {"least_share", settings.least_share},
                    {"must_pay", settings.must_pay},
                    {"neighbours", settings.neighbours},
                    {"pages_per_second", options.pages_per_second},
                    {"doubt", settings.doubt},
                    {"local_nanoseconds", settings.local_nanoseconds},
                    {"bind_threads", options.bind_threads}};
  return line;
}

Json map_of(const PageMap& map, const Topology& topology) {
  Json ranges = Json::array();
  for (const PageMap::Range& range : map.ranges) {
    Json cells = Json::array();
    for (const PageMap::Run& run : range.runs) {
      const auto& nodes = topology.nodes();
      const Json node =
          run.node < 0 ? Json(kUnknown) : Json(nodes[static_cast<std::size_t>(run.node)].number);
      cells.push_back({node, run.cells});
    }
    ranges.push_back({{"start", in_hexadecimal(range.start)}, {"cells", cells}, {"name", range.name}});
  }
  return {{"cell_pages", map.cell_pages}, {"ranges", ranges}};
}

Json interval_line(const Interval& interval, const Surroundings& around) {
  Json line = line_of("interval");
  line["number"] = interval.number;
  line["at_ms"] = around.at_ms;
  line["samples"] = interval.samples;
  line["lost"] = interval.lost;
  line["accesses"] = interval.accesses;
  line["unknown"] = interval.unknown;
  line["moved"] = interval.moved;
  line["moved_by_neighbours"] = interval.moved_by_neighbours;
  line["refused"] = refused_of(interval.outcomes);
  line["waiting"] = interval.waiting;
  line["held"] = held_of(interval.held);
  line["frozen"] = interval.frozen;
  line["pages"] = interval.pages;
  line["forgotten"] = interval.forgotten;
  line["threads"] = around.threads;
  line["cpu_ms"] = around.cpu_ms;
  line["kernel_moved"] = around.kernel_moved;
  if (!around.hindrance.empty()) {
    line["hindrance"] = around.hindrance;
  }
  return line;
}

Totals::Totals(std::size_t nodes) : first_(square(nodes)) {}

void Totals::add(const Interval& interval, const Surroundings& around) {
  samples_ += interval.samples;
  lost_ += interval.lost;
  unknown_ += interval.unknown;
  moved_ += sum(interval.moved);
  moved_back_ += interval.moved_back;
  moved_by_neighbours_ += interval.moved_by_neighbours;
  kernel_moved_ += around.kernel_moved;
  hindrance_ = around.hindrance;
  for (std::size_t outcome = 0; outcome < kOutcomes; ++outcome) {
    outcomes_.at(outcome) += interval.outcomes.at(outcome);
  }
  last_ = interval;
  if (std::ranges::any_of(interval.held, [](std::uint64_t pages) { return pages != 0; })) {
    held_ = interval.held;
  }
  if (sum(first_) == 0) {
    first_ = interval.accesses;
  }
  if (accesses_.size() == kMostKept) {
    for (std::size_t pair = 0; pair < kMostKept / 2; ++pair) {
      accesses_[pair] = accesses_[2 * pair];
      placement::add(accesses_[pair], accesses_[(2 * pair) + 1]);
    }
    accesses_.resize(kMostKept / 2);
    each_ *= 2;
  }
  if (intervals_++ % each_ == 0) {
    accesses_.push_back(interval.accesses);
  } else {
    placement::add(accesses_.back(), interval.accesses);
  }
}

// Of the intervals that had samples: a kernel that finds everything local looks ever more seldom.
Matrix Totals::last_quarter() const {
  Matrix last = square(first_.size());
  const auto seen = [](const Matrix& accesses) { return sum(accesses) != 0; };
  const auto all = static_cast<std::size_t>(std::ranges::count_if(accesses_, seen));
  std::size_t left = (all + 3) / 4;
  for (std::size_t place = accesses_.size(); left > 0; --place) {
    placement::add(last, accesses_[place - 1]);
    left -= seen(accesses_[place - 1]) ? 1 : 0;
  }
  return last;
}

Json Totals::end_line(const End& end) const {
  constexpr double kMilliseconds = 1000;
  const Matrix last = last_quarter();
  Json line = line_of("end");
  line["at_ms"] = end.at_ms;
  line["reason"] = end.reason;
  line["exit_code"] = end.exit_code ? Json(*end.exit_code) : Json(nullptr);
  line["summary"] = {{"intervals", intervals_},
                     {"samples", samples_},
                     {"lost", lost_},
                     {"unknown", unknown_},
                     {"pages", last_.pages},
                     {"moved", moved_},
                     {"moved_back", moved_back_},
                     {"moved_by_neighbours", moved_by_neighbours_},
                     {"refused", refused_of(outcomes_)},
                     {"held", held_of(held_)},
                     {"frozen", last_.frozen},
                     {"waiting", last_.waiting},
                     {"local_before", local_share(first_)},
                     {"local_after", local_share(last)},
                     {"accesses_before", first_},
                     {"accesses_after", last},
                     {"kernel_moved", kernel_moved_},
                     {"cpu_seconds", end.cpu_seconds},
                     {"wall_seconds", static_cast<double>(end.at_ms) / kMilliseconds},
                     {"largest_bytes", end.largest_bytes},
                     {"hindrance", hindrance_.empty() ? Json(nullptr) : Json(hindrance_)}};
  return line;
}

}  // namespace memgraft::placement
