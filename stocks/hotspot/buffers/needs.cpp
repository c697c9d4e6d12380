#include "buffers/needs.h"

#include <array>

#include "join/heap_methods.h"

namespace memgraft::hotspot {

namespace {

constexpr std::array kFeatures{17, 21, 25};
constexpr std::array kGraftedCollectors{Collector::serial, Collector::parallel, Collector::g1};
// In JDK 17, compiled code without TLABs takes objects from the eden of Serial and Parallel by itself.
constexpr std::array kObjectFeatures{21, 25};
constexpr std::array<FlagNeed, 1> kFlags{{{.name = "UseTLAB", .value = true, .option = "-XX:+UseTLAB"}}};
constexpr std::array<FlagNeed, 1> kObjectFlags{
    {{.name = "UseTLAB", .value = false, .option = "-XX:-UseTLAB"}}};
constexpr std::array kSlots{kAllocateNewTlab, kEnsureParsability};
// Buffers are filled with what would be TLABs.
constexpr std::array kObjectSlots{kMemAllocate, kAllocateNewTlab, kEnsureParsability};
constexpr std::array kFunctions{kFillWithObjects};
constexpr std::array kSizeFlags{kRegionFlag};

constexpr Needs kTlabBufferNeeds{.graft = "buffers",
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

}  // namespace

constinit const Needs kBufferNeeds = kTlabBufferNeeds;

constinit const Needs kObjectBufferNeeds = [] {
  Needs needs = kTlabBufferNeeds;
  needs.graft = "buffers without TLABs";
  needs.features = kObjectFeatures;
  needs.flags = kObjectFlags;
  needs.slots = kObjectSlots;
  return needs;
}();

}  // namespace memgraft::hotspot
