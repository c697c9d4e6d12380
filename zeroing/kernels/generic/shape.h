// The shape that all loops of stores share: a head up to an aligned address, a main loop of aligned stores, a
// tail. What differs from one kernel to the next is the `Store` type.
//
// Everything here is a template over a Store that its translation unit defines in an anonymous namespace,
// which gives every instance internal linkage. That matters: some translation units are compiled for AVX-512,
// and an inline function with external linkage from one of them could be the copy that the linker keeps for
// everyone, even for CPUs without AVX-512. For the same reason nothing from the standard library is called
// (tests/objects_test.cmake checks).
#pragma once

#include <cstddef>
#include <cstdint>

namespace memgraft::zeroing {

/// How the bytes before the first and after the last aligned unit are zeroed.
enum class Edges : unsigned char {
  overlapping,  ///< one whole unaligned unit that may overlap the main loop: the fewest branches
  exact         ///< ordinary stores of those bytes alone, so that no line is stored both ordinarily and
                ///< non-temporally
};

/// A way to zero `unit` bytes (a power of two) at an address that is a multiple of `unit`.
template <class Store>
concept Storing = requires(const Store store, std::byte* at) {
  requires Store::unit > 0 && (Store::unit & (Store::unit - 1)) == 0;
  store.aligned(at);  // `at` is a multiple of `unit`
  store.finish();     // after the last `aligned`: orders the stores like ordinary ones, if they are not
  requires Store::edges == Edges::exact || requires { store.unaligned(at); };
};

/// Zeroes fewer than `limit` bytes (a power of two) with at most two ordinary stores, which may overlap each
/// other.
template <Storing Store, std::size_t limit>
void zero_fewer_than(std::byte* at, std::size_t bytes) {
  if constexpr (limit > 1) {
    constexpr std::size_t half = limit / 2;
    if (bytes >= half) {
      // Of constant length, so that these are plain stores, not calls.
      __builtin_memset(at, 0, half);
      __builtin_memset(at + (bytes - half), 0, half);
    } else {
      zero_fewer_than<Store, half>(at, bytes);
    }
  }
}

/// Zeroes exactly [memory, memory + bytes), at any address, of any length.
template <Storing Store>
void zero_with(void* memory, std::size_t bytes) {
  auto* at = static_cast<std::byte*>(memory);
  if (bytes < Store::unit) {
    zero_fewer_than<Store, Store::unit>(at, bytes);
    return;
  }
  const Store store;
  const std::size_t head =
      -reinterpret_cast<std::uintptr_t>(at) % Store::unit;              // only the address's low bits matter
  const std::size_t body = (bytes - head) / Store::unit * Store::unit;  // head < unit <= bytes
  const std::size_t tail = bytes - head - body;
  std::byte* const end = at + bytes;

  if constexpr (Store::edges == Edges::overlapping) {
    if (head > 0) {
      store.unaligned(at);
    }
  } else {
    zero_fewer_than<Store, Store::unit>(at, head);
  }
  if (body > 0) {
    std::byte* unit = at + head;
    // Never unrolled: word-4 is one store a turn by definition, and four vector stores a turn were measured
    // to be faster at some sizes and slower at others.
#pragma GCC unroll 1
    for (std::byte* const body_end = unit + body; unit != body_end; unit += Store::unit) {
      store.aligned(unit);
    }
    store.finish();
  }
  if constexpr (Store::edges == Edges::overlapping) {
    if (tail > 0) {
      store.unaligned(end - Store::unit);
    }
  } else {
    zero_fewer_than<Store, Store::unit>(end - tail, tail);
  }
}

}  // namespace memgraft::zeroing
