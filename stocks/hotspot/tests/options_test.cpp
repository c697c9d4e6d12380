#include "buffers/options.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent_options.h"
#include "join/refusal.h"
#include "ordering/options.h"
#include "zeroing/options.h"

namespace memgraft::hotspot {
namespace {

// The agent's, and those of the grafts that are asked for.
struct Options : AgentOptions {
  std::optional<ZeroingOptions> zeroing;
  std::optional<BufferOptions> buffers;
  std::optional<OrderingOptions> ordering;
};

Options parse_options(std::string_view text) {
  ZeroingWords zeroing;
  BufferWords buffers(&zeroing);
  OrderingWords ordering;
  const std::array<GraftOptions*, 3> of_grafts{&zeroing, &buffers, &ordering};
  const AgentOptions of_agent = parse_options(text, of_grafts);
  Options options{of_agent, {}, {}, {}};
  if (zeroing.asked()) {
    options.zeroing = zeroing.options();
  }
  if (buffers.asked()) {
    options.buffers = buffers.options();
  }
  if (ordering.asked()) {
    options.ordering = ordering.options();
  }
  return options;
}

TEST(Options, AreReadInAnyOrder) {
  const Options options = parse_options("summary=/,zeroing=non-temporal");
  EXPECT_EQ(options.zeroing->strategy, ZeroingStrategy::non_temporal);
  EXPECT_EQ(options.summary_folder, "/");
  EXPECT_FALSE(options.check);
  EXPECT_EQ(parse_options("zeroing=bulk").zeroing->strategy, ZeroingStrategy::bulk);
  EXPECT_TRUE(parse_options("check,summary=/").check);
  EXPECT_TRUE(parse_options("zeroing=bulk,counters").counters);
  EXPECT_FALSE(parse_options("zeroing=bulk,summary=/").live);
  EXPECT_TRUE(parse_options("zeroing=bulk,live,summary=/").live);
}

TEST(Options, DecodeCommasAndPercentSignsInFolders) {
  const auto folder = std::filesystem::temp_directory_path() / "memgraft, 100% odd=name";
  std::filesystem::create_directory(folder);
  const std::string parent = folder.parent_path();
  const Options options = parse_options("zeroing=bulk,summary=" + parent + "/memgraft%2C 100%25 odd=name");
  EXPECT_EQ(options.summary_folder, folder);
  std::filesystem::remove(folder);
}

TEST(Options, NumaEdenBelongsToBuffers) {
  EXPECT_TRUE(parse_options("numa-eden,buffers=none").buffers->numa_eden);
  EXPECT_TRUE(parse_options("buffers=cpu:4096+node:8192,numa-eden").buffers->numa_eden);
  EXPECT_FALSE(parse_options("buffers=node:8192").buffers->numa_eden);
  EXPECT_THROW(parse_options("numa-eden"), Refusal);
  EXPECT_THROW(parse_options("zeroing=bulk,numa-eden"), Refusal);
  EXPECT_THROW(parse_options("buffers=none,numa-eden=1"), Refusal);
}

TEST(Options, ObjectsAreHandedOutByBuffersAloneAndOfGivenSizes) {
  EXPECT_TRUE(parse_options("objects,buffers=none").buffers->objects);
  EXPECT_TRUE(parse_options("buffers=cpu:4096,take=atomic,objects").buffers->objects);
  EXPECT_FALSE(parse_options("buffers=cpu:4096").buffers->objects);
  EXPECT_THROW(parse_options("objects"), Refusal);
  EXPECT_THROW(parse_options("buffers=auto,objects"), Refusal);
  EXPECT_THROW(parse_options("zeroing=bulk,buffers=cpu:4096,objects"), Refusal);
}

TEST(Options, OfZeroingBelongTogether) {
  const Options options = parse_options("window=65536,against=bulk,zeroing=windows");
  EXPECT_EQ(options.zeroing->strategy, ZeroingStrategy::windows);
  EXPECT_EQ(options.zeroing->against, ZeroingStrategy::bulk);
  EXPECT_EQ(options.zeroing->window_bytes, 65'536U);
  EXPECT_EQ(parse_options("zeroing=windows").zeroing->window_bytes, 32'768U);
  EXPECT_EQ(parse_options("zeroing=mixed,window=4096").zeroing->window_bytes, 4'096U);
  for (const StrategyName& strategy : kStrategyNames) {
    EXPECT_EQ(parse_options("zeroing=" + std::string(strategy.name)).zeroing->strategy, strategy.strategy);
  }
}

TEST(Options, OfBuffersAreReadInAnyOrder) {
  const BufferOptions buffers =
      *parse_options("zero-at=refill,take=atomic,buffers=cpu:4096+node:8192,zeroing=bulk").buffers;
  EXPECT_EQ(buffers.levels,
            (std::vector<allocation::Level>{{.kind = allocation::Kind::cpu, .words = 512_words},
                                            {.kind = allocation::Kind::node, .words = 1024_words}}));
  EXPECT_EQ(buffers.take, BufferOptions::Take::atomic);
  EXPECT_TRUE(buffers.zero_at_refill);
  EXPECT_FALSE(buffers.automatic);
  EXPECT_TRUE(parse_options("buffers=auto").buffers->automatic);
  EXPECT_EQ(parse_options("buffers=cpu:17179869184").buffers->levels.front().words,
            Words(std::uint64_t{1} << 31U));
  EXPECT_TRUE(parse_options("buffers=none,zero-at=tlab").buffers->levels.empty());
}

TEST(Options, OfOrderingBelongTogether) {
  const OrderingOptions sc = *parse_options("ordering=sc").ordering;
  EXPECT_EQ(sc.placement, "sc");
  EXPECT_TRUE(sc.savings.private_objects && sc.savings.final_loads && sc.savings.last_fences);
  EXPECT_FALSE(sc.savings.all_fences);
  EXPECT_EQ(parse_options("ordering=sc-seed").ordering->savings, OrderingOptions::Savings());
  EXPECT_TRUE(parse_options("ordering=no-fences").ordering->savings.all_fences);
  EXPECT_TRUE(sc.accesses);
  EXPECT_FALSE(parse_options("ordering=switches").ordering->accesses);
  EXPECT_TRUE(parse_options("check-order,ordering=sc").ordering->check);
  EXPECT_FALSE(parse_options("ordering=sc").ordering->check);
  const auto file = std::filesystem::temp_directory_path() / "memgraft relaxed, 100%";
  std::ofstream(file) << "a.B\n";
  const std::string folder = file.parent_path();
  EXPECT_EQ(parse_options("relaxed=" + folder + "/memgraft relaxed%2C 100%25,ordering=sc").ordering->relaxed,
            file);
  std::filesystem::remove(file);
  const Options both = parse_options("ordering=sc,zeroing=bulk");
  EXPECT_TRUE(both.ordering && both.zeroing);
}

class WrongOptions : public testing::TestWithParam<const char*> {};

TEST_P(WrongOptions, AreRefusedInOneLineAsWrongUsage) {
  try {
    (void)parse_options(GetParam());
    FAIL() << "accepted: " << GetParam();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.exit_code(), kExitWrongUsage);
    const std::string message = refusal.what();
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_NE(message.find("wrong agent option"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongOptions,
    testing::Values(
        "", "zeroing", "zeroing=", "zeroing=bukl", "zeroing=hot-path", "Zeroing=bulk", "zeroing=bulk,",
        "zeroing=bulk,,check", "check", "check=1,summary=/", "summary=/", "zeroing=bulk,live",
        "zeroing=bulk,live=1,summary=/", "zeroing=bulk,summary=", "zeroing=bulk,summary=/no/such/folder",
        "zeroing=bulk,summary=/%", "zeroing=bulk,summary=/%2", "window=4096", "against=bulk",
        "zeroing=bulk,window=4096", "zeroing=windows,window=5000", "zeroing=windows,window=2048",
        "zeroing=windows,window=2097152", "zeroing=windows,window=4096k", "counters",
        "counters=1,zeroing=bulk", "zeroing=bulk,against=bulk", "zeroing=bulk,against=adaptive",
        "zeroing=adaptive,against=bulk", "zeroing=bulk,against=hot-path", "zeroing=bulk,table=/no/such/file",
        "zeroing=bulk,summary=/%zz", "zeroing=bulk,summary=/%00", "ordering", "ordering=", "ordering=stock",
        "ordering=SC", "check-order", "ordering=sc,check-order=1",
        "ordering=sc,relaxed=", "ordering=sc,relaxed=/no/such/file", "zeroing=bulk,check-order", "buffers",
        "buffers=", "buffers=core", "buffers=core:", "buffers=core:12", "buffers=core:0",
        "buffers=cores:4096", "buffers=core:4096+cpu:8192", "buffers=cpu:4096+cpu:8192",
        "buffers=cpu:4096+core:6144", "buffers=cpu:4096+core:4096", "buffers=cpu:17179869192",
        "buffers=cpu:34359738368", "buffers=cpu:4096+", "take=atomic", "zero-at=tlab",
        "buffers=none,take=maybe", "zeroing=bulk,take=atomic", "buffers=cpu:4096,zero-at=refill",
        "zeroing=bulk,buffers=none,zero-at=refill", "zeroing=windows,buffers=cpu:4096,zero-at=refill",
        "zeroing=mixed,buffers=cpu:4096,zero-at=refill", "zeroing=adaptive,buffers=cpu:4096,zero-at=refill",
        "zeroing=bulk,buffers=auto,zero-at=later"));

}  // namespace
}  // namespace memgraft::hotspot
