#include "ordering/c2_check.h"

#include <gtest/gtest.h>

#include "c2_graphs.h"

namespace memgraft::hotspot::c2 {
namespace {

// As opto/compile.hpp has it.
struct AliasType {
  std::int32_t index = 0;
  const void* address_type = nullptr;
  const CiField* field = nullptr;
  const void* element = nullptr;
};

const CiField kPlain{.flags = 0x0002};
const CiField kUnchanging{.flags = kFinal | 0x0002};
AliasType shared_field{.field = &kPlain};
AliasType final_field{.field = &kUnchanging};
AliasType array_element{.element = &array_element};
AliasType neither;
const void* type_of_all = &shared_field;

const AliasTypes kTypes{
    .address_type = [](const Node* /*access*/) { return type_of_all; },
    .find = [](void* /*compile*/, const void* type, bool /*no_create*/, void* /*field*/) { return type; }};

class OrderCheck : public testing::Test {
 protected:
  void SetUp() override { type_of_all = &shared_field; }

  [[nodiscard]] Checked check(bool excused = false) const {
    return check_order(graph_, kTypes, nullptr, g_.all().data(), static_cast<std::uint32_t>(g_.all().size()),
                       [excused](const Node* /*access*/) { return excused; });
  }

  Graph graph_ = graph_of_kinds();
  Graphs g_;
  Node* start_ = g_.start();
  Node* object_ = g_.add(Kind::parameter, {start_}, kFirstParameter);
};

TEST_F(OrderCheck, FindsAStoreWithoutItsFence) {
  g_.store(start_, object_, nullptr);
  EXPECT_EQ(check().accesses, 1);
  EXPECT_EQ(check().unsafe, 1);
}

TEST_F(OrderCheck, FindsALoadWithoutItsBarrier) {
  g_.load(start_, object_);
  EXPECT_EQ(check().unsafe, 1);
}

TEST_F(OrderCheck, AcceptsThoseWithOne) {
  g_.barrier(Kind::fence, start_, g_.store(start_, object_, nullptr));
  g_.barrier(Kind::barrier, start_, g_.load(start_, object_));
  EXPECT_EQ(check().ordered, 2);
  EXPECT_EQ(check().unsafe, 0);
}

TEST_F(OrderCheck, AcceptsTheBarrierOfADecodedReference) {
  Node* const load = g_.load(start_, object_);
  g_.barrier(Kind::barrier, start_, g_.add(Kind::decode, {nullptr, load}));
  EXPECT_EQ(check().ordered, 1);
}

TEST_F(OrderCheck, DoesNotAcceptTheBarrierOfAnotherAccess) {
  Node* const load = g_.load(start_, object_);
  g_.barrier(Kind::barrier, start_, g_.load(start_, object_));
  g_.store(start_, object_, load);  // a use that is no barrier
  EXPECT_EQ(check().unsafe, 2);
}

TEST_F(OrderCheck, CountsWhatIsExcused) {
  g_.store(start_, object_, nullptr);
  EXPECT_EQ(check(true).excused, 1);
  EXPECT_EQ(check(true).unsafe, 0);
}

TEST_F(OrderCheck, LooksAtFieldsAndArrayElementsOnly) {
  g_.store(start_, object_, nullptr);
  type_of_all = &array_element;
  EXPECT_EQ(check().accesses, 1);
  type_of_all = &neither;
  EXPECT_EQ(check().accesses, 0);
  type_of_all = nullptr;
  EXPECT_EQ(check().accesses, 0);
}

TEST_F(OrderCheck, ExcusesWhatGoesToTheCollectorOnly) {
  Node* const nowhere = g_.add(Kind::nothing, {nullptr});
  Node* const before = g_.load(start_, object_);
  g_.add(Kind::compare, {nullptr, before, nowhere});
  g_.barrier(Kind::fence, start_, g_.store(start_, nowhere, before));
  EXPECT_EQ(check().excused, 1);
  g_.call(start_, {before});  // one that the interpreter could go on behind
  EXPECT_EQ(check().unsafe, 1);
}

TEST(MemoryOfAnAccess, IsFinalWhereItIsAFieldWrittenOnce) {
  EXPECT_TRUE(memory_of(kTypes, nullptr, &final_field).final);
  EXPECT_TRUE(memory_of(kTypes, nullptr, &final_field).shared);
  EXPECT_FALSE(memory_of(kTypes, nullptr, &shared_field).final);
  EXPECT_FALSE(memory_of(kTypes, nullptr, &neither).final);
}

}  // namespace
}  // namespace memgraft::hotspot::c2
