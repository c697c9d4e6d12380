// Patterns of the NAS kernels on a machine of four nodes, whose pages all start on node 0: what the whole of
// it, from touches to moves, makes of them.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <random>
#include <sstream>
#include <string>

#include "fake_machine.h"
#include "memgraft/placement/session.h"

namespace memgraft::placement {
namespace {

constexpr std::size_t kNodes = 4;
constexpr std::uint64_t kPages = 4000;
constexpr std::uint64_t kBase = 0x7f0000000000;

struct Result {
  std::vector<double> local;  // share of samples by interval
  std::uint64_t moved = 0;
};

class Pattern : public testing::Test {
 protected:
  // Which node makes a touch of that page in that interval.
  using Toucher = std::function<std::size_t(std::uint64_t page, int interval, std::mt19937& random)>;

  // `touches` of each page in an interval, on average: a sample.
  Result run(int intervals, double touches, const Toucher& toucher) {
    write_nodes(root_, kNodes);
    const Topology topology = Topology::of_system(root_.path());
    write_mapping();
    FakeKernel kernel;
    for (std::uint64_t page = 0; page < kPages; ++page) {
      kernel.pages[kBase + (page * kPageBytes)] = 0;
    }
    FakeMonitor monitor;
    Session session(kProcess, topology, monitor,
                    {.settings = settings_, .observing_cpu = kAllItWants, .root = root_.path()}, kernel);
    std::mt19937 random(42);
    Result result;
    for (int interval = 0; interval < intervals; ++interval) {
      const auto all = static_cast<std::uint64_t>(touches * kPages);
      for (std::uint64_t i = 0; i < all; ++i) {
        const std::uint64_t page = random() % kPages;
        monitor.touch(kBase + (page * kPageBytes), toucher(page, interval, random));
        monitor.touches.back().watched_nanoseconds = watched_;
        if (i % 8192 == 0) {
          session.drain();
        }
      }
      session.drain();
      const Interval ended = session.end_interval();
      std::uint64_t local = 0;
      for (std::size_t node = 0; node < kNodes; ++node) {
        local += ended.accesses[node][node];
      }
      result.local.push_back(static_cast<double>(local) / static_cast<double>(sum(ended.accesses)));
      result.moved += sum(ended.moved);
    }
    return result;
  }

  static std::size_t quarter(std::uint64_t page) { return page * kNodes / kPages; }

  void write_mapping() const {
    std::ostringstream line;
    line << std::hex << kBase << '-' << kBase + (kPages * kPageBytes) << " rw-p 00000000 00:00 0\n";
    root_.write("/proc/" + std::to_string(kProcess) + "/maps", line.str());
  }

  Settings settings_;
  std::optional<std::uint64_t> watched_;  // nanoseconds, for a touch
  linux_os::FakeRoot root_;
};

// A slab of the grid each, and the faces of the neighbours.
TEST_F(Pattern, OfMgEndsLocal) {
  const Result result = run(6, 8, [](std::uint64_t page, int, std::mt19937& random) {
    const bool face = page % (kPages / kNodes) < kPages / kNodes / 20;
    return face && random() % 2 == 0 ? (quarter(page) + kNodes - 1) % kNodes : quarter(page);
  });
  EXPECT_LT(result.local.front(), 0.3);
  EXPECT_GT(result.local[3], 0.9);
  EXPECT_GT(result.local.back(), 0.95);
  EXPECT_LE(result.moved, kPages) << "each page once";
}

// Monitors that see a page once an interval only, as the kernel's hint faults may.
TEST_F(Pattern, OfMgEndsLocalWithOneTouchAnInterval) {
  const Result result = run(12, 1, [](std::uint64_t page, int, std::mt19937&) { return quarter(page); });
  EXPECT_GT(result.local.back(), 0.9);
}

// The matrix by rows each, the vector, a fortieth of the pages, by all.
TEST_F(Pattern, OfCgEndsLocal) {
  const Result result = run(6, 8, [](std::uint64_t page, int, std::mt19937& random) {
    return page % 40 == 0 ? random() % kNodes : quarter(page);
  });
  EXPECT_GT(result.local.back(), 0.9);
}

// Transposes: in every interval every page is another node's.
TEST_F(Pattern, OfFtMovesNoPageMoreThanThriceInThirteenIntervals) {
  const Result result = run(26, 8, [](std::uint64_t page, int interval, std::mt19937&) {
    return (quarter(page) + static_cast<std::size_t>(interval)) % kNodes;
  });
  EXPECT_LE(result.moved, 2 * 3 * kPages);
}

// The same with many transposes in an interval: every page is used by all.
TEST_F(Pattern, OfUniformSharingMovesNothing) {
  const Result result =
      run(20, 16, [](std::uint64_t, int, std::mt19937& random) { return random() % kNodes; });
  EXPECT_LE(result.moved, kPages / 100);
}

TEST_F(Pattern, OfUniformSharingMovesLittleEvenIfLittleIsSeen) {
  const Result result =
      run(20, 1, [](std::uint64_t, int, std::mt19937& random) { return random() % kNodes; });
  EXPECT_LE(result.moved, kPages / 5);
}

TEST_F(Pattern, ThatChangesIsFollowed) {
  const Result result = run(24, 8, [](std::uint64_t page, int interval, std::mt19937&) {
    return interval < 12 ? quarter(page) : kNodes - 1 - quarter(page);
  });
  EXPECT_GT(result.local[11], 0.95);
  EXPECT_LT(result.local[12], 0.1);
  EXPECT_GT(result.local[16], 0.9);
}

// Memory so large that a page in fifty is seen in an interval: most pages move before one touch of theirs
// was.
TEST_F(Pattern, OfLargeMemoryEndsLocalSoonByNeighbours) {
  watched_ = 5'000'000;
  const Toucher slabs = [](std::uint64_t page, int, std::mt19937&) { return quarter(page); };
  const Result with = run(12, 0.02, slabs);
  EXPECT_GT(with.local[4], 0.9);
  EXPECT_LE(with.moved, kPages);
  settings_.neighbours = false;
  EXPECT_LT(run(12, 0.02, slabs).local.back(), 0.4);
}

// Pages that are touched once in ten minutes are not worth a move in the first one.
TEST_F(Pattern, OfLargeMemoryThatIsIdleIsLeftAlone) {
  watched_ = 600'000'000'000;
  EXPECT_EQ(run(12, 0.02, [](std::uint64_t page, int, std::mt19937&) { return quarter(page); }).moved, 0U);
}

// Neighbours that two nodes use in turn, page by page, are no evidence; and none where all use all.
TEST_F(Pattern, OfLargeMemoryThatNodesShareMovesLittle) {
  watched_ = 5'000'000;
  const Result result =
      run(100, 0.02, [](std::uint64_t, int, std::mt19937& random) { return random() % kNodes; });
  EXPECT_LE(result.moved, kPages / 5);
  EXPECT_LE(run(100, 0.02, [](std::uint64_t page, int, std::mt19937&) { return page % kNodes; }).moved,
            kPages);
}

}  // namespace
}  // namespace memgraft::placement
