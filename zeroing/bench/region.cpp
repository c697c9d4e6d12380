#include "region.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>

namespace memgraft::zeroing::bench {
namespace {

constexpr std::size_t kWantedBytes = std::size_t{512} << 20;
constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

// MemAvailable of /proc/meminfo (proc(5)), in bytes; without it, nothing is known to be short.
std::size_t available_in_system() {
  std::ifstream meminfo("/proc/meminfo");
  std::string line;
  while (std::getline(meminfo, line)) {
    std::istringstream fields(line);
    std::string name;
    std::size_t kibibytes = 0;
    if (fields >> name >> kibibytes && name == "MemAvailable:") {
      return kibibytes << 10;
    }
  }
  return kUnlimited;
}

// One number of this process's control group, in bytes, or `otherwise` where it has none ("max", cgroup v1).
std::size_t of_control_group(const std::string& path, const char* file, std::size_t otherwise) {
  std::ifstream in("/sys/fs/cgroup" + path + "/" + file);
  std::size_t bytes = 0;
  return in >> bytes ? bytes : otherwise;
}

// memory.max less memory.current of this process's control group (Linux kernel, "Control Group v2").
std::size_t available_in_control_group() {
  std::ifstream cgroup("/proc/self/cgroup");
  std::string line;
  while (std::getline(cgroup, line)) {
    if (!line.starts_with("0::")) {
      continue;  // the line of cgroup v2
    }
    const std::string path = line.substr(3);
    const std::size_t most = of_control_group(path, "memory.max", kUnlimited);
    const std::size_t now = of_control_group(path, "memory.current", 0);
    return most == kUnlimited ? kUnlimited : most - std::min(most, now);
  }
  return kUnlimited;
}

// In bytes; 0 where the C library does not know.
std::size_t last_level_cache() {
#ifdef _SC_LEVEL3_CACHE_SIZE
  return static_cast<std::size_t>(std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE)));
#else
  return 0;
#endif
}

// The same of the last cache that a core has for itself.
std::size_t level_2_cache() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  return static_cast<std::size_t>(std::max(0L, sysconf(_SC_LEVEL2_CACHE_SIZE)));
#else
  return 0;
#endif
}

}  // namespace

Region::Region(std::size_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) {
    std::cerr << "memgraft-zero-bench: cannot map " << (bytes >> 20)
              << " MiB of memory to zero: " << std::strerror(errno)
              << ". Free some, or raise the limit (ulimit -v).\n";
    std::exit(EXIT_FAILURE);
  }
  memory_ = {static_cast<std::byte*>(at), bytes};
  std::memset(at, 0xff, bytes);  // writes every page; reading would only map the shared zero page
}

Region::~Region() { munmap(memory_.data(), memory_.size()); }

StreamSize stream_size() {
  const std::size_t wanted = std::max(kWantedBytes, std::bit_ceil(4 * last_level_cache()));
  const std::size_t available = std::min(available_in_system(), available_in_control_group());
  if (wanted <= available / 2) {
    return {.bytes = wanted, .reason = {}};
  }
  const std::size_t bytes = std::bit_floor(available / 2);
  return {.bytes = bytes,
          .reason = "only " + std::to_string(available >> 20) +
                    " MiB of memory are free, so streaming goes through " + std::to_string(bytes >> 20) +
                    " MiB instead of " + std::to_string(wanted >> 20) + " MiB: a cache may hold some of it"};
}

std::size_t late_distance() {
  constexpr std::size_t kWhereUnknown = std::size_t{4} << 20;  // twice the largest L2 of a server core, 2026
  const std::size_t cache = level_2_cache();
  return cache == 0 ? kWhereUnknown : std::bit_ceil(2 * cache);
}

std::string transparent_huge_pages() {
  std::ifstream in("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string choice;
  while (in >> choice) {
    if (choice.starts_with('[') && choice.ends_with(']')) {
      return choice.substr(1, choice.size() - 2);
    }
  }
  return "unknown";
}

}  // namespace memgraft::zeroing::bench
