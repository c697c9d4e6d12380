// What Linux may join to huge pages.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

namespace memgraft::observation {

// Whether Linux makes no huge page around that address.
inline bool is_kept_apart(pid_t process, std::uint64_t address) {
  std::ifstream lines("/proc/" + std::to_string(process) + "/smaps");
  bool here = false;
  for (std::string line; std::getline(lines, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      here = begin <= address && address < end;
    } else if (here && line.starts_with("VmFlags:")) {
      return line.find(" nh") != std::string::npos;
    }
  }
  return false;
}

}  // namespace memgraft::observation
