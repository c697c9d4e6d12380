// What Arm's Statistical Profiling Extension writes: Arm Architecture Reference Manual for A-profile (DDI
// 0487), "The Statistical Profiling Extension Sample Record Specification". Pure functions over bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace memgraft::observation {

struct SpePacket {
  enum class Kind : std::uint8_t {
    padding,
    end,
    timestamp,
    address,
    counter,
    context,
    operation,
    events,
    data_source,
  };

  Kind kind = Kind::padding;
  std::uint8_t index = 0;  // which address or counter; the class of an operation
  std::uint64_t payload = 0;
  std::size_t size = 0;  // in bytes, header included
};

// The packet at `offset` (alignment packets reach to a multiple); nullopt where it is none or is cut off.
std::optional<SpePacket> spe_packet(std::span<const std::uint8_t> bytes, std::size_t offset);

// One sampled load or store of a program, that was not thrown away as wrongly predicted.
struct SpeAccess {
  std::uint64_t address = 0;  // virtual, without its tag
  bool store = false;
  std::optional<std::uint32_t> latency_cycles;  // all of it, from dispatch to completion
};

// Those in `bytes`, which begin with a record. Bytes that are no packet are skipped one by one, as the manual
// wants it to be possible, until packets make sense again. Gives how many there were.
std::size_t spe_accesses(std::span<const std::uint8_t> bytes,
                         const std::function<void(const SpeAccess&)>& visit);

}  // namespace memgraft::observation
