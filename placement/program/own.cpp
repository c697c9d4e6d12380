#include "own.h"

#include <ctime>
#include <fstream>

namespace memgraft::placement {

double own_cpu_seconds() {
  constexpr double kNanoseconds = 1e-9;
  timespec used{};
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + (static_cast<double>(used.tv_nsec) * kNanoseconds);
}

std::uint64_t own_largest_bytes() {
  constexpr std::uint64_t kKibibyte = 1024;
  std::ifstream in("/proc/self/status");
  std::uint64_t kibibytes = 0;
  for (std::string field; in >> field;) {
    if (field == "VmHWM:") {
      in >> kibibytes;
      break;
    }
  }
  return kibibytes * kKibibyte;
}

std::uint64_t kernel_migrations(const std::string& root) {
  std::ifstream in(root + "/proc/vmstat");
  std::uint64_t count = 0;
  for (std::string field; in >> field >> count;) {
    if (field == "numa_pages_migrated") {
      return count;
    }
  }
  return 0;
}

std::string program_name(int process, const std::string& root) {
  std::ifstream in(root + "/proc/" + std::to_string(process) + "/comm");
  std::string name;
  std::getline(in, name);
  return name;
}

}  // namespace memgraft::placement
