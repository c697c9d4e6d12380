#include "ordering/c2_fences.h"

#include <gtest/gtest.h>

#include "c2_graphs.h"

namespace memgraft::hotspot::c2 {
namespace {

class Fences : public testing::Test {
 protected:
  [[nodiscard]] Behind behind(const Node* fence) const { return LastFences(graph_).behind(fence); }
  [[nodiscard]] bool is_needed(const Node* fence) const { return behind(fence) != Behind::nothing; }

  // A barrier and the control behind it.
  struct Passed {
    Node* barrier;
    Node* control;
  };
  Passed pass(Kind kind, Node* control, Node* access = nullptr) {
    Node* const barrier = g_.barrier(kind, control, access);
    return {.barrier = barrier, .control = g_.control_of(barrier)};
  }
  static std::size_t number(const Joined& joined, Behind behind) {
    return joined.fences.at(static_cast<std::size_t>(behind));
  }
  Passed fence(Node* control) { return pass(Kind::fence, control, g_.store(control, object_, nullptr)); }
  Passed load(Node* control) { return pass(Kind::acquire, control, g_.load(control, object_)); }
  struct Ways {
    Node* one;
    Node* other;
  };
  Ways branch(Node* control) {
    Node* const branch = g_.add(Kind::branch, {control});
    return {.one = g_.add(Kind::way, {branch}), .other = g_.add(Kind::way, {branch})};
  }
  void trap(Node* control) { g_.add(Kind::halt, {g_.control_of(g_.call(control, {}))}); }
  void leave(Node* control) { g_.add(Kind::exit, {control}); }

  Graph graph_ = graph_of_kinds();
  Graphs g_;
  Node* start_ = g_.start();
  Node* entry_ = g_.control_of(start_);
  Node* object_ = g_.add(Kind::parameter, {start_}, kFirstParameter);
  Passed first_ = fence(entry_);
};

TEST_F(Fences, AreNeededBeforeLoads) {
  load(first_.control);
  EXPECT_EQ(behind(first_.barrier), Behind::load);
}

TEST_F(Fences, AreNeededBeforeTheMethodEnds) {
  leave(first_.control);
  EXPECT_EQ(behind(first_.barrier), Behind::end);
}

TEST_F(Fences, AreNeededBeforeCalls) {
  leave(g_.control_of(g_.call(first_.control, {})));
  EXPECT_EQ(behind(first_.barrier), Behind::call);
}

TEST_F(Fences, AreNotNeededForAPoll) {
  leave(fence(g_.add(Kind::poll, {first_.control})).control);
  EXPECT_FALSE(is_needed(first_.barrier));
}

TEST_F(Fences, AreNeededForWhatIsBehindAPoll) {
  leave(load(g_.add(Kind::poll, {first_.control})).control);
  EXPECT_EQ(behind(first_.barrier), Behind::load);
}

TEST_F(Fences, AreNeededForTheLoadOfSeveralThings) {
  const Ways ways = branch(first_.control);
  load(ways.one);
  leave(ways.other);
  EXPECT_EQ(behind(first_.barrier), Behind::load);
}

TEST_F(Fences, AreNotNeededBeforeAnother) {
  const Passed release = pass(Kind::barrier, first_.control);
  const Passed second = fence(release.control);
  load(second.control);
  EXPECT_FALSE(is_needed(first_.barrier));
  EXPECT_TRUE(is_needed(second.barrier));
}

TEST_F(Fences, AreNeededIfALoadComesBeforeTheOther) {
  leave(fence(load(first_.control).control).control);
  EXPECT_TRUE(is_needed(first_.barrier));
}

TEST_F(Fences, AreNotNeededBeforeACompareAndSwap) {
  const Passed release = pass(Kind::barrier, first_.control);
  Node* const swap = g_.add(Kind::load_store, {release.control, nullptr, nullptr});
  leave(pass(Kind::acquire, release.control, swap).control);
  EXPECT_FALSE(is_needed(first_.barrier));
}

TEST_F(Fences, AreNotNeededIfAnotherIsOnEveryWay) {
  const Ways ways = branch(first_.control);
  leave(fence(ways.one).control);
  leave(fence(ways.other).control);
  EXPECT_FALSE(is_needed(first_.barrier));
}

TEST_F(Fences, AreNeededIfAnotherIsOnOneWayOnly) {
  const Ways ways = branch(first_.control);
  Node* const merged = g_.add(Kind::region, {nullptr, fence(ways.one).control, ways.other});
  leave(merged);
  EXPECT_TRUE(is_needed(first_.barrier));
}

TEST_F(Fences, AreNotNeededIfOnlyATrapComesInBetween) {
  const Ways ways = branch(first_.control);  // an index within its array's bounds, or not
  trap(ways.other);
  leave(fence(ways.one).control);
  EXPECT_FALSE(is_needed(first_.barrier));
}

TEST_F(Fences, AreNotNeededBehindAMergeThatLeadsToAnother) {
  const Ways ways = branch(first_.control);
  Node* const merged = g_.add(Kind::region, {nullptr, ways.one, ways.other});
  leave(fence(merged).control);
  EXPECT_FALSE(is_needed(first_.barrier));
}

TEST_F(Fences, OfALoopAreNeededWhereItIsLeft) {
  Node* const head = g_.add(Kind::region, {nullptr, first_.control, nullptr});
  const Passed within = fence(head);
  const Ways ways = branch(within.control);
  g_.connect(head, 2, ways.one);
  leave(ways.other);
  EXPECT_FALSE(is_needed(first_.barrier));
  EXPECT_TRUE(is_needed(within.barrier));
}

TEST_F(Fences, OfALoopAreNotNeededWhereAnotherFollowsIt) {
  Node* const head = g_.add(Kind::region, {nullptr, first_.control, nullptr});
  const Passed within = fence(head);
  const Ways ways = branch(within.control);
  g_.connect(head, 2, ways.one);
  const Passed behind = fence(ways.other);
  leave(behind.control);
  EXPECT_FALSE(is_needed(within.barrier));
  EXPECT_TRUE(is_needed(behind.barrier));
}

// Of every way from a store to the end, one fence is left.
TEST_F(Fences, OfARunLeaveTheLastOne) {
  const Passed second = fence(first_.control);
  const Passed third = fence(second.control);
  leave(third.control);
  EXPECT_FALSE(is_needed(first_.barrier));
  EXPECT_FALSE(is_needed(second.barrier));
  EXPECT_TRUE(is_needed(third.barrier));
}

TEST_F(Fences, AreNeededBeforeWhatIsNotUnderstood) {
  g_.add(Kind::other, {first_.control});  // a switch, say: nothing of known class takes control
  EXPECT_EQ(behind(first_.barrier), Behind::unknown);
}

TEST_F(Fences, AreNeededBeforeABranchOfWhichAWayIsMissing) {
  Node* const branch = g_.add(Kind::branch, {first_.control});
  leave(fence(g_.add(Kind::way, {branch})).control);
  EXPECT_TRUE(is_needed(first_.barrier));
}

TEST_F(Fences, AreNeededIfNothingFollows) { EXPECT_EQ(behind(first_.barrier), Behind::unknown); }

TEST_F(Fences, BecomeBarriersForTheCompilerAlone) {
  const Passed second = fence(first_.control);
  const Passed collectors = pass(Kind::fence, second.control);  // belongs to no store
  const Passed last = fence(collectors.control);
  Node* const root = g_.add(Kind::root, {nullptr, g_.add(Kind::exit, {last.control})});
  const Joined joined = join_fences(graph_, root);
  EXPECT_EQ(number(joined, Behind::nothing), 2U);
  EXPECT_EQ(number(joined, Behind::end), 1U);
  EXPECT_FALSE(joined.at_end) << "it is in no loop";
  EXPECT_EQ(graph_.kind(first_.barrier), Kind::barrier);
  EXPECT_EQ(graph_.kind(second.barrier), Kind::barrier);
  EXPECT_EQ(graph_.kind(collectors.barrier), Kind::fence) << "not ours";
  EXPECT_EQ(graph_.kind(last.barrier), Kind::fence);
  EXPECT_EQ(number(join_fences(graph_, root), Behind::nothing), 0U);
}

// for (...) { store; }, unrolled once: two stores, the second of which is followed by the first or the end.
TEST_F(Fences, OfALoopAtTheEndGoThere) {
  Node* const head = g_.add(Kind::region, {nullptr, first_.control, nullptr});
  const Passed one = fence(head);
  const Passed two = fence(one.control);
  const Ways ways = branch(two.control);
  g_.connect(head, 2, g_.add(Kind::poll, {ways.one}));
  Node* const root = g_.add(Kind::root, {nullptr, g_.add(Kind::exit, {ways.other})});
  const Joined joined = join_fences(graph_, root);
  EXPECT_EQ(number(joined, Behind::nothing), 3U);
  EXPECT_EQ(number(joined, Behind::end), 0U);
  EXPECT_TRUE(joined.at_end);
  for (const Node* const barrier : {first_.barrier, one.barrier, two.barrier}) {
    EXPECT_EQ(graph_.kind(barrier), Kind::barrier);
  }
}

TEST_F(Fences, OfALoopStayWhereALoadMayFollow) {
  Node* const head = g_.add(Kind::region, {nullptr, first_.control, nullptr});
  const Passed within = fence(head);
  const Ways ways = branch(within.control);
  g_.connect(head, 2, ways.one);
  const Ways after = branch(ways.other);
  Node* const merged = g_.add(Kind::region, {nullptr, load(after.one).control, after.other});
  Node* const root = g_.add(Kind::root, {nullptr, g_.add(Kind::exit, {merged})});
  const Joined joined = join_fences(graph_, root);
  EXPECT_EQ(number(joined, Behind::load), 1U);
  EXPECT_FALSE(joined.at_end);
  EXPECT_EQ(graph_.kind(within.barrier), Kind::fence);
}

// The one that is in no loop as well: the end's fence stands for both.
TEST_F(Fences, OfAMethodWithALoopAtTheEndGoAllOfThem) {
  const Ways ways = branch(first_.control);
  Node* const head = g_.add(Kind::region, {nullptr, ways.one, nullptr});
  const Passed within = fence(head);
  const Ways turns = branch(within.control);
  g_.connect(head, 2, turns.one);
  const Passed other = fence(ways.other);
  Node* const end = g_.add(Kind::region, {nullptr, turns.other, other.control});
  Node* const root = g_.add(Kind::root, {nullptr, g_.add(Kind::exit, {end})});
  const Joined joined = join_fences(graph_, root);
  EXPECT_TRUE(joined.at_end);
  EXPECT_EQ(number(joined, Behind::end), 0U);
  EXPECT_EQ(graph_.kind(other.barrier), Kind::barrier);
}

TEST_F(Fences, BehindStoresToPrivateObjectsGo) {
  Node* const allocation = g_.allocate(first_.control);
  Node* const control = g_.control_of(allocation);
  const Passed own = pass(Kind::fence, control, g_.store(control, g_.object_of(allocation), nullptr));
  EXPECT_EQ(drop_private_fences(graph_, g_.all()), 1U);
  EXPECT_EQ(graph_.kind(own.barrier), Kind::barrier);
  EXPECT_EQ(graph_.kind(first_.barrier), Kind::fence);
}

}  // namespace
}  // namespace memgraft::hotspot::c2
