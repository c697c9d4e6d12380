// Many threads, many generations: memory that was handed out is all zero at first, and then whatever its
// owner wrote, until the next collection. "World stopped" is everybody at a barrier.
#include <barrier>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <vector>

#include "nursery.h"

namespace memgraft::zeroing::testing {
namespace {

struct Piece {
  std::span<std::byte> memory;
  std::byte mark{};
};

struct Shape {
  bool may_steal;
  std::size_t threads;
  std::size_t block_bytes;
  std::size_t largest_piece;
};

class Stress : public ::testing::TestWithParam<Shape> {};

INSTANTIATE_TEST_SUITE_P(
    Helper, Stress,
    ::testing::Values(Shape{true, 3, 4 * kKiB, 20 * kKiB}, Shape{true, 4, 64 * kKiB, 48 * kKiB},
                      Shape{true, 2, 64 * kKiB, kMiB}, Shape{true, 2, kMiB, 16 * kKiB},
                      Shape{false, 3, 4 * kKiB, 20 * kKiB}, Shape{false, 4, 64 * kKiB, 48 * kKiB},
                      Shape{false, 2, 64 * kKiB, kMiB}, Shape{false, 2, kMiB, 16 * kKiB}),
    [](const auto& test) {
      return std::string(test.param.may_steal ? "Stealing" : "Waiting") + std::to_string(test.param.threads) +
             "Threads" + std::to_string(test.param.block_bytes / kKiB) + "KiBBlocks" +
             std::to_string(test.param.largest_piece / kKiB) + "KiBPieces";
    });

struct Playground {
  const Shape& shape;
  ZeroingAhead& ahead;
  Nursery& nursery;
  std::uint64_t zeroed_before = 0;  // by the helper, in earlier generations
  std::size_t rounds = 0;           // pieces that each thread takes before the next collection

  // The chunk that the helper is about to zero, or near it: where threads meet it most.
  [[nodiscard]] std::size_t at_helper() const {
    const std::uint64_t zeroed = ahead.counts().zeroed_ahead.count() - zeroed_before;
    return std::min(static_cast<std::size_t>(zeroed) / Nursery::kChunkBytes, nursery.chunks() - 1);
  }
};

// One allocating thread's part of one generation.
struct Allocator {
  Random random;
  std::vector<Piece> pieces;
  std::string wrong;

  void allocate(Playground& ground) {
    pieces.clear();
    for (std::size_t round = 0; round < ground.rounds; ++round) {
      const std::size_t chunk =
          random.below(3) == 0 ? random.below(ground.nursery.chunks()) : ground.at_helper();
      const Piece piece{.memory = ground.nursery.next(chunk, 1 + random.below(ground.shape.largest_piece)),
                        .mark = static_cast<std::byte>(1 + random.below(200))};
      if (random.below(8) == 0) {
        ground.ahead.exclude(piece.memory.data(), piece.memory.size());
      } else {
        ground.ahead.take(piece.memory.data(), piece.memory.size());
        note(piece, std::byte{0}, "not zero when taken");
      }
      fill(piece.memory, piece.mark);
      pieces.push_back(piece);
    }
  }

  void verify() {
    for (const Piece& piece : pieces) {
      note(piece, piece.mark, "overwritten after it was handed out");
    }
  }

 private:
  void note(const Piece& piece, std::byte expected, const char* what) {
    if (wrong.empty() && !holds(piece.memory, expected)) {
      const auto found = std::ranges::find_if(piece.memory, [&](std::byte byte) { return byte != expected; });
      wrong = std::string(what) + ": byte " + std::to_string(found - piece.memory.begin()) + " of " +
              std::to_string(piece.memory.size()) + " is " + std::to_string(std::to_integer<int>(*found)) +
              ", expected " + std::to_string(std::to_integer<int>(expected));
    }
  }
};

class World {
 public:
  explicit World(Playground& ground)
      : ground_(ground), barrier_(static_cast<std::ptrdiff_t>(ground.shape.threads + 1)) {
    for (std::size_t i = 0; i < ground.shape.threads; ++i) {
      allocators_.push_back({.random = Random(100 + i), .pieces = {}, .wrong = {}});
    }
    for (Allocator& allocator : allocators_) {
      threads_.emplace_back([this, &allocator] { run(allocator); });
    }
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  World(World&&) = delete;
  World& operator=(World&&) = delete;
  ~World() {
    over_ = true;
    barrier_.arrive_and_wait();
  }

  // One generation; what was wrong in it, or nothing.
  std::string live(Random& random) {
    Nursery& nursery = ground_.nursery;
    nursery.soil();
    nursery.free_all();
    ground_.zeroed_before = ground_.ahead.counts().zeroed_ahead.count();
    ground_.ahead.open(nursery.memory().subspan(random.below(nursery.memory().size() / 4)));
    ground_.rounds =
        random.below(3) == 0 ? random.below(3) : 400;  // of few, the helper sees the end in a block
    if (random.below(2) == 0) {                        // a head start
      std::this_thread::sleep_for(std::chrono::microseconds(random.below(100)));
    }
    barrier_.arrive_and_wait();  // opened
    barrier_.arrive_and_wait();  // stopped
    ground_.ahead.close();
    barrier_.arrive_and_wait();  // closed
    barrier_.arrive_and_wait();  // verified
    for (const Allocator& allocator : allocators_) {
      if (!allocator.wrong.empty()) {
        return allocator.wrong;
      }
    }
    nursery.soil();
    std::this_thread::yield();
    return holds(nursery.memory(), kDirt) ? "" : "the helper wrote after close()";
  }

 private:
  void run(Allocator& allocator) {
    while (true) {
      barrier_.arrive_and_wait();  // opened
      if (over_) {
        return;
      }
      allocator.allocate(ground_);
      barrier_.arrive_and_wait();  // stopped
      barrier_.arrive_and_wait();  // closed
      allocator.verify();
      barrier_.arrive_and_wait();  // verified
    }
  }

  Playground& ground_;
  std::barrier<> barrier_;
  bool over_ = false;
  std::vector<Allocator> allocators_;
  std::vector<std::jthread> threads_;  // last: ended first
};

TEST_P(Stress, NobodyWritesToMemoryThatWasHandedOut) {
  // Whether a thread meets the helper in a block is luck. The gate asks for none of it, because the tests of
  // a frozen helper bring every meeting about; the deep tests live long enough to see some.
  Rounds generations(40, 20'000);
  const Shape shape = GetParam();
  Nursery nursery(4 * kMiB);  // outlives the helper
  ZeroingAhead ahead(settings(shape.may_steal, shape.block_bytes));
  std::string reason;
  ASSERT_TRUE(ahead.start(reason)) << reason;
  Playground ground{.shape = shape, .ahead = ahead, .nursery = nursery};
  Random random(1);
  {
    World world(ground);
    while (generations.next()) {
      const std::string wrong = world.live(random);
      ASSERT_EQ(wrong, "") << "in generation " << generations.count();
    }
  }
  const int lived = generations.count();
  const auto counts = ahead.counts();
  if (is_deep()) {
    EXPECT_GT(counts.zeroed_ahead, Bytes(0));
    EXPECT_GT(counts.steals + counts.waits + counts.closes_in_block, 0U) << "in " << lived << " generations";
  }
  EXPECT_EQ(counts.closes, static_cast<std::uint64_t>(lived));
  std::cout << lived << " generations: zeroed ahead " << counts.zeroed_ahead.count() / kKiB
            << " KiB, taken ready " << counts.taken_ready.count() / kKiB << " KiB, zeroed now "
            << counts.zeroed_now.count() / kKiB << " KiB, overtaken " << counts.overtaken << ", steals "
            << counts.steals << " in " << counts.steal_time.count() << " ns, waits " << counts.waits << " in "
            << counts.wait_time.count() << " ns, closed in a block " << counts.closes_in_block
            << ", longest close " << counts.longest_close.count() << " ns\n";
}

// Where the helper writes at this moment: within one piece of its block, further stores follow unless it is
// made to leave its sequence. Nothing but membarrier(2) does that to a thread that runs.
TEST(Stolen, FromAHelperThatIsWritingThere) {
  constexpr std::size_t kPieceBytes = 4 * kKiB;
  const Nursery nursery(4 * kMiB);  // outlives the helper
  ZeroingAhead ahead(settings(true, 4 * kMiB));
  std::string reason;
  ASSERT_TRUE(ahead.start(reason)) << reason;
  if (!ahead.can_steal(reason)) {
    GTEST_SKIP() << "SKIPPED: blocks cannot be taken from a running helper here: " << reason;
  }
  const std::span<std::byte> end_of_piece = nursery.memory().subspan(kMiB + kPieceBytes - 64, 64);
  const std::atomic_ref<std::byte> begin_of_piece(nursery.memory()[kMiB]);
  Rounds rounds(100, 5'000);
  while (rounds.next()) {
    nursery.soil();
    ahead.open(nursery.memory());
    for (int look = 0; look < 10'000'000 && begin_of_piece.load(std::memory_order_relaxed) == kDirt; ++look) {
    }
    ahead.take(end_of_piece.data(), end_of_piece.size());
    fill(end_of_piece, std::byte{9});
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    ASSERT_TRUE(holds(end_of_piece, std::byte{9})) << "in round " << rounds.count();
    ahead.close();
  }
  if (is_deep()) {
    EXPECT_GT(ahead.counts().steals, 0U)
        << "in " << rounds.count() << " rounds: do the two threads have a CPU each?";
  }
}

}  // namespace
}  // namespace memgraft::zeroing::testing
