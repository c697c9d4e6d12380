#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "join/aarch64_code.h"
#include "join/entry.h"

namespace memgraft::hotspot {

bool can_hook_entry(std::span<const std::byte> function) { return aarch64::may_be_moved(function); }

std::uintptr_t hook_entry(Patch& patch, std::span<const std::byte> function, std::uintptr_t replacement) {
  if (!aarch64::may_be_moved(function)) {
    throw std::logic_error("an entry that was not checked");
  }
  const auto address = reinterpret_cast<std::uintptr_t>(function.data());
  const auto moved = function.first(aarch64::kJumpBytes);
  std::vector<std::byte> copy(moved.begin(), moved.end());
  const aarch64::Jump back = aarch64::jump_to(address + moved.size());
  copy.insert(copy.end(), back.begin(), back.end());

  // Lives as long as the process: somebody may be in it at any time.
  void* const place = mmap(nullptr, copy.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "mmap");
  }
  std::memcpy(place, copy.data(), copy.size());
  // Instructions are fetched past the data cache here.
  auto* const text = static_cast<char*>(place);
  __builtin___clear_cache(text, text + copy.size());
  if (mprotect(place, copy.size(), PROT_READ | PROT_EXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "mprotect");
  }
  patch.replace_code(address, aarch64::jump_to(replacement));
  return reinterpret_cast<std::uintptr_t>(place);
}

}  // namespace memgraft::hotspot
