#include "join/joints.h"

#include <gtest/gtest.h>

#include <string>

#include "fake_library.h"
#include "join/patch.h"
#include "join/refusal.h"
#include "memgraft/units.h"

namespace memgraft::hotspot {
namespace {

Refusal refusal_of(const FakeLibrary& library, int feature = 17, const Needs& needs = kZeroingNeeds) {
  try {
    const Stock stock = library.stock(feature);
    (void)find_joints(needs, stock, the_collector(needs, stock));
  } catch (const Refusal& refusal) {
    return refusal;
  }
  throw std::logic_error("not refused");
}

void expect_refusal(const Refusal& refusal, const std::string& looked_for, const std::string& found) {
  EXPECT_NE(refusal.reason().looked_for.find(looked_for), std::string::npos) << refusal.what();
  EXPECT_NE(refusal.reason().found.find(found), std::string::npos) << refusal.what();
  EXPECT_FALSE(refusal.reason().advice.empty());
  const std::string message = refusal.what();
  EXPECT_NE(message.find("Fake VM 17.0.0+1 (Nobody)"), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_EQ(refusal.exit_code(), kExitCannotTakeGraft);
}

TEST(Joints, AreFoundWhereTheLibraryHasThem) {
  const FakeLibrary library("fake_jvm.so");
  const Stock stock = library.stock();
  EXPECT_EQ(stock.collector(), Collector::parallel);
  const Joints joints = find_joints(kZeroingNeeds, stock, Collector::parallel);
  EXPECT_EQ(*joints.at("allocate_new_tlab").cell, joints.at("allocate_new_tlab").original);
  EXPECT_TRUE(stock.contains(joints.at("allocate_new_tlab").original));
  EXPECT_FALSE(stock.contains(joints.at("memset").original));
  EXPECT_THROW((void)joints.at("memcpy"), std::logic_error);
}

TEST(Joints, OfALazilyBoundImportAreResolvedFirst) {
  const FakeLibrary library("lazy_jvm.so");
  const Stock stock = library.stock();
  const Joints joints = find_joints(kZeroingNeeds, stock, Collector::parallel);
  // Were the cell's own value kept, it would lead back into the library's stub, and the graft would be
  // overwritten.
  EXPECT_TRUE(stock.contains(*joints.at("memset").cell));
  EXPECT_FALSE(stock.contains(joints.at("memset").original));
}

TEST(Joints, RefuseAnUnknownVersion) {
  expect_refusal(refusal_of(FakeLibrary("fake_jvm.so"), 24), "JDK 17, 21 or 25", "JDK 24");
}

TEST(Joints, RefuseACollectorTheGraftDoesNotKnow) {
  const FakeLibrary library("fake_jvm.so");
  const Stock stock = library.stock();
  EXPECT_THROW((void)find_joints(kZeroingNeeds, stock, Collector::z), Refusal);
}

TEST(Joints, RefuseACollectorTheLibraryLacks) {
  const FakeLibrary library("fake_jvm.so");
  const Stock stock = library.stock();
  EXPECT_FALSE(stock.has_collector(Collector::g1));
  EXPECT_THROW((void)find_joints(kZeroingNeeds, stock, Collector::g1), Refusal);
}

TEST(Joints, RefuseWhenNoOrTwoCollectorsAreChosen) {
  const FakeLibrary library("fake_jvm.so");
  library.flag("UseG1GC") = true;
  expect_refusal(refusal_of(library), "the one collector", "several");
  library.flag("UseG1GC") = false;
  library.flag("UseParallelGC") = false;
  expect_refusal(refusal_of(library), "the one collector", "none");
  library.flag("UseParallelGC") = true;
}

TEST(Joints, RefuseAFlagWithTheWrongValue) {
  const FakeLibrary library("fake_jvm.so");
  library.flag("ZeroTLAB") = false;
  expect_refusal(refusal_of(library), "-XX:+ZeroTLAB", "-XX:-ZeroTLAB");
  library.flag("ZeroTLAB") = true;
  library.flag("UseTLAB") = false;
  expect_refusal(refusal_of(library), "-XX:+UseTLAB", "-XX:-UseTLAB");
  library.flag("UseTLAB") = true;
}

TEST(Joints, RefuseAStrippedLibrary) {
  expect_refusal(refusal_of(FakeLibrary("stripped_jvm.so")), ".symtab", "stripped");
}

TEST(Joints, RefuseAForeignLibrary) {
  expect_refusal(refusal_of(FakeLibrary("foreign_jvm.so")), "heap classes of HotSpot", "none");
}

TEST(Joints, RefuseAMethodWithAnotherSignature) {
  expect_refusal(refusal_of(FakeLibrary("other_signature_jvm.so")),
                 "_ZN20ParallelScavengeHeap17allocate_new_tlabEmmPm", "no such symbol");
}

TEST(Joints, RefuseTwoSlotsForOneMethod) {
  expect_refusal(refusal_of(FakeLibrary("two_slots_jvm.so")), "one slot", "more than one");
}

TEST(Joints, RefuseARefillPathThatDoesNotCallMemset) {
  expect_refusal(refusal_of(FakeLibrary("no_memset_jvm.so")), "one call of memset", "0 of them");
}

TEST(Joints, RefuseARefillPathThatCallsMemsetTwice) {
  expect_refusal(refusal_of(FakeLibrary("two_memsets_jvm.so")), "one call of memset", "2 of them");
}

TEST(Joints, OfWindowsAndOfTheNurseryAreFound) {
  const FakeLibrary library("fake_jvm.so");
  const Stock stock = library.stock();
  const Joints windows = find_joints(kWindowNeeds, stock, Collector::parallel);
  EXPECT_EQ(*windows.at("ensure_parsability").cell, windows.at("ensure_parsability").original);
  EXPECT_THROW((void)windows.nursery(), std::logic_error);
  const Joints ahead = find_joints(kAheadNeeds, stock, Collector::parallel);
  // Before the heap exists nothing is free; then it is what lies between eden's top and its end.
  EXPECT_TRUE(ahead.nursery().free().empty());
  library.function<void()>("fake_start")();
  const std::size_t all = ahead.nursery().free().size();
  EXPECT_GT(all, 0U);
  const void* const taken = library.function<void*(std::size_t)>("fake_refill")(512);
  EXPECT_EQ(ahead.nursery().free().size(), all - 512 * kBytesPerWord);
  EXPECT_EQ(ahead.nursery().free().data(), static_cast<const std::byte*>(taken) + 512 * kBytesPerWord);
}

TEST(Joints, OfANurseryThatMakesNoSenseFindNothingFree) {
  const FakeLibrary library("fake_jvm.so");
  const Stock stock = library.stock();
  const Joints ahead = find_joints(kAheadNeeds, stock, Collector::parallel);
  library.function<void()>("fake_start")();
  (void)library.function<void*(std::size_t)>("fake_refill")(512);
  library.function<void()>("fake_spoil")();
  EXPECT_TRUE(ahead.nursery().free().empty());
}

TEST(Joints, RefuseAnnotationsThatAreNotDescribed) {
  Needs needs = kZeroingNeeds;
  needs.annotations = true;
  expect_refusal(refusal_of(FakeLibrary("fake_jvm.so"), 17, needs),
                 "ConstMethod::_has_method_annotations in libjvm's table of structures", "none");
  const FakeLibrary library("fake_jvm.so");
  const Stock stock = library.stock();
  const Joints joints = find_joints(kZeroingNeeds, stock, Collector::parallel);
  EXPECT_THROW((void)joints.annotations(), std::logic_error);
}

TEST(Joints, RefuseANurseryThatIsNotDescribed) {
  expect_refusal(refusal_of(FakeLibrary("no_eden_end_jvm.so"), 17, kAheadNeeds), "MutableSpace::_end",
                 "none");
}

TEST(Joints, RefuseANurseryInPieces) {
  const FakeLibrary library("fake_jvm.so");
  library.flag("UseNUMA") = true;
  expect_refusal(refusal_of(library, 17, kAheadNeeds), "-XX:-UseNUMA", "-XX:+UseNUMA");
  library.flag("UseNUMA") = false;
  EXPECT_THROW((void)find_joints(kAheadNeeds, library.stock(), Collector::g1), Refusal);
}

}  // namespace
}  // namespace memgraft::hotspot
