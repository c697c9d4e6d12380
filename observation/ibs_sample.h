// What AMD's Instruction-Based Sampling tells of one operation: Processor Programming Reference of family 19h
// (and others), registers MSRC001_1033 to MSRC001_1039. A pure function over bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace memgraft::observation {

struct IbsAccess {
  std::uint64_t address = 0;  // virtual
  bool store = false;
  std::optional<std::uint32_t> latency_cycles;  // of a load that missed the first cache
};

// `raw` is PERF_SAMPLE_RAW of an event of ibs_op: four bytes of capabilities, then the registers in their
// order (arch/x86/events/amd/ibs.c). nullopt: the operation was no load or store, or its address is not known
// or the kernel's.
std::optional<IbsAccess> ibs_access(std::span<const std::uint8_t> raw);

}  // namespace memgraft::observation
