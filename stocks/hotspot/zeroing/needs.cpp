#include "zeroing/needs.h"

#include <array>

#include "join/heap_methods.h"

namespace memgraft::hotspot {

namespace {

// Versions whose sources were read: the order of the two calls in the refill path, and who calls what of the
// rest.
constexpr std::array kFeatures{17, 21, 25};
constexpr std::array kGraftedCollectors{Collector::serial, Collector::parallel, Collector::g1};
// Their nursery's free memory is one stretch; G1's is scattered over regions.
constexpr std::array kNurseryCollectors{Collector::serial, Collector::parallel};
constexpr std::array<FlagNeed, 2> kFlags{{
    {.name = "UseTLAB", .value = true, .option = "-XX:+UseTLAB"},
    {.name = "ZeroTLAB", .value = true, .option = "-XX:+ZeroTLAB"},
}};
constexpr std::array<FlagNeed, 1> kNurseryFlags{{
    // With it ParallelGC's eden is in several pieces.
    {.name = "UseNUMA", .value = false, .option = "-XX:-UseNUMA"},
}};
constexpr std::array kSlots{kAllocateNewTlab};
constexpr std::array kWindowSlots{kEnsureParsability, kFillWithDummyObject};
constexpr std::array kAheadSlots{kEnsureParsability, kMemAllocate};
constexpr std::array kWindowFunctions{kFillWithObjects};
// JDK 17 and JDK 21+ spell the refill path differently.
constexpr std::array<std::string_view, 2> kRefillPaths{
    "_ZNK12MemAllocator25allocate_inside_tlab_slowERNS_10AllocationE",
    "_ZNK12MemAllocator29mem_allocate_inside_tlab_slowERNS_10AllocationE",
};
constexpr std::array<ImportNeed, 1> kImports{{{.function = kMemset, .called_by = kRefillPaths}}};

}  // namespace

const Needs kZeroingNeeds{.graft = "zeroing",
                          .features = kFeatures,
                          .collectors = kGraftedCollectors,
                          .flags = kFlags,
                          .slots = kSlots,
                          .imports = kImports,
                          .functions = {},
                          .data = {},
                          .methods = {},
                          .entries = {},
                          .size_flags = {}};

const Needs kWindowNeeds{.graft = "zeroing=windows",
                         .features = kFeatures,
                         .collectors = kGraftedCollectors,
                         .flags = {},
                         .slots = kWindowSlots,
                         .imports = {},
                         .functions = kWindowFunctions,
                         .data = {},
                         .methods = {},
                         .entries = {},
                         .size_flags = {}};

const Needs kAheadNeeds{.graft = "zeroing=concurrent",
                        .features = kFeatures,
                        .collectors = kNurseryCollectors,
                        .flags = kNurseryFlags,
                        .slots = kAheadSlots,
                        .imports = {},
                        .functions = {},
                        .data = {},
                        .methods = {},
                        .entries = {},
                        .size_flags = {},
                        .nursery = true};

}  // namespace memgraft::hotspot
