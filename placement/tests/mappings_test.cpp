#include "memgraft/placement/mappings.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_root.h"

namespace memgraft::placement {
namespace {

constexpr std::uint64_t kHugeBytes = 2UL * 1024 * 1024;

const char* const kSmaps =
    "00400000-00401000 r-xp 00000000 08:01 1234                       /usr/bin/cg\n"
    "Size:                  4 kB\nKernelPageSize:        4 kB\nAnonHugePages:         0 kB\n"
    "7f0000000000-7f0000600000 rw-p 00000000 00:00 0 \n"
    "KernelPageSize:        4 kB\nAnonHugePages:      6144 kB\n"
    "7f0000700000-7f0000c00000 rw-p 00000000 00:00 0                  [heap]\n"
    "KernelPageSize:        4 kB\nAnonHugePages:      2048 kB\n"
    "7f1000000000-7f1000200000 rw-s 00000000 00:0f 77                 /dev/hugepages/a file\n"
    "KernelPageSize:     2048 kB\nAnonHugePages:         0 kB\n"
    "7ffff0000000-7ffff0002000 r--p 00000000 00:00 0                  [vvar]\n"
    "VmFlags: rd mr pf io de dd\n";

TEST(ParsedMappings, HaveTheirBoundsNamesAndPages) {
  const std::vector<Mapping> found = parse_mappings(kSmaps, kHugeBytes);
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found[0].name, "/usr/bin/cg");
  EXPECT_FALSE(found[0].data);
  EXPECT_EQ(found[0].huge, Huge::none);
  EXPECT_EQ(found[1].start, 0x7f0000000000U);
  EXPECT_EQ(found[1].end, 0x7f0000600000U);
  EXPECT_EQ(found[1].name, "[anon]");
  EXPECT_TRUE(found[1].data);
  EXPECT_EQ(found[1].huge, Huge::all);
  EXPECT_EQ(found[2].huge, Huge::some);
  EXPECT_EQ(found[3].page_bytes, kHugeBytes);
  EXPECT_EQ(found[3].name, "/dev/hugepages/a file");
  EXPECT_FALSE(found[4].data);
}

TEST(ParsedMappings, AreNoneOfNonsense) {
  EXPECT_TRUE(parse_mappings("", kHugeBytes).empty());
  EXPECT_TRUE(parse_mappings("AnonHugePages: 4 kB\nxyz\n7f-7e rw-p 0 0 0\n", kHugeBytes).empty());
}

TEST(Mappings, TellWhatMovesTogether) {
  const linux_os::FakeRoot root;
  root.write("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "2097152\n");
  root.write("/proc/7/smaps", kSmaps);
  Mappings mappings(7, root.path());
  EXPECT_EQ(mappings.block_of(0x7f0000212345), (Block{.address = 0x7f0000200000, .pages = 512}));
  EXPECT_EQ(mappings.block_of(0x7f1000012345), (Block{.address = 0x7f1000000000, .pages = 512}))
      << "hugetlbfs";
  EXPECT_EQ(mappings.part_of(0x7f0000212345), (Block{.address = 0x7f0000212000, .pages = 1}));
  EXPECT_EQ(mappings.part_of(0x7f1000012345), (Block{.address = 0x7f1000000000, .pages = 512}));
  EXPECT_EQ(mappings.block_of(0x400abc), (Block{.address = 0x400000, .pages = 1}));
  EXPECT_EQ(mappings.block_of(0x600abc), (Block{.address = 0x600000, .pages = 1})) << "no mapping";
  EXPECT_EQ(mappings.block_of(0x7f0000900000), (Block{.address = 0x7f0000900000, .pages = 1}))
      << "some are huge, nobody tells which";
  EXPECT_EQ(mappings.of(0x600abc), nullptr);
  EXPECT_FALSE(mappings.refresh()) << "nothing changed";
}

// The first page of the region at 0x7f0000800000 is of frame 5, and that of a huge page.
TEST(Mappings, AskTheKernelWhichPagesAreHuge) {
  const linux_os::FakeRoot root;
  root.write("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "2097152\n");
  root.write("/proc/7/smaps", "00000000-00600000 rw-p 00000000 00:00 0 \nAnonHugePages:      2048 kB\n");
  std::vector<std::uint64_t> pagemap(1536, 0);
  pagemap[512] = (std::uint64_t{1} << 63U) | 5U;
  pagemap[1024] = (std::uint64_t{1} << 63U) | 6U;
  std::vector<std::uint64_t> flags(8, 0);
  flags[5] = std::uint64_t{1} << 22U;
  const auto bytes = [](const std::vector<std::uint64_t>& words) {
    return std::string(reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0]);
  };
  root.write("/proc/7/pagemap", bytes(pagemap));
  root.write("/proc/kpageflags", bytes(flags));
  Mappings mappings(7, root.path());
  EXPECT_EQ(mappings.block_of(0x201000).pages, 512U);
  EXPECT_EQ(mappings.block_of(0x401000).pages, 1U);
  EXPECT_EQ(mappings.block_of(0x1000).pages, 1U) << "not there";
}

TEST(Mappings, OfThisProcessAreRead) {
  Mappings mappings(getpid());
  int here = 0;
  const Mapping* const stack = mappings.of(reinterpret_cast<std::uint64_t>(&here));
  ASSERT_NE(stack, nullptr);
  EXPECT_TRUE(stack->data);
}

}  // namespace
}  // namespace memgraft::placement
