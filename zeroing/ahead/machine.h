// What the protocol of protocol.h needs of the machine.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "protocol.h"

namespace memgraft::zeroing::ahead {

// The open part of a nursery: [begin, end) at whole cache lines, and one word for each of its blocks, which
// begin at multiples of their size.
struct Region {
  std::byte* begin = nullptr;
  std::byte* end = nullptr;
  std::atomic<Value>* blocks = nullptr;
  unsigned block_shift = 0;  // a block is 1 << block_shift bytes

  [[nodiscard]] std::size_t block_count() const;
  [[nodiscard]] std::size_t index_of(const std::byte* at) const;
  // The part of a block that lies in the region.
  [[nodiscard]] std::byte* block_begin(std::size_t index) const;
  [[nodiscard]] std::byte* block_end(std::size_t index) const;
};

class Machine {
 public:
  using Word = std::atomic<Value>;

  // `stealing`: pieces are zeroed in restartable sequences; otherwise with `zero`.
  Machine(bool stealing, void (*zero)(void*, std::size_t)) : stealing_(stealing), zero_(zero) {}

  [[nodiscard]] bool stealing() const { return stealing_; }

  // --- the helper's ---

  // By the helper, before its first block. False where it cannot do what was promised for it.
  bool begin();
  void look_at(const Region& region) { region_ = region; }
  [[nodiscard]] std::size_t pieces(std::size_t index) const;
  bool zero_piece(const Word& work, Value working, const Word& block, Value mine, std::size_t index,
                  std::size_t piece);
  void drain() const;

  // --- everybody else's ---

  [[nodiscard]] bool expel() const;
  static void wait(unsigned turn);

 private:
  [[nodiscard]] std::size_t piece_bytes() const;

  bool stealing_;
  void (*zero_)(void*, std::size_t);
  std::uint64_t* sequence_ = nullptr;
  Region region_;
};

}  // namespace memgraft::zeroing::ahead
