#include "memgraft/linux/cpus.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "fake_root.h"

namespace memgraft::linux_os {
namespace {

// As Debian mounts version 2, and a hybrid machine mounts both.
constexpr const char* kVersion2Mount =
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
    "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kVersion1Mounts =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 master:1 - cgroup cgroup rw,cpu,cpuacct\n";

class QuotaOf : public testing::Test {
 protected:
  void groups(const std::string& text) { root_.write("/proc/self/cgroup", text); }
  void mounts(const std::string& text) { root_.write("/proc/self/mountinfo", text); }
  void version2(const std::string& folder, const std::string& max) {
    root_.write("/sys/fs/cgroup" + folder + "/cpu.max", max + "\n");
  }
  void version1(const std::string& folder, const std::string& quota, const std::string& period) {
    root_.write("/sys/fs/cgroup/cpu,cpuacct" + folder + "/cpu.cfs_quota_us", quota + "\n");
    root_.write("/sys/fs/cgroup/cpu,cpuacct" + folder + "/cpu.cfs_period_us", period + "\n");
  }
  double quota() { return CpuLimits(root_.path()).now().quota; }

  FakeRoot root_;
};

TEST_F(QuotaOf, NoGroupsIsNone) { EXPECT_EQ(quota(), Cpus::kNoQuota); }

TEST_F(QuotaOf, Version2IsTheSmallestOnTheWayUp) {
  groups("0::/system.slice/java.service/inner\n");
  mounts(kVersion2Mount);
  version2("/system.slice/java.service/inner", "max 100000");
  EXPECT_EQ(quota(), Cpus::kNoQuota);
  version2("/system.slice/java.service", "150000 100000");
  EXPECT_DOUBLE_EQ(quota(), 1.5);
  version2("/system.slice", "20000 200000");
  EXPECT_DOUBLE_EQ(quota(), 0.1);
  version2("/system.slice/java.service/inner", "50000 100000");
  EXPECT_DOUBLE_EQ(quota(), 0.1);
  version2("/elsewhere", "1000 100000");
  EXPECT_DOUBLE_EQ(quota(), 0.1);
}

TEST_F(QuotaOf, AGroupThatANamespaceShowsAsRootCounts) {
  groups("0::/\n");
  mounts(kVersion2Mount);
  version2("", "200000 100000");
  EXPECT_DOUBLE_EQ(quota(), 2.0);
}

TEST_F(QuotaOf, Version1IsTheSmallestOnTheWayUp) {
  groups("9:name=systemd:/docker/abc\n2:cpuset:/\n1:cpu,cpuacct:/docker/abc\n");
  mounts(kVersion1Mounts);
  version1("", "-1", "100000");
  version1("/docker/abc", "-1", "100000");
  EXPECT_EQ(quota(), Cpus::kNoQuota);
  version1("/docker", "30000", "20000");
  EXPECT_DOUBLE_EQ(quota(), 1.5);
  version1("/docker/abc", "10000", "100000");
  EXPECT_DOUBLE_EQ(quota(), 0.1);
}

TEST_F(QuotaOf, AHybridMachineIsTheSmallerOfBoth) {
  groups("1:cpu,cpuacct:/\n0::/\n");
  mounts(std::string(kVersion1Mounts) +
         "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n");
  version1("", "-1", "100000");
  version2("/unified", "300000 100000");
  EXPECT_DOUBLE_EQ(quota(), 3.0);
  version1("", "200000", "100000");
  EXPECT_DOUBLE_EQ(quota(), 2.0);
}

// Docker on version 1, without cgroup namespaces: the container's own group is mounted, and nothing above it.
TEST_F(QuotaOf, AGroupMountedByItselfIsFound) {
  groups("1:cpu,cpuacct:/docker/abc/inner\n");
  mounts("32 31 0:29 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n");
  version1("", "50000", "100000");
  EXPECT_DOUBLE_EQ(quota(), 0.5);
  version1("/inner", "20000", "100000");
  EXPECT_DOUBLE_EQ(quota(), 0.2);
}

TEST_F(QuotaOf, AMountOfAnotherGroupIsPassedOver) {
  groups("1:cpu,cpuacct:/docker/abc\n");
  mounts(
      "30 31 0:29 /docker/ab /mnt/other rw - cgroup cgroup rw,cpu,cpuacct\n"
      "32 31 0:29 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n");
  root_.write("/mnt/other/cpu.cfs_quota_us", "1000\n");
  root_.write("/mnt/other/cpu.cfs_period_us", "100000\n");
  version1("", "50000", "100000");
  EXPECT_DOUBLE_EQ(quota(), 0.5);
}

// A process outside the root of its namespace: its group has no name there, and no file is looked for
// outside.
TEST_F(QuotaOf, AGroupOutsideTheNamespaceNeverLeavesTheMount) {
  groups("0::/../other\n");
  mounts(kVersion2Mount);
  root_.write("/sys/fs/other/cpu.max", "1000 100000\n");
  EXPECT_EQ(quota(), Cpus::kNoQuota);
  version2("", "100000 100000");
  EXPECT_DOUBLE_EQ(quota(), 1.0);
}

TEST_F(QuotaOf, NamesWithSpacesAndColonsAreFound) {
  groups("0::/a:b\n");
  mounts("31 23 0:28 / /mnt/c\\040d\\134 rw - cgroup2 cgroup2 rw\n");
  root_.write("/mnt/c d\\/a:b/cpu.max", "70000 100000\n");
  EXPECT_DOUBLE_EQ(quota(), 0.7);
}

TEST_F(QuotaOf, FilesThatMakeNoSenseSetNoLimit) {
  groups("0::/a\n1:cpu,cpuacct:/a\n");
  mounts(std::string(kVersion2Mount) + kVersion1Mounts);
  for (const char* const text :
       {"", "max", "10000", "-5 100000", "0 100000", "10000 0", "x y", "10000 100000 7", "10000  100000"}) {
    version2("/a", text);
    EXPECT_EQ(quota(), Cpus::kNoQuota) << text;
  }
  version1("/a", "0", "100000");
  EXPECT_EQ(quota(), Cpus::kNoQuota);
  version1("/a", "10000", "");
  EXPECT_EQ(quota(), Cpus::kNoQuota);
  root_.remove("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us");
  EXPECT_EQ(quota(), Cpus::kNoQuota);
}

TEST_F(QuotaOf, LinesThatMakeNoSenseArePassedOver) {
  version2("/a", "10000 100000");
  for (const char* const line : {"\n", "0", "0:", "0::", "::/a", "0:cpu:/a", "x::/a"}) {
    groups(line);
    mounts(kVersion2Mount);
    EXPECT_EQ(quota(), Cpus::kNoQuota) << line;
  }
  groups("nonsense\n0::/a\n");
  for (const char* const line :
       {"", "-", "1 2 3", "1 2 3 / /sys/fs/cgroup rw cgroup2", "1 2 3 4 5 - cgroup2 x rw",
        "1 2 3 / /sys/fs/cgroup rw -", "1 2 3 / /sys/fs/cgroup rw - tmpfs cgroup2 rw"}) {
    mounts(line);
    EXPECT_EQ(quota(), Cpus::kNoQuota) << line;
  }
  mounts(std::string("nonsense\n\n") + kVersion2Mount);
  EXPECT_DOUBLE_EQ(quota(), 0.1);
}

TEST_F(QuotaOf, ChangesAreSeenAtTheNextCall) {
  groups("0::/a\n");
  mounts(kVersion2Mount);
  CpuLimits limits(root_.path());
  EXPECT_EQ(limits.now().quota, Cpus::kNoQuota);
  version2("/a", "10000 100000");
  EXPECT_DOUBLE_EQ(limits.now().quota, 0.1);
  version2("/a", "20000 100000");
  EXPECT_DOUBLE_EQ(limits.now().quota, 0.2);
  version2("/b", "30000 100000");
  groups("0::/b\n");
  EXPECT_DOUBLE_EQ(limits.now().quota, 0.3);
  root_.remove("/proc/self/cgroup");
  EXPECT_DOUBLE_EQ(limits.now().quota, 0.3) << "the group known last stays";
}

TEST(Cpus, AreTheStricterOfBothLimits) {
  EXPECT_DOUBLE_EQ((Cpus{.allowed = 2, .quota = Cpus::kNoQuota}).usable(), 2.0);
  EXPECT_DOUBLE_EQ((Cpus{.allowed = 2, .quota = 0.1}).usable(), 0.1);
  EXPECT_DOUBLE_EQ((Cpus{.allowed = 2, .quota = 3.5}).usable(), 2.0);
}

TEST(Cpus, FollowTheRealAffinity) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(getpid(), sizeof before, &before), 0);
  CpuLimits limits;
  EXPECT_EQ(limits.now().allowed, static_cast<unsigned>(CPU_COUNT(&before)));
  int first = 0;
  while (!CPU_ISSET(first, &before)) {
    ++first;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(getpid(), sizeof one, &one), 0);
  EXPECT_EQ(limits.now().allowed, 1U);
  ASSERT_EQ(sched_setaffinity(getpid(), sizeof before, &before), 0);
  EXPECT_EQ(limits.now().allowed, static_cast<unsigned>(CPU_COUNT(&before)));
}

// A real group with a real quota, where this test is in the highest group and may make one below it.
class RealGroup : public testing::Test {
 protected:
  void TearDown() override {
    if (!folder_.empty()) {
      write(mount_ + "/cgroup.procs", std::to_string(getpid()));
      rmdir(folder_.c_str());
    }
  }

  // `line` is what /proc/self/cgroup says of a process in the highest group.
  bool make(const std::string& mount, std::string_view line) {
    std::ifstream groups("/proc/self/cgroup");
    for (std::string group; std::getline(groups, group);) {
      std::error_code error;
      const std::string folder = mount + "/memgraft-test-" + std::to_string(getpid());
      if (group.ends_with(line) && std::filesystem::create_directory(folder, error)) {
        mount_ = mount;
        folder_ = folder;
        return true;
      }
    }
    return false;
  }
  static bool write(const std::string& file, const std::string& content) {
    std::ofstream stream(file);
    stream << content;
    stream.flush();
    return stream.good();
  }

  std::string mount_;
  std::string folder_;
};

TEST_F(RealGroup, OfVersion1SetsTheQuota) {
  if (!make("/sys/fs/cgroup/cpu", ":cpu:/")) {
    GTEST_SKIP() << "cannot make a control group of version 1 in /sys/fs/cgroup/cpu";
  }
  CpuLimits limits;
  EXPECT_EQ(limits.now().quota, Cpus::kNoQuota);
  ASSERT_TRUE(write(folder_ + "/cpu.cfs_period_us", "200000"));
  ASSERT_TRUE(write(folder_ + "/cpu.cfs_quota_us", "180000"));
  EXPECT_EQ(limits.now().quota, Cpus::kNoQuota) << "a group this process is not in";
  ASSERT_TRUE(write(folder_ + "/cgroup.procs", std::to_string(getpid())));
  EXPECT_DOUBLE_EQ(limits.now().quota, 0.9);
  EXPECT_DOUBLE_EQ(CpuLimits().now().usable(), 0.9);
  ASSERT_TRUE(write(folder_ + "/cpu.cfs_quota_us", "150000"));
  EXPECT_DOUBLE_EQ(limits.now().quota, 0.75);
  ASSERT_TRUE(write(folder_ + "/cpu.cfs_quota_us", "-1"));
  EXPECT_EQ(limits.now().quota, Cpus::kNoQuota);
}

TEST_F(RealGroup, OfVersion2SetsTheQuota) {
  std::ifstream controllers("/sys/fs/cgroup/cgroup.subtree_control");
  std::string listed;
  std::getline(controllers, listed);
  if ((" " + listed + " ").find(" cpu ") == std::string::npos || !make("/sys/fs/cgroup", "0::/") ||
      !write(folder_ + "/cgroup.procs", std::to_string(getpid()))) {
    GTEST_SKIP() << "cannot enter a control group of version 2 with the controller cpu in /sys/fs/cgroup";
  }
  ASSERT_TRUE(write(folder_ + "/cpu.max", "180000 200000"));
  EXPECT_DOUBLE_EQ(CpuLimits().now().quota, 0.9);
}

}  // namespace
}  // namespace memgraft::linux_os
