#include "ordering/c2_private.h"

#include <gtest/gtest.h>

#include "c2_graphs.h"

namespace memgraft::hotspot::c2 {
namespace {

class PrivateObjects : public testing::Test {
 protected:
  [[nodiscard]] bool is_private(const Node* control, const Node* base, bool whole = true,
                                bool in_constructor = false) const {
    return Privacy(graph_, whole).is_private(control, base, [in_constructor] { return in_constructor; });
  }

  Graph graph_ = graph_of_kinds();
  Graphs g_;
  Node* start_ = g_.start();
  Node* entry_ = g_.control_of(start_);
  Node* allocation_ = g_.allocate(entry_);
  Node* object_ = g_.object_of(allocation_);
  Node* control_ = g_.control_of(allocation_);
  // Somebody else's, for references to be stored into.
  Node* other_ = g_.add(Kind::parameter, {start_}, kFirstParameter + 1);
};

TEST_F(PrivateObjects, AreThoseAllocatedHere) { EXPECT_TRUE(is_private(control_, object_)); }

TEST_F(PrivateObjects, AreNotParameters) {
  EXPECT_FALSE(is_private(control_, other_));
  Node* const first = g_.add(Kind::parameter, {start_}, kFirstParameter);
  EXPECT_FALSE(is_private(entry_, first));
}

TEST_F(PrivateObjects, AreWhatAConstructorConstructs) {
  Node* const constructed = g_.add(Kind::parameter, {start_}, kFirstParameter);
  EXPECT_TRUE(is_private(entry_, constructed, true, true));
  // Its other parameters are not.
  EXPECT_FALSE(is_private(entry_, other_, true, true));
}

TEST_F(PrivateObjects, MayBeWrittenAndReadAndCompared) {
  g_.store(control_, object_, nullptr);
  g_.load(control_, object_);
  g_.add(Kind::compare, {nullptr, object_, other_});
  g_.add(Kind::initialize, {control_, object_});
  EXPECT_TRUE(is_private(control_, object_));
}

TEST_F(PrivateObjects, AreNoLongerOnceTheirReferenceIsStored) {
  Node* const before = control_;
  g_.store(before, other_, object_);
  Node* const after = g_.control_of(g_.barrier(Kind::fence, before, nullptr));
  EXPECT_FALSE(is_private(after, object_));
  EXPECT_FALSE(is_private(before, object_)) << "the store may come first";
}

TEST_F(PrivateObjects, AreNoLongerOnceACompressedReferenceIsStored) {
  Node* const compressed = g_.add(Kind::encode, {nullptr, object_});
  g_.store(control_, other_, compressed);
  EXPECT_FALSE(is_private(control_, object_));
}

TEST_F(PrivateObjects, AreStillBeforeTheirReferenceIsStored) {
  Node* const after = g_.control_of(g_.barrier(Kind::fence, control_, nullptr));
  g_.store(after, other_, object_);
  EXPECT_TRUE(is_private(control_, object_));
}

TEST_F(PrivateObjects, AreNotWhereALoopStoredTheReferenceOneTurnBefore) {
  Node* const head = g_.add(Kind::region, {nullptr, control_, nullptr});
  Node* const end = g_.control_of(g_.barrier(Kind::fence, head, nullptr));
  g_.store(end, other_, object_);
  g_.connect(head, 2, end);
  EXPECT_FALSE(is_private(head, object_));
}

TEST_F(PrivateObjects, AreNewInEveryTurnOfALoopThatAllocatesThem) {
  Node* const head = g_.add(Kind::region, {nullptr, entry_, nullptr});
  Node* const allocation = g_.allocate(head);
  Node* const object = g_.object_of(allocation);
  Node* const body = g_.control_of(allocation);
  Node* const end = g_.control_of(g_.barrier(Kind::fence, body, nullptr));
  g_.store(end, other_, object);
  g_.connect(head, 2, end);
  EXPECT_TRUE(is_private(body, object));
}

TEST_F(PrivateObjects, AreUnknownWhileALoopIsBeingParsed) {
  Node* const head = g_.add(Kind::region, {nullptr, control_, nullptr});
  EXPECT_FALSE(is_private(head, object_, false));
  EXPECT_TRUE(is_private(head, object_, true)) << "with everything parsed, that way is never taken";
}

TEST_F(PrivateObjects, AreFollowedThroughTheHeadsOfLoops) {
  Node* const head = g_.add(Kind::region, {nullptr, control_, nullptr});
  g_.connect(head, 2, head);
  Node* const merged = g_.add(Kind::phi, {head, object_, nullptr});
  g_.connect(merged, 2, merged);
  EXPECT_TRUE(is_private(head, merged));
  g_.store(head, other_, merged);
  EXPECT_FALSE(is_private(head, merged));
}

TEST_F(PrivateObjects, AreNotOneOfTwo) {
  Node* const merge = g_.add(Kind::region, {nullptr, control_, control_});
  Node* const either = g_.add(Kind::phi, {merge, object_, other_});
  EXPECT_FALSE(is_private(merge, either));
  EXPECT_FALSE(is_private(merge, object_)) << "from the merge on it goes by another name";
  EXPECT_TRUE(is_private(control_, object_));
}

TEST_F(PrivateObjects, AreNoLongerOnceTheyArePassedToACall) {
  Node* const call = g_.call(control_, {object_});
  EXPECT_FALSE(is_private(g_.control_of(call), object_));
  EXPECT_TRUE(is_private(control_, object_));
}

TEST_F(PrivateObjects, AreStillWhereOnlyTheInterpreterWouldKnowThem) {
  Node* const call = g_.call(control_, {other_}, {object_});
  EXPECT_TRUE(is_private(g_.control_of(call), object_));
}

TEST_F(PrivateObjects, AreNotOnceSomethingUnknownUsesThem) {
  g_.add(Kind::other, {control_, object_});
  EXPECT_FALSE(is_private(control_, object_));
}

TEST_F(PrivateObjects, MayBeReturned) {
  g_.add(Kind::exit, {control_, nullptr, nullptr, nullptr, nullptr, object_});
  EXPECT_TRUE(is_private(control_, object_));
}

TEST_F(PrivateObjects, AreNotWhereAWayPassesTheirAllocationBy) {
  Node* const merge = g_.add(Kind::region, {nullptr, control_, entry_});
  EXPECT_FALSE(is_private(merge, object_));
}

}  // namespace
}  // namespace memgraft::hotspot::c2
