#include "ibs_sample.h"

#include <cstddef>
#include <cstring>

namespace memgraft::observation {

namespace {

constexpr std::size_t kCapabilities = 4;
// Places among the registers: IbsOpCtl, IbsOpRip, IbsOpData, IbsOpData2, IbsOpData3, IbsDcLinAd, IbsDcPhysAd,
// ...
constexpr std::size_t kData3 = 4;
constexpr std::size_t kLinearAddress = 5;

// IbsOpData3, MSRC001_1037.
constexpr std::uint64_t kLoad = 1U << 0U;                 // IbsLdOp
constexpr std::uint64_t kStore = 1U << 1U;                // IbsStOp
constexpr std::uint64_t kMissed = 1U << 7U;               // IbsDcMiss
constexpr std::uint64_t kLinearAddressValid = 1U << 17U;  // IbsDcLinAddrValid
constexpr unsigned kMissLatency = 32;                     // IbsDcMissLat, 16 bits

std::optional<std::uint64_t> register_at(std::span<const std::uint8_t> raw, std::size_t place) {
  std::uint64_t value = 0;
  const std::size_t at = kCapabilities + place * sizeof value;
  if (raw.size() < at + sizeof value) {
    return std::nullopt;
  }
  std::memcpy(&value, raw.data() + at, sizeof value);
  return value;
}

}  // namespace

std::optional<IbsAccess> ibs_access(std::span<const std::uint8_t> raw) {
  const std::optional<std::uint64_t> data = register_at(raw, kData3);
  const std::optional<std::uint64_t> address = register_at(raw, kLinearAddress);
  if (!data || !address || (*data & (kLoad | kStore)) == 0 || (*data & kLinearAddressValid) == 0 ||
      (*address >> 63U) != 0) {
    return std::nullopt;
  }
  IbsAccess access{.address = *address, .store = (*data & kStore) != 0, .latency_cycles = std::nullopt};
  // The manual: the latency is valid for loads that missed only.
  if ((*data & kLoad) != 0 && (*data & kMissed) != 0) {
    access.latency_cycles = static_cast<std::uint32_t>((*data >> kMissLatency) & 0xffffU);
  }
  return access;
}

}  // namespace memgraft::observation
