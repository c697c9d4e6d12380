#include "ordering/relaxed.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "join/refusal.h"

namespace memgraft::hotspot {
namespace {

class RelaxedMethods : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file(const std::string& text) const {
    const std::filesystem::path path =
        std::filesystem::path(testing::TempDir()) /
        ("relaxed-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::ofstream(path) << text;
    return path;
  }
};

TEST_F(RelaxedMethods, AreWholeClassesMethodsOrOneOverload) {
  const Relaxed relaxed(
      file("java.util.HashMap\n"
           "\n"
           "  java.lang.String.hashCode   # all of that name\n"
           "a.B$C.of(I)V\n"));
  EXPECT_FALSE(relaxed.empty());
  EXPECT_TRUE(relaxed.contains("java.util.HashMap.<init>(I)V"));
  EXPECT_TRUE(
      relaxed.contains("java.util.HashMap.put(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;"));
  EXPECT_FALSE(relaxed.contains("java.util.HashMap$Node.getKey()Ljava/lang/Object;"));
  EXPECT_TRUE(relaxed.contains("java.lang.String.hashCode()I"));
  EXPECT_FALSE(relaxed.contains("java.lang.String.length()I"));
  EXPECT_TRUE(relaxed.contains("a.B$C.of(I)V"));
  EXPECT_FALSE(relaxed.contains("a.B$C.of(J)V"));
}

TEST_F(RelaxedMethods, AreNoneInAnEmptyFile) {
  EXPECT_TRUE(Relaxed(file("# nothing\n\n")).empty());
  EXPECT_FALSE(Relaxed().contains("a.B.c()V"));
}

TEST_F(RelaxedMethods, AreRefusedWhereTheFileCannotBeOpened) {
  EXPECT_THROW((void)Relaxed("/no/such/file"), Refusal);
}

TEST_F(RelaxedMethods, AreRefusedWithTheirLine) {
  for (const std::string wrong : {"java util", "java/util/HashMap", ".a", "a..b", "a.b(I"}) {
    try {
      (void)Relaxed(file("a.B\n" + wrong + "\n"));
      ADD_FAILURE() << wrong << " was accepted";
    } catch (const Refusal& refusal) {
      EXPECT_EQ(refusal.exit_code(), kExitWrongUsage);
      EXPECT_NE(std::string(refusal.what()).find("line 2"), std::string::npos) << refusal.what();
      EXPECT_EQ(refusal.reason().found, "'" + wrong + "'");
    }
  }
}

}  // namespace
}  // namespace memgraft::hotspot
