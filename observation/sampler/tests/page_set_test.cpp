#include "page_set.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <set>

namespace memgraft::observation {
namespace {

TEST(PageSet, IsASet) {
  constexpr std::size_t kSlots = 64;
  const auto pages = std::make_unique<PageSet<kSlots>>();
  std::set<std::uintptr_t> expected;
  std::mt19937 random(5);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same every time
  for (int i = 0; i < 20000; ++i) {
    const std::uintptr_t page = (random() % 100 + 1) * 4096;
    if (random() % 2 == 0) {
      const bool fits = expected.contains(page) || expected.size() < kSlots / 2;
      EXPECT_EQ(pages->insert(page, static_cast<std::uint32_t>(page / 4096)), fits);
      if (fits) {
        expected.insert(page);
      }
    } else {
      EXPECT_EQ(pages->erase(page), expected.erase(page) == 1);
    }
    ASSERT_EQ(pages->size(), expected.size());
    for (std::uintptr_t each = 4096; each <= 100UL * 4096; each += 4096) {
      ASSERT_EQ(pages->has(each), expected.contains(each));
      ASSERT_EQ(pages->number_of(each), expected.contains(each) ? each / 4096 : 0);
    }
  }
  std::set<std::uintptr_t> found;
  pages->for_each([&](std::uintptr_t page) { found.insert(page); });
  EXPECT_EQ(found, expected);
  pages->clear();
  EXPECT_EQ(pages->size(), 0U);
  for (std::uintptr_t each = 4096; each <= 100UL * 4096; each += 4096) {
    EXPECT_FALSE(pages->has(each));
  }
}

}  // namespace
}  // namespace memgraft::observation
