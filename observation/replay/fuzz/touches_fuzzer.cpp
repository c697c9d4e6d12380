// Any bytes at all are a record of touches that is read, or refused; and what was read can be written again.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <variant>

#include "memgraft/observation/touch_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int fd = memfd_create("touches", MFD_CLOEXEC);
  static const std::string file = "/proc/self/fd/" + std::to_string(fd);
  if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  auto opened = memgraft::observation::TouchReader::open(file);
  if (const auto* const refusal = std::get_if<memgraft::observation::Refusal>(&opened)) {
    // One line.
    if (refusal->why.find('\n') != std::string::npos || refusal->why.find(file) == std::string::npos) {
      std::abort();
    }
    return 0;
  }
  auto& reader = std::get<memgraft::observation::TouchReader>(opened);
  std::size_t count = 0;
  for (memgraft::observation::Touch touch; reader.next(touch);) {
    ++count;
  }
  const std::size_t header = 48 + 4 * reader.header().node_of_cpu.size();
  if (count != (size - header) / 32) {
    std::abort();
  }
  return 0;
}
