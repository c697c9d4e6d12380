#include "small_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "fake_root.h"

namespace memgraft::linux_os {
namespace {

TEST(SmallFile, IsReadAsFarAsTheBufferHoldsIt) {
  const FakeRoot root;
  root.write("/proc/name", "0123456789");
  std::array<char, 4> four{};
  EXPECT_EQ(read_small_file(AT_FDCWD, (root.path() + "/proc/name").c_str(), four), "0123");
  std::array<char, 16> sixteen{};
  EXPECT_EQ(read_small_file(AT_FDCWD, (root.path() + "/proc/name").c_str(), sixteen), "0123456789");
  EXPECT_EQ(read_small_file(AT_FDCWD, (root.path() + "/proc/missing").c_str(), sixteen), std::nullopt);
  EXPECT_EQ(read_small_file(AT_FDCWD, root.path().c_str(), sixteen), std::nullopt) << "a folder";
}

TEST(SmallFile, OfAnyLengthIsReadWhole) {
  const FakeRoot root;
  std::string content = "left from before";
  for (const std::size_t size : {0U, 1U, 4095U, 4096U, 4097U, 8192U, 100'000U, 3U}) {
    const std::string written(size, 'x');
    root.write("/file", written);
    EXPECT_TRUE(read_file(root.path() + "/file", content)) << size;
    EXPECT_EQ(content, written);
  }
  EXPECT_FALSE(read_file(root.path() + "/missing", content));
  EXPECT_EQ(content, "");
}

TEST(SmallFile, IsReadAgainWithoutAllocating) {
  const FakeRoot root;
  root.write("/file", std::string(5000, 'x'));
  std::string content;
  ASSERT_TRUE(read_file(root.path() + "/file", content));
  const char* const data = content.data();
  ASSERT_TRUE(read_file(root.path() + "/file", content));
  EXPECT_EQ(content.data(), data);
}

TEST(SmallFile, AFieldIsCutOff) {
  std::string_view text = "a,,b";
  EXPECT_EQ(cut_field(text, ','), "a");
  EXPECT_EQ(cut_field(text, ','), "");
  EXPECT_EQ(cut_field(text, ','), "b");
  EXPECT_TRUE(text.empty());
}

TEST(SmallFile, ANumberIsOneOnlyWhole) {
  EXPECT_EQ(to_number("100000"), 100'000U);
  EXPECT_EQ(to_number("0xcF"), 0xcfU);
  EXPECT_EQ(to_number("18446744073709551615"), ~std::uint64_t{0});
  for (const char* const text : {"", "-1", "+1", "max", "1 ", "12x", "0x", "18446744073709551616"}) {
    EXPECT_EQ(to_number(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace memgraft::linux_os
