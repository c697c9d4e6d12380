#include "spe_packets.h"

#include <algorithm>
#include <array>

namespace memgraft::observation {

namespace {

using Kind = SpePacket::Kind;

// Which headers are which packet: (header & mask) == value. The manual's tables of headers, short format.
struct Header {
  std::uint8_t mask;
  std::uint8_t value;
  Kind kind;
};
constexpr std::array<Header, 7> kHeaders = {{
    {.mask = 0xff, .value = 0x71, .kind = Kind::timestamp},
    {.mask = 0xcf, .value = 0x42, .kind = Kind::events},
    {.mask = 0xcf, .value = 0x43, .kind = Kind::data_source},
    {.mask = 0xfc, .value = 0x64, .kind = Kind::context},
    {.mask = 0xfc, .value = 0x48, .kind = Kind::operation},
    {.mask = 0xf8, .value = 0xb0, .kind = Kind::address},
    {.mask = 0xf8, .value = 0x98, .kind = Kind::counter},
}};
constexpr std::uint8_t kPaddingHeader = 0x00;
constexpr std::uint8_t kEndHeader = 0x01;
constexpr std::uint8_t kExtendedMask = 0xfc;  // the first byte of a long header: 0b001000xx
constexpr std::uint8_t kExtended = 0x20;

constexpr std::uint8_t kLoadOrStore = 1;      // class of an operation
constexpr std::uint64_t kStore = 1U << 0U;    // bit of its payload
constexpr std::uint64_t kRetired = 1U << 1U;  // bit of the events
constexpr std::uint8_t kVirtualAddress = 2;   // index of an address
constexpr std::uint8_t kTotalLatency = 0;     // index of a counter

// Bits 63 to 56 of a data address are its tag. Bit 55 chooses the half of the address space.
constexpr std::uint64_t kUntagged = 0x00ff'ffff'ffff'ffffU;
constexpr std::uint64_t kUpperHalf = 1ULL << 55U;

std::optional<SpePacket> with_payload(SpePacket packet, std::span<const std::uint8_t> bytes, std::size_t at,
                                      std::uint8_t header) {
  const std::size_t size = std::size_t{1} << ((header >> 4U) & 3U);
  if (bytes.size() - at < size) {
    return std::nullopt;
  }
  for (std::size_t byte = 0; byte < size; ++byte) {
    packet.payload |= std::uint64_t{bytes[at + byte]} << (8 * byte);
  }
  packet.size += size;
  return packet;
}

// A record as its packets tell of it.
struct Record {
  std::optional<std::uint64_t> address;
  std::optional<bool> store;
  std::optional<std::uint32_t> latency;
  bool retired = true;  // where no packet says otherwise

  void add(const SpePacket& packet) {
    if (packet.kind == Kind::address && packet.index == kVirtualAddress) {
      address = packet.payload;
    } else if (packet.kind == Kind::operation && packet.index == kLoadOrStore) {
      store = (packet.payload & kStore) != 0;
    } else if (packet.kind == Kind::counter && packet.index == kTotalLatency) {
      latency = static_cast<std::uint32_t>(packet.payload);
    } else if (packet.kind == Kind::events) {
      retired = (packet.payload & kRetired) != 0;
    }
  }
  [[nodiscard]] std::optional<SpeAccess> access() const {
    if (!address || !store || !retired || (*address & kUpperHalf) != 0) {
      return std::nullopt;
    }
    return SpeAccess{.address = *address & kUntagged, .store = *store, .latency_cycles = latency};
  }
};

}  // namespace

std::optional<SpePacket> spe_packet(std::span<const std::uint8_t> bytes, std::size_t offset) {
  if (offset >= bytes.size()) {
    return std::nullopt;
  }
  std::uint8_t header = bytes[offset];
  SpePacket packet;
  packet.size = 1;
  if (header == kPaddingHeader || header == kEndHeader) {
    packet.kind = header == kEndHeader ? Kind::end : Kind::padding;
    return packet;
  }
  std::uint8_t high_index = 0;
  if ((header & kExtendedMask) == kExtended) {
    if (bytes.size() - offset < 2) {
      return std::nullopt;
    }
    const std::uint8_t first = header;
    header = bytes[offset + 1];
    packet.size = 2;
    if (header == 0) {
      // An alignment packet: up to the next multiple of 2, 4, 8 or 16.
      const std::size_t alignment = std::size_t{1} << ((first & 0xfU) + 1);
      packet.size = std::max<std::size_t>(2, alignment - offset % alignment);
      return bytes.size() - offset < packet.size ? std::nullopt : std::optional(packet);
    }
    high_index = static_cast<std::uint8_t>((first & 3U) << 3U);
  }
  const auto* const found = std::ranges::find_if(
      kHeaders, [header](const Header& known) { return (header & known.mask) == known.value; });
  if (found == kHeaders.end()) {
    return std::nullopt;
  }
  packet.kind = found->kind;
  const bool many = found->kind == Kind::address || found->kind == Kind::counter;
  packet.index = static_cast<std::uint8_t>(high_index | (header & (many ? 7U : 3U)));
  return with_payload(packet, bytes, offset + packet.size, header);
}

std::size_t spe_accesses(std::span<const std::uint8_t> bytes,
                         const std::function<void(const SpeAccess&)>& visit) {
  std::size_t skipped = 0;
  Record record;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::optional<SpePacket> packet = spe_packet(bytes, at);
    if (!packet) {
      ++skipped;
      ++at;
      record = {};
      continue;
    }
    at += packet->size;
    record.add(*packet);
    // Either ends a record.
    if (packet->kind == Kind::timestamp || packet->kind == Kind::end) {
      if (const std::optional<SpeAccess> access = record.access()) {
        visit(*access);
      }
      record = {};
    }
  }
  return skipped;
}

}  // namespace memgraft::observation
