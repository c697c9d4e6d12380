#include "memgraft/allocation/topology.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fake_system.h"

namespace memgraft::allocation {
namespace {

TEST(Topology, OfTwoProcessorsWithTwoThreadsPerCore) {
  const FakeSystem system;
  system.write("cpu/possible", "0-7");
  for (unsigned cpu = 0; cpu < 8; ++cpu) {
    system.cpu(cpu, cpu % 2, cpu / 2 % 2);  // siblings are 4 apart, core numbers begin anew in each package
  }
  system.write("node/online", "0-1");
  system.write("node/node0/cpulist", "0-1,4-5");
  system.write("node/node1/cpulist", "2-3,6-7");
  const Topology topology = system.read();
  EXPECT_EQ(topology.cpus(), 8U);
  EXPECT_EQ(topology.count(Kind::cpu), 8U);
  EXPECT_EQ(topology.count(Kind::core), 4U);
  EXPECT_EQ(topology.count(Kind::processor), 2U);
  EXPECT_EQ(topology.count(Kind::node), 2U);
  EXPECT_EQ(topology.index_of(Kind::core, 1), topology.index_of(Kind::core, 5));
  EXPECT_NE(topology.index_of(Kind::core, 1), topology.index_of(Kind::core, 3));
  EXPECT_EQ(topology.index_of(Kind::processor, 6), topology.index_of(Kind::processor, 2));
  EXPECT_EQ(topology.index_of(Kind::node, 5), topology.index_of(Kind::node, 0));
  EXPECT_EQ(topology.index_of(Kind::cpu, 7), 7U);
  EXPECT_EQ(topology.node_numbers(), (std::vector<std::uint32_t>{0, 1}));
}

TEST(Topology, NumbersHaveNoGaps) {
  const FakeSystem system;
  system.write("cpu/possible", "0-1");
  system.cpu(0, 17, 3);
  system.cpu(1, 40, 9);
  const Topology topology = system.read();
  EXPECT_EQ(topology.index_of(Kind::core, 1), 1U);
  EXPECT_EQ(topology.index_of(Kind::processor, 1), 1U);
  EXPECT_EQ(topology.count(Kind::node), 1U);
}

TEST(Topology, KeepsTheSystemsNumbersOfNodes) {
  const FakeSystem system;
  system.write("cpu/possible", "0-3");
  system.write("node/online", "1,4,7");
  system.write("node/node1/cpulist", "2");
  system.write("node/node4/cpulist", "");  // memory only
  system.write("node/node7/cpulist", "0-1,3");
  const Topology topology = system.read();
  EXPECT_EQ(topology.count(Kind::node), 2U);
  EXPECT_EQ(topology.node_numbers(), (std::vector<std::uint32_t>{7, 1})) << "of its CPUs, from the first on";
  EXPECT_EQ(topology.index_of(Kind::node, 2), 1U);
}

TEST(Topology, OfNothingIsOneCpu) {
  const Topology topology = FakeSystem().read();
  EXPECT_EQ(topology.cpus(), 1U);
  EXPECT_EQ(topology.index_of(Kind::cpu, 5), 0U);
  EXPECT_EQ(topology.node_numbers(), std::vector<std::uint32_t>{0});
}

TEST(Topology, OfNonsenseIsOneCpu) {
  for (const std::string list : {"", "x", "1-", "3-1", "0-999999999", "-", ",,", "0-3x"}) {
    const FakeSystem system;
    system.write("cpu/possible", list);
    EXPECT_EQ(system.read().cpus(), 1U) << list;
  }
}

TEST(Topology, OfThisMachine) {
  const Topology topology = Topology::of_system();
  EXPECT_GE(topology.cpus(), 1U);
  for (const Kind kind : {Kind::cpu, Kind::core, Kind::processor, Kind::node}) {
    EXPECT_LE(topology.count(kind), topology.cpus());
    for (std::size_t cpu = 0; cpu < topology.cpus(); ++cpu) {
      EXPECT_LT(topology.index_of(kind, cpu), topology.count(kind));
    }
  }
}

}  // namespace
}  // namespace memgraft::allocation
