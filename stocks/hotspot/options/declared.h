// All options of this agent. `make options` makes this file of the declarations in
// memgraft/grafts/table.py, from which the command line's options come as well.
#pragma once

#include <array>
#include <string_view>

#include "options/declaration.h"

namespace memgraft::hotspot::declared {

inline constexpr auto kZeroingWords = std::to_array<std::string_view>(
    {"bulk", "non-temporal", "windows", "concurrent", "adaptive", "mixed", "pause"});
inline constexpr Declaration kZeroing{
    .key = "zeroing",
    .usage = "zeroing=STRATEGY",
    .expected = "zeroing=bulk, non-temporal, windows, concurrent or adaptive",
    .words = kZeroingWords,
    .kinds = {}};

inline constexpr Declaration kWindow{
    .key = "window",
    .usage = "window=BYTES",
    .expected = "window=BYTES with a power of two from 4096 to 1048576, in bytes",
    .words = {},
    .kinds = {},
    .least = 4096,
    .most = 1048576,
    .by_default = 32768};

inline constexpr auto kAgainstWords =
    std::to_array<std::string_view>({"bulk", "non-temporal", "windows", "concurrent", "mixed", "pause"});
inline constexpr Declaration kAgainst{.key = "against",
                                      .usage = "against=STRATEGY",
                                      .expected = "against=bulk, non-temporal, windows or concurrent",
                                      .words = kAgainstWords,
                                      .kinds = {}};

inline constexpr Declaration kTable{.key = "table",
                                    .usage = "table=FILE",
                                    .expected = "table=FILE with a file that exists",
                                    .words = {},
                                    .kinds = {}};

inline constexpr auto kBuffersWords = std::to_array<std::string_view>({"auto", "none"});
inline constexpr auto kBuffersKinds = std::to_array<std::string_view>({"cpu", "core", "processor", "node"});
inline constexpr Declaration kBuffers{
    .key = "buffers",
    .usage = "buffers=KIND:BYTES",
    .expected =
        "buffers=KIND:BYTES+KIND:BYTES with kinds of cpu, core, processor and node in this order, each once, "
        "and sizes that are multiples of 8 and larger multiples of the one before, up to 17179869184; or "
        "auto or none",
    .words = kBuffersWords,
    .kinds = kBuffersKinds,
    .most = 17179869184U,
    .multiple = 8};

inline constexpr auto kTakeWords = std::to_array<std::string_view>({"atomic", "restartable"});
inline constexpr Declaration kTake{.key = "take",
                                   .usage = "take=HOW",
                                   .expected = "take=atomic or restartable",
                                   .words = kTakeWords,
                                   .kinds = {}};

inline constexpr auto kZeroAtWords = std::to_array<std::string_view>({"tlab", "refill"});
inline constexpr Declaration kZeroAt{.key = "zero-at",
                                     .usage = "zero-at=WHEN",
                                     .expected = "zero-at=tlab or refill",
                                     .words = kZeroAtWords,
                                     .kinds = {}};

inline constexpr Declaration kNumaEden{.key = "numa-eden",
                                       .alone = true,
                                       .usage = "numa-eden",
                                       .expected = "numa-eden",
                                       .words = {},
                                       .kinds = {}};

inline constexpr Declaration kObjects{
    .key = "objects", .alone = true, .usage = "objects", .expected = "objects", .words = {}, .kinds = {}};

inline constexpr auto kOrderingWords = std::to_array<std::string_view>(
    {"sc", "sc-seed", "sc-private-objects", "sc-final-loads", "sc-last-fences", "no-fences", "switches"});
inline constexpr Declaration kOrdering{.key = "ordering",
                                       .usage = "ordering=PLACEMENT",
                                       .expected = "ordering=sc or sc-seed",
                                       .words = kOrderingWords,
                                       .kinds = {}};

inline constexpr Declaration kRelaxed{.key = "relaxed",
                                      .usage = "relaxed=FILE",
                                      .expected = "relaxed=FILE with a file that exists",
                                      .words = {},
                                      .kinds = {}};

inline constexpr Declaration kCheckOrder{.key = "check-order",
                                         .alone = true,
                                         .usage = "check-order",
                                         .expected = "check-order",
                                         .words = {},
                                         .kinds = {}};

inline constexpr Declaration kSummary{.key = "summary",
                                      .usage = "summary=FOLDER",
                                      .expected = "summary=FOLDER with a folder that exists",
                                      .words = {},
                                      .kinds = {}};

inline constexpr Declaration kLive{
    .key = "live", .alone = true, .usage = "live", .expected = "live", .words = {}, .kinds = {}};

inline constexpr Declaration kCounters{
    .key = "counters", .alone = true, .usage = "counters", .expected = "counters", .words = {}, .kinds = {}};

inline constexpr Declaration kCheck{
    .key = "check", .alone = true, .usage = "check", .expected = "check", .words = {}, .kinds = {}};

inline constexpr std::array kZeroingOptions{kZeroing, kWindow, kAgainst, kTable};

inline constexpr std::array kBuffersOptions{kBuffers, kTake, kZeroAt, kNumaEden, kObjects};

inline constexpr std::array kOrderingOptions{kOrdering, kRelaxed, kCheckOrder};

inline constexpr std::array kAgentOptions{kSummary, kLive, kCounters, kCheck};

}  // namespace memgraft::hotspot::declared
