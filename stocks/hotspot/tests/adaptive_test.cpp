#include "zeroing/adaptive.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace memgraft::hotspot {
namespace {

using enum ZeroingStrategy;

constexpr std::uint64_t kEpochBytes = std::uint64_t{64} << 20U;
constexpr double kBusyProgram = 2.0;  // threads that run

// A program that runs as long as asked, on which each strategy costs what `cost` says (CPU seconds per
// epoch).
class Program {
 public:
  Program(Adaptive& adaptive, std::function<double(ZeroingStrategy, std::uint64_t)> cost)
      : adaptive_(adaptive), cost_(std::move(cost)) {}

  double running = kBusyProgram;
  double cpus = 2;
  double idle = 2;
  double helper_seconds = 0.02;

  Adaptive::Decision run(std::uint64_t collections) {
    Adaptive::Decision decision;
    for (std::uint64_t i = 0; i < collections; ++i) {
      decision = adaptive_.decide(measured_, {.usable = cpus, .idle = idle});
      ++chosen[decision.strategy];
      const double cpu = cost_(decision.strategy, decision.collection);
      measured_ = {.collection = decision.collection,
                   .strategy = decision.strategy,
                   .wall_seconds = cpu / running,
                   .process_cpu_seconds = cpu,
                   .program_cpu_seconds = cpu,
                   .helper_cpu_seconds = decision.strategy == concurrent ? helper_seconds : 0,
                   .zeroing_seconds = cpu / 20,
                   .zeroed_bytes = kEpochBytes,
                   .allocated_bytes = kEpochBytes};
    }
    return decision;
  }

  std::map<ZeroingStrategy, std::uint64_t> chosen;

 private:
  Adaptive& adaptive_;
  std::function<double(ZeroingStrategy, std::uint64_t)> cost_;
  EpochMeasured measured_;
};

double flat(ZeroingStrategy /*strategy*/, std::uint64_t /*collection*/) { return 0.1; }

TEST(Adaptive, TakesTheFirstStrategyWhileNothingIsKnown) {
  Adaptive adaptive({windows, bulk}, true);
  EXPECT_EQ(adaptive.decide({}, {.usable = 8, .idle = 8}).strategy, windows);
}

TEST(Adaptive, SettlesOnWhatCostsLeastPerAllocatedByte) {
  for (const ZeroingStrategy best : {windows, bulk, non_temporal}) {
    Adaptive adaptive({windows, bulk, non_temporal}, true);
    Program program(
        adaptive, [best](ZeroingStrategy strategy, std::uint64_t) { return strategy == best ? 0.097 : 0.1; });
    constexpr std::uint64_t kCollections = 320;
    (void)program.run(kCollections);
    EXPECT_GT(program.chosen[best], kCollections * 7 / 8) << name_of(best);
    program.chosen.clear();
    (void)program.run(kCollections);
    // All but one epoch in sixteen.
    EXPECT_GT(program.chosen[best], kCollections * 9 / 10) << name_of(best);
    EXPECT_EQ(program.chosen[concurrent], 0U) << "no CPU is idle";
  }
}

TEST(Adaptive, TriesAStrategyThatIsFarWorseOnlyOnce) {
  Adaptive adaptive({bulk, windows, non_temporal}, false);
  Program program(adaptive,
                  [](ZeroingStrategy strategy, std::uint64_t) { return strategy == bulk ? 0.1 : 0.12; });
  (void)program.run(30);  // before anything is tried again
  EXPECT_EQ(program.chosen[windows], 1U);
  EXPECT_EQ(program.chosen[non_temporal], 1U);
}

TEST(Adaptive, ComparesStrategiesThatAreCloseThreeTimes) {
  Adaptive adaptive({bulk, windows, non_temporal}, false);
  Program program(adaptive,
                  [](ZeroingStrategy strategy, std::uint64_t) { return strategy == bulk ? 0.1 : 0.103; });
  (void)program.run(30);
  EXPECT_EQ(program.chosen[windows], 3U);
  EXPECT_EQ(program.chosen[non_temporal], 3U);
}

TEST(Adaptive, IsNotMisledByAProgramThatWarmsUp) {
  // Each epoch costs a twentieth less than the one before: whatever comes later looks better.
  const auto warming = [](ZeroingStrategy best) {
    return [best](ZeroingStrategy strategy, std::uint64_t collection) {
      return (strategy == best ? 1.0 : 1.04) * std::pow(0.95, static_cast<double>(collection));
    };
  };
  for (const ZeroingStrategy best : {bulk, windows, non_temporal}) {
    Adaptive adaptive({bulk, windows, non_temporal}, false);
    Program program(adaptive, warming(best));
    (void)program.run(40);
    program.chosen.clear();
    (void)program.run(10);
    EXPECT_GE(program.chosen[best], 6U) << name_of(best);
  }
}

TEST(Adaptive, DoesNotCompareAcrossTheHelpersEpochs) {
  Adaptive adaptive({bulk, windows}, true);
  Program program(adaptive,
                  [](ZeroingStrategy strategy, std::uint64_t) { return strategy == windows ? 0.05 : 0.1; });
  for (int i = 0; i < 10; ++i) {
    // The trial is better each time, but a CPU falls idle in it: what comes next is not the incumbent's.
    EXPECT_EQ(program.run(2).strategy, bulk);
    program.running = 1.0;
    EXPECT_EQ(program.run(1).strategy, windows);
    program.running = kBusyProgram;
    EXPECT_EQ(program.run(1).strategy, concurrent);
  }
}

TEST(Adaptive, TriesNothingWhileAProgramWarmsUp) {
  Adaptive adaptive({bulk, windows}, false);
  Program program(adaptive, [](ZeroingStrategy, std::uint64_t collection) {
    return 1 / static_cast<double>(collection * collection);  // falls by less than a tenth from the 20th on
  });
  (void)program.run(19);
  EXPECT_EQ(program.chosen[windows], 0U);
  (void)program.run(20);
  EXPECT_GT(program.chosen[windows], 0U);
}

TEST(Adaptive, KeepsWhatIsInUseWhereTrialsContradictEachOther) {
  Adaptive adaptive({bulk, windows}, false);
  Program program(adaptive, [](ZeroingStrategy strategy, std::uint64_t collection) {
    return strategy == bulk ? 0.1 : 0.1 * (collection % 2 == 0 ? 0.86 : 1.045);
  });
  (void)program.run(64);
  EXPECT_LT(program.chosen[windows], 24U);
}

TEST(Adaptive, FollowsAProgramThatChanges) {
  Adaptive adaptive({windows, bulk}, false);
  Program program(adaptive, [](ZeroingStrategy strategy, std::uint64_t collection) {
    return (strategy == windows) == (collection < 500) ? 0.1 : 0.12;
  });
  (void)program.run(499);
  EXPECT_GT(program.chosen[windows], 450U);
  program.chosen.clear();
  (void)program.run(1'000);
  EXPECT_GT(program.chosen[bulk], 700U);
}

TEST(Adaptive, IsNotMovedByOneOddEpoch) {
  Adaptive adaptive({windows, bulk}, false);
  Program program(adaptive, [](ZeroingStrategy strategy, std::uint64_t collection) {
    const double usual = strategy == windows ? 0.1 : 0.11;
    return collection % 7 == 0 ? 10 * usual : usual;
  });
  (void)program.run(320);
  EXPECT_GT(program.chosen[windows], 280U);
}

TEST(Adaptive, UsesTheHelperWhereACpuIsIdle) {
  Adaptive adaptive({windows, bulk}, true);
  Program program(adaptive, flat);
  program.running = 1.05;
  const Adaptive::Decision decision = program.run(10);
  EXPECT_EQ(decision.strategy, concurrent);
  EXPECT_EQ(decision.reason, "a CPU is idle");
  EXPECT_NEAR(decision.running_threads, 1.05, 0.001);
  EXPECT_EQ(decision.cpus, 2);
}

TEST(Adaptive, LeavesTheHelperWhenAControlGroupTakesTheCpuAway) {
  Adaptive adaptive({windows, bulk}, true);
  Program program(adaptive, flat);
  program.running = 1.0;
  EXPECT_EQ(program.run(5).strategy, concurrent);
  program.cpus = 1.0;
  const Adaptive::Decision decision = program.run(2);
  EXPECT_NE(decision.strategy, concurrent);
  EXPECT_NE(decision.reason.find("no CPU is idle"), std::string::npos) << decision.reason;
}

TEST(Adaptive, LeavesTheHelperWhenOtherProgramsTakeTheCpuAway) {
  Adaptive adaptive({windows, bulk}, true);
  Program program(adaptive, flat);
  program.running = 1.0;
  program.idle = 1.0;
  EXPECT_EQ(program.run(5).strategy, concurrent);
  program.idle = 0.1;
  const Adaptive::Decision decision = program.run(2);
  EXPECT_NE(decision.strategy, concurrent);
  EXPECT_NE(decision.reason.find("other programs leave no CPU idle"), std::string::npos) << decision.reason;
  EXPECT_NEAR(decision.idle_cpus, 0.1, 0.001);
}

TEST(Adaptive, TakesWhatTheHelperUsesForIdle) {
  Adaptive adaptive({windows, bulk}, true);
  Program program(adaptive, flat);
  program.running = 1.0;
  program.idle = 1.0;
  EXPECT_EQ(program.run(5).strategy, concurrent);
  program.idle = 0.6;  // the rest is the helper's: 0.02 s of 0.1 s
  EXPECT_EQ(program.run(20).strategy, concurrent);
}

TEST(Adaptive, LeavesTheHelperWhenTheProgramAllocatesFaster) {
  Adaptive adaptive({windows, bulk}, true);
  Program program(adaptive, flat);
  program.running = 1.0;
  program.helper_seconds = 0.2;  // for what the program allocates in 0.1 s
  (void)program.run(2);
  const Adaptive::Decision decision = program.run(10);
  EXPECT_NE(decision.strategy, concurrent);
  EXPECT_NE(decision.reason.find("allocates faster"), std::string::npos) << decision.reason;
}

TEST(Adaptive, NeverUsesAHelperThatItMayNot) {
  Adaptive adaptive({windows, bulk}, false);
  Program program(adaptive, flat);
  program.running = 0.1;
  (void)program.run(50);
  EXPECT_EQ(program.chosen[concurrent], 0U);
}

TEST(Adaptive, LearnsNothingBeforeTheFirstCollection) {
  Adaptive adaptive({bulk, windows}, false);
  const auto epoch = [&](std::uint64_t collection) {
    return adaptive.decide({.collection = collection,
                            .strategy = bulk,
                            .wall_seconds = 0.1,
                            .process_cpu_seconds = 0.1,
                            .program_cpu_seconds = 0.1,
                            .allocated_bytes = kEpochBytes},
                           {.usable = 1, .idle = 1});
  };
  EXPECT_EQ(epoch(0).strategy, bulk);
  // Memory was zero anyway before, so that this is the first epoch to compare with.
  EXPECT_EQ(epoch(1).strategy, bulk);
  EXPECT_EQ(epoch(2).strategy, windows);
}

TEST(Adaptive, LearnsNothingFromShortEpochs) {
  Adaptive adaptive({windows, bulk}, true);
  for (std::uint64_t i = 0; i < 20; ++i) {
    // Collections asked for one after the other: nothing was allocated between them.
    const auto decision = adaptive.decide({.collection = i, .strategy = windows, .wall_seconds = 1e-4},
                                          {.usable = 8, .idle = 8});
    EXPECT_EQ(decision.strategy, windows);
    EXPECT_EQ(decision.reason, "in use, and its cost is not steady");
  }
}

}  // namespace
}  // namespace memgraft::hotspot
