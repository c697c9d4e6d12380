// Which memory of a list of mappings may be sampled. The list is written here, as Linux would.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "round.h"
#include "sampler.h"

namespace memgraft::observation {
namespace {

constexpr std::uintptr_t kPage = 4096;
constexpr std::uintptr_t kAt = 0x100000000;

std::string g_text;

ssize_t read_text(int /*file*/, void* to, std::size_t most) {
  const std::size_t bytes = std::min(most, g_text.size());
  std::memcpy(to, g_text.data(), bytes);
  g_text.erase(0, bytes);
  return static_cast<ssize_t>(bytes);
}

// In pages from kAt on, as all numbers in these tests.
struct Line {
  std::uintptr_t begin;
  std::uintptr_t end;
  const char* rights;
  const char* name = "";
};
using Found = std::vector<std::pair<std::uintptr_t, std::uintptr_t>>;

Found found_in(const std::vector<Line>& lines, std::initializer_list<std::uintptr_t> guarded) {
  std::ostringstream text;
  for (const Line& line : lines) {
    text << std::hex << kAt + (line.begin * kPage) << '-' << kAt + (line.end * kPage) << ' ' << line.rights
         << " 00000000 00:00 0 " << line.name << "\n";
  }
  g_text = text.str();
  g_round.snapshot_count = 0;
  for (const std::uintptr_t page : guarded) {
    g_round.snapshot[g_round.snapshot_count++] = kAt + (page * kPage);
  }
  static Shared shared;
  shared.least_mapping_bytes = 256 * kPage;
  const auto read = std::exchange(g_state.read, read_text);
  read_mappings(shared);
  g_state.read = read;
  Found found;
  for (std::size_t i = 0; i < g_round.found_count; ++i) {
    found.emplace_back((g_round.found[i].begin - kAt) / kPage, (g_round.found[i].end - kAt) / kPage);
  }
  return found;
}

TEST(Candidates, GuardedPagesArePartOfTheMemoryAroundThem) {
  EXPECT_EQ(found_in({{0, 100, "rw-p"}, {100, 102, "---p"}, {102, 300, "rw-p"}}, {100, 101}),
            (Found{{0, 300}}));
}

TEST(Candidates, MemoryThatTheProgramMadeInaccessibleIsNot) {
  EXPECT_EQ(found_in({{0, 300, "rw-p"}, {300, 332, "---p"}, {332, 700, "rw-p"}}, {}),
            (Found{{0, 300}, {332, 700}}));
}

TEST(Candidates, GuardedPagesThatLinuxJoinedWithSuchMemoryAreToldApart) {
  EXPECT_EQ(found_in({{0, 299, "rw-p"}, {299, 334, "---p"}, {334, 700, "rw-p"}}, {299, 332, 333}),
            (Found{{0, 300}, {332, 700}}));
}

// Behind up to 16 pages that nobody may access may be a stack, of 2048 pages at most.
TEST(Candidates, AStacksGuardIsKnownAlsoWhereItIsJoined) {
  EXPECT_EQ(found_in({{0, 280, "rw-p"}, {280, 301, "---p"}, {301, 2700, "rw-p"}},
                     {280, 281, 282, 283, 284, 285, 286, 287, 288, 289,
                      290, 291, 292, 293, 294, 295, 296, 297, 298, 299}),
            (Found{{0, 300}, {2349, 2700}}));
  EXPECT_EQ(found_in({{0, 300, "rw-p"}, {300, 302, "---p"}, {302, 2700, "rw-p"}}, {301}),
            (Found{{0, 300}, {2349, 2700}}));
}

std::uint64_t small_pages() { return g_round.small_bytes / kPage; }

TEST(Candidates, MemoryInSmallPiecesIsCounted) {
  EXPECT_EQ(found_in({{0, 256, "rw-p"}, {300, 555, "rw-p"}, {600, 700, "r--p"}, {800, 900, "rwxp"}}, {}),
            (Found{{0, 256}}));
  EXPECT_EQ(small_pages(), 255);
}

TEST(Candidates, MemoryInMorePiecesThanThereArePlacesForIsCounted) {
  std::vector<Line> lines;
  for (std::uintptr_t piece = 0; piece < kMostCandidates + 2; ++piece) {
    lines.push_back({piece * 1000, (piece * 1000) + 300, "rw-p"});
  }
  EXPECT_EQ(found_in(lines, {}).size(), kMostCandidates);
  EXPECT_EQ(small_pages(), 2 * 300);
}

TEST(Candidates, MallocsMemoryIsCounted) {
  constexpr std::uintptr_t kArena = (64U << 20U) / kPage;
  EXPECT_EQ(found_in({{0, 1000, "rw-p", "[heap]"},
                      {2000, 2010, "r--p", "[heap]"},
                      {kArena - 300, kArena + 500, "rw-p"},
                      {kArena + 500, 2 * kArena, "---p"},
                      {2 * kArena, 2 * kArena + 20, "rw-p"},
                      {2 * kArena + 20, 3 * kArena, "---p"}},
                     {}),
            (Found{{kArena - 300, kArena}}));
  EXPECT_EQ(small_pages(), 1000 + 500 + 20);
}

// Behind few pages that nobody may access, as behind an arena that is nearly full.
TEST(Candidates, AnArenaIsNotTakenForAStack) {
  constexpr std::uintptr_t kArena = (64U << 20U) / kPage;
  EXPECT_EQ(
      found_in(
          {{kArena - 4, kArena, "---p"}, {kArena, kArena + 500, "rw-p"}, {kArena + 500, 2 * kArena, "---p"}},
          {}),
      Found{});
  EXPECT_EQ(g_round.left_out_bytes, 0U);
  EXPECT_EQ(small_pages(), 500);
}

TEST(Candidates, AMappingMayGrowWhileTheyAreRead) {
  // The page 16 was guarded, and was touched when the line before it had been read.
  EXPECT_EQ(found_in({{0, 8, "rw-p"}, {8, 9, "---p"}, {9, 16, "rw-p"}, {9, 500, "rw-p"}}, {8, 16}),
            (Found{{0, 500}}));
}

}  // namespace
}  // namespace memgraft::observation
