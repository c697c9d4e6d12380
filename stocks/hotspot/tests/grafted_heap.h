// The heap of a fake JVM under a graft: what is allocated there keeps what is written to it, and the heap can
// always be walked.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "fake_library.h"
#include "join/patch.h"
#include "zeroing/install.h"

namespace memgraft::hotspot {

class GraftedHeap {
 public:
  // `zeroed`: somebody zeroes what is handed out. `followed`: zeroing follows collections.
  GraftedHeap(std::size_t tlab_words, bool zeroed, bool followed)
      : tlab_words_(tlab_words), zeroed_(zeroed), followed_(followed) {
    library_.function<Start>("fake_start")();
    if (followed_) {
      library_.function<Start>("fake_fresh")();  // which strategies that follow collections rely on
    }
  }
  ~GraftedHeap() { (void)walk(); }
  GraftedHeap(const GraftedHeap&) = delete;
  GraftedHeap& operator=(const GraftedHeap&) = delete;
  GraftedHeap(GraftedHeap&&) = delete;
  GraftedHeap& operator=(GraftedHeap&&) = delete;

  // Allocates, checks that the fields are zero where somebody zeroes, and scribbles over them. False where
  // the heap is full.
  [[nodiscard]] bool allocate(std::size_t words) {
    std::uint64_t* const object = object_(words, tlab_words_);
    if (object == nullptr) {
      return false;
    }
    const std::span fields(object + 1, words - 1);
    if (zeroed_) {
      EXPECT_TRUE(std::ranges::all_of(fields, [](std::uint64_t field) { return field == 0; }));
    }
    std::ranges::fill(fields, reinterpret_cast<std::uintptr_t>(object));
    const std::scoped_lock lock(allocated_mutex_);
    allocated_.push_back(fields);
    return true;
  }

  // What was allocated since the last time still holds what was written.
  void expect_intact() {
    for (const std::span<std::uint64_t> fields : allocated_) {
      const std::uint64_t mark = reinterpret_cast<std::uintptr_t>(fields.data() - 1);
      EXPECT_TRUE(std::ranges::all_of(fields, [mark](std::uint64_t field) { return field == mark; }));
    }
    allocated_.clear();
  }

  // A collection as the agent sees one; `starts` tells other grafts.
  template <typename Starts>
  void collect(Starts starts) {
    if (followed_) {
      zeroing_collection_starts();
    }
    starts();
    expect_intact();
    (void)walk();
    library_.function<Start>("fake_empty")();
    if (followed_) {
      zeroing_collection_ended();
    }
  }

  // The words of dummy objects.
  [[nodiscard]] std::size_t walk() const {
    std::size_t dummy_words = 0;
    EXPECT_TRUE(walk_(&dummy_words));
    return dummy_words;
  }

 protected:
  using Start = void();
  using Object = std::uint64_t*(std::size_t words, std::size_t tlab_words);
  using Walk = bool(std::size_t* dummy_words);

  FakeLibrary library_{"fake_jvm.so"};
  Stock stock_ = library_.stock();
  Patch patch_;
  Walk* walk_ = library_.function<Walk>("fake_walk");

 private:
  std::size_t tlab_words_;
  bool zeroed_;
  bool followed_;
  Object* object_ = library_.function<Object>("fake_object");
  std::mutex allocated_mutex_;
  std::vector<std::span<std::uint64_t>> allocated_;
};

}  // namespace memgraft::hotspot
