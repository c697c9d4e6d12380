// Any bytes are read as IBS's registers without leaving them, and what comes out is an address of a program.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "ibs_sample.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::uint8_t> bytes(data, data + size);
  const auto access = memgraft::observation::ibs_access(bytes);
  if (access && ((access->address >> 63U) != 0 || access->latency_cycles > 0xffffU)) {
    std::abort();
  }
  return 0;
}
