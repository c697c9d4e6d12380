#include "buffers/needs.h"

#include <array>

#include "join/heap_methods.h"

namespace memgraft::hotspot {

namespace {

constexpr std::array kFeatures{17, 21, 25};
constexpr std::array kGraftedCollectors{Collector::serial, Collector::parallel, Collector::g1};
constexpr std::array<FlagNeed, 1> kFlags{{{.name = "UseTLAB", .value = true, .option = "-XX:+UseTLAB"}}};
constexpr std::array kSlots{kAllocateNewTlab, kEnsureParsability};
constexpr std::array kFunctions{kFillWithObjects};
constexpr std::array kSizeFlags{kRegionFlag};

}  // namespace

const Needs kBufferNeeds{.graft = "buffers",
                         .features = kFeatures,
                         .collectors = kGraftedCollectors,
                         .flags = kFlags,
                         .slots = kSlots,
                         .imports = {},
                         .functions = kFunctions,
                         .data = {},
                         .methods = {},
                         .entries = {},
                         .size_flags = kSizeFlags};

}  // namespace memgraft::hotspot
