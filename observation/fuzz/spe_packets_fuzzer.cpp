// Any bytes are read as SPE's packets without leaving them: every packet lies within, and what comes out is
// an address of a program.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "spe_packets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace memgraft::observation;
  const std::vector<std::uint8_t> bytes(data, data + size);
  std::size_t packets = 0;
  for (std::size_t at = 0; at < bytes.size(); ++packets) {
    const auto packet = spe_packet(bytes, at);
    if (packet && (packet->size == 0 || packet->size > bytes.size() - at)) {
      std::abort();
    }
    at += packet ? packet->size : 1;
  }
  std::size_t accesses = 0;
  const std::size_t skipped = spe_accesses(bytes, [&](const SpeAccess& access) {
    ++accesses;
    if ((access.address >> 55U) != 0) {
      std::abort();
    }
  });
  if (skipped > bytes.size() || accesses > packets) {
    std::abort();
  }
  return 0;
}
