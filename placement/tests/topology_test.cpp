#include "memgraft/placement/topology.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "fake_root.h"

namespace memgraft::placement {
namespace {

using linux_os::FakeRoot;

const std::string kSystem = "/sys/devices/system/";

void write_node(const FakeRoot& root, unsigned node, const std::string& cpus, const std::string& distance,
                unsigned long total, unsigned long free = 0) {
  const std::string number = std::to_string(node);
  const std::string folder = kSystem + "node/node" + number;
  root.write(folder + "/cpulist", cpus + "\n");
  root.write(folder + "/distance", distance + "\n");
  root.write(folder + "/meminfo", "Node " + number + " MemTotal:       " + std::to_string(total) +
                                      " kB\nNode " + number + " MemFree:        " + std::to_string(free) +
                                      " kB\n");
}

// Nodes 0 and 2 with CPUs, 3 with memory only, 5 that has neither; CPU 3 is offline.
class FourNodes : public testing::Test {
 protected:
  void SetUp() override {
    root_.write(kSystem + "node/online", "0,2-3,5\n");
    root_.write(kSystem + "cpu/online", "0-2,4\n");
    write_node(root_, 0, "0-1", "10 21 31 40", 1000, 100);
    write_node(root_, 2, "2,4", "21 10 17 40", 2000, 200);
    write_node(root_, 3, "", "31 17 10 40", 4000, 4000);
    write_node(root_, 5, "", "40 40 40 10", 0);
  }
  FakeRoot root_;
};

TEST_F(FourNodes, AreThoseWithCpusOrMemory) {
  const Topology topology = Topology::of_system(root_.path());
  ASSERT_EQ(topology.size(), 3);
  EXPECT_EQ(topology.nodes()[1].number, 2);
  EXPECT_EQ(topology.nodes()[1].cpus, (std::vector<unsigned>{2, 4}));
  EXPECT_EQ(topology.nodes()[1].memory_bytes, 2000U * 1024);
  EXPECT_TRUE(topology.nodes()[2].cpus.empty());
  EXPECT_EQ(topology.position(3), 2U);
  EXPECT_EQ(topology.position(1), std::nullopt);
}

TEST_F(FourNodes, HaveTheDistancesOfThoseThatCount) {
  const Topology topology = Topology::of_system(root_.path());
  EXPECT_EQ(topology.nodes()[0].distances, (std::vector<unsigned>{10, 21, 31}));
  EXPECT_EQ(topology.nodes()[2].distances, (std::vector<unsigned>{31, 17, 10}));
}

TEST_F(FourNodes, AreFoundByTheirCpus) {
  const Topology topology = Topology::of_system(root_.path());
  EXPECT_EQ(topology.node_of_cpu(1), 0U);
  EXPECT_EQ(topology.node_of_cpu(4), 1U);
  EXPECT_EQ(topology.node_of_cpu(3), std::nullopt) << "offline";
  EXPECT_EQ(topology.node_of_cpu(4096), std::nullopt);
}

TEST_F(FourNodes, TellTheirFreeMemory) {
  EXPECT_EQ(free_bytes(Topology::of_system(root_.path()), root_.path()),
            (std::vector<std::uint64_t>{100U * 1024, 200U * 1024, 4000U * 1024}));
}

TEST_F(FourNodes, AreAllowedByTheStatusOfTheProcess) {
  root_.write("/proc/77/status", "Name:\tcg\nMems_allowed:\t9\nMems_allowed_list:\t0,3\n");
  const Topology topology = Topology::of_system(root_.path());
  EXPECT_EQ(allowed_nodes(topology, 77, root_.path()), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(allowed_nodes(topology, 78, root_.path()), (std::vector<bool>{true, true, true})) << "not told";
}

TEST_F(FourNodes, WithoutUsableDistancesAreAllEquallyFar) {
  root_.write(kSystem + "node/node2/distance", "21 10\n");
  EXPECT_EQ(Topology::of_system(root_.path()).nodes()[1].distances, (std::vector<unsigned>{20, 10, 20}));
}

TEST(Topology, WithoutSysfsIsOneNodeThatHasAllCpus) {
  const FakeRoot root;
  const Topology nothing = Topology::of_system(root.path());
  ASSERT_EQ(nothing.size(), 1);
  EXPECT_EQ(nothing.node_of_cpu(0), 0U);
  root.write(kSystem + "cpu/online", "0-3\n");
  EXPECT_EQ(Topology::of_system(root.path()).node_of_cpu(3), 0U);
}

TEST(Topology, OfThisMachineHasThisCpuAndAllowsSomeNode) {
  const Topology topology = Topology::of_system();
  const std::vector<bool> allowed = allowed_nodes(topology, getpid());
  EXPECT_NE(std::ranges::find(allowed, true), allowed.end());
  EXPECT_GE(topology.size(), 1);
}

}  // namespace
}  // namespace memgraft::placement
