#include "idle/graft.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "join/availability.h"
#include "join/joints.h"
#include "options/graft_options.h"

namespace memgraft::hotspot {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kFeatures{17, 21, 25};
constexpr std::array kCollectors{Collector::serial, Collector::parallel, Collector::g1};
constexpr std::array<FlagNeed, 1> kFlags{{{.name = "UseTLAB", .value = true, .option = "-XX:+UseTLAB"}}};
constexpr Needs kIdleNeeds{.graft = "idle",
                           .features = kFeatures,
                           .collectors = kCollectors,
                           .flags = kFlags,
                           .slots = {},
                           .imports = {},
                           .functions = {},
                           .data = {},
                           .methods = {},
                           .entries = {},
                           .size_flags = {}};
constexpr std::array<const Needs*, 1> kNeeds{&kIdleNeeds};

// A graft that ships has its own in options/declared.h, which is made of its row in memgraft/grafts/table.py.
constexpr auto kIdleWords = std::to_array<std::string_view>({"on"});
constexpr Declaration kIdle{
    .key = "idle", .usage = "idle=WHETHER", .expected = "idle=on", .words = kIdleWords, .kinds = {}};
constexpr std::array kOptions{kIdle};

class IdleWords : public GraftOptions {
 public:
  [[nodiscard]] std::span<const Declaration> declared() const override { return kOptions; }
  bool take(const Option& option) override {
    if (!option.is(kIdle)) {
      return false;
    }
    (void)word(option, kIdle);
    asked_ = true;
    return true;
  }
  void complete(std::string_view /*text*/) override {}
  [[nodiscard]] bool asked() const override { return asked_; }

 private:
  bool asked_ = false;
};

class IdleGraft : public Graft {
 public:
  [[nodiscard]] std::string_view name() const override { return "idle"; }
  [[nodiscard]] GraftOptions& options() override { return words_; }
  [[nodiscard]] std::span<const Needs* const> needs() const override { return kNeeds; }
  [[nodiscard]] Json check(const Stock& stock) const override {
    return availability(always<kIdleNeeds>, stock);
  }
  [[nodiscard]] bool follows_collections() const override { return true; }
  void prepare(const Stock& stock) override {
    (void)find_joints(kIdleNeeds, stock, the_collector(kIdleNeeds, stock));
  }
  void install(const Stock& /*stock*/, LateRefusal /*refuse_late*/, Patch& /*patch*/) override {}
  void collection_ended() override { ++collections_; }
  [[nodiscard]] Json describe_work() const override { return {{"collections", collections_}}; }

 private:
  IdleWords words_;
  std::uint64_t collections_ = 0;  // counted with the world stopped
};

}  // namespace

std::unique_ptr<Graft> make_idle_graft(const Grafts& /*before*/) { return std::make_unique<IdleGraft>(); }

}  // namespace memgraft::hotspot
