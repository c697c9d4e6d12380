#include "memgraft/linux/number_list.h"

#include <gtest/gtest.h>

namespace memgraft::linux_os {
namespace {

TEST(ListOfNumbers, IsEmptyWhereItMakesNoSense) {
  EXPECT_EQ(numbers_of_list("0-2,7"), (std::vector<unsigned>{0, 1, 2, 7}));
  for (const char* const wrong : {"", "x", "3-1", "1,,2", "0-99999999", "1-"}) {
    EXPECT_TRUE(numbers_of_list(wrong).empty()) << wrong;
  }
}

}  // namespace
}  // namespace memgraft::linux_os
