#include "buffers/graft.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "buffers/install.h"
#include "buffers/needs.h"
#include "buffers/options.h"
#include "join/availability.h"
#include "memgraft/units.h"
#include "zeroing/graft.h"

namespace memgraft::hotspot {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const Needs*, 2> kNeeds{&kBufferNeeds, &kObjectBufferNeeds};

Json describe_latencies(const Latencies& latencies) {
  return {{"requests", latencies.requests},
          {"median_nanoseconds", latencies.median},
          {"p99_nanoseconds", latencies.p99},
          {"highest_nanoseconds", latencies.highest}};
}

double percent_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::uint64_t bytes(Words words) { return to_bytes(words).count(); }

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
              {"first_bytes", bytes(of.first_words)},
              {"bytes", bytes(of.words)},
              {"changes", of.changes},
              {"decisions", std::move(decisions)}};
    if (of.changes > 0) {
      const allocation::LevelSeen& seen = of.last.seen;
      json["last_change"] = {
          {"collection", of.last.collection},
          {"reason", allocation::kReasonNames.at(static_cast<std::size_t>(of.last.decision.reason))},
          {"bytes_before", bytes(seen.words)},
          {"bytes", bytes(of.last.decision.words)},
          {"waste_percent", percent_of(seen.lost_words.count(), seen.nursery_words.count())},
          {"foreign_percent", percent_of(seen.foreign, seen.taken)},
          {"contended_percent", percent_of(seen.contended, seen.taken)},
          {"refills_per_buffer", percent_of(seen.refills, seen.buffers) / 100}};
    }
    all.push_back(std::move(json));
  }
  return all;
}

Json describe(const BufferOptions& options) {
  const BufferCounts counts = buffer_counts();
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
  Json json{
      {"levels", std::move(levels)},
      {"zero_at", options.zero_at_refill ? "refill" : "tlab"},
      {"hands_out", options.objects ? "objects" : "TLABs"},
      {"heap", {{"tlabs", counts.heap_requests}, {"latency", describe_latencies(counts.heap_latencies)}}},
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
                    {"bound_bytes", counts.numa.bound.count()},
                    {"waste_at_collections_bytes", bytes(counts.numa.words_lost_at_closes)},
                    {"failures", counts.numa.failures},
                    {"reason", counts.numa.reason}};
  }
  return json;
}

class BuffersGraft : public Graft {
 public:
  explicit BuffersGraft(const ZeroingGraft* zeroing)
      : words_(zeroing == nullptr ? nullptr : &zeroing->words()), zeroing_(zeroing) {}

  [[nodiscard]] std::string_view name() const override { return "buffers"; }
  [[nodiscard]] GraftOptions& options() override { return words_; }
  [[nodiscard]] std::span<const Needs* const> needs() const override { return kNeeds; }
  [[nodiscard]] Json check(const Stock& stock) const override {
    return availability(always<kBufferNeeds>, stock);
  }
  [[nodiscard]] bool follows_collections() const override { return true; }
  void prepare(const Stock& stock) override {
    joints_ = std::make_unique<const Joints>(
        find_buffer_joints(words_.options(), stock, the_collector(kBufferNeeds, stock)));
  }
  void install(const Stock& stock, LateRefusal refuse_late, Patch& patch) override {
    const bool under_zeroing = zeroing_ != nullptr && zeroing_->words().asked();
    install_buffers(words_.options(), stock, the_collector(kBufferNeeds, stock), *joints_, under_zeroing,
                    refuse_late, patch);
  }
  void collection_starts() override { buffers_collection_starts(); }
  [[nodiscard]] Json describe_work() const override { return describe(words_.options()); }

 private:
  BufferWords words_;
  const ZeroingGraft* zeroing_;
  std::unique_ptr<const Joints> joints_;
};

}  // namespace

std::unique_ptr<Graft> make_buffers_graft(const Grafts& before) {
  return std::make_unique<BuffersGraft>(find_graft<ZeroingGraft>(before));
}

}  // namespace memgraft::hotspot
