// A /sys made of files.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "memgraft/allocation/topology.h"

namespace memgraft::allocation {

class FakeSystem {
 public:
  FakeSystem() : root_(std::filesystem::temp_directory_path() / ("topology-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(root_);
  }
  ~FakeSystem() { std::filesystem::remove_all(root_); }
  FakeSystem(const FakeSystem&) = delete;
  FakeSystem& operator=(const FakeSystem&) = delete;

  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ / "sys/devices/system" / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  void cpu(unsigned number, unsigned core, unsigned package) const {
    const std::string here = "cpu/cpu" + std::to_string(number) + "/topology/";
    write(here + "core_id", std::to_string(core));
    write(here + "physical_package_id", std::to_string(package));
  }
  // `packages` of two cores of two CPUs each; a node per package. CPUs are numbered package after package.
  void packages(unsigned count) const {
    const auto range = [](unsigned first, unsigned last) {
      return std::to_string(first) + "-" + std::to_string(last);
    };
    write("cpu/possible", range(0, (4 * count) - 1));
    write("node/online", range(0, count - 1));
    for (unsigned package = 0; package < count; ++package) {
      write("node/node" + std::to_string(package) + "/cpulist", range(4 * package, (4 * package) + 3));
      for (unsigned i = 0; i < 4; ++i) {
        cpu((4 * package) + i, i / 2, package);
      }
    }
  }
  [[nodiscard]] Topology read() const { return Topology::of_system(root_.string()); }

 private:
  std::filesystem::path root_;
};

}  // namespace memgraft::allocation
