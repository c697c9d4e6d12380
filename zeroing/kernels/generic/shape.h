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

// How the bytes before the first and after the last aligned unit are zeroed.
enum class Edges : unsigned char {
  overlapping,   // one whole unaligned unit that may overlap the main loop: the fewest branches
  exact,         // ordinary stores of those bytes alone, so that no line is stored both ordinarily and
                 // non-temporally
  smaller_store  // the loop of `Store::Smaller`: a unit is a block of hundreds of bytes, or its size is
                 // known only at run time
};

// A way to zero `unit` bytes (a power of two) at an address that is a multiple of `unit`: a constant of the
// type, or, with `Edges::smaller_store`, a member of the object. The main loop zeroes `Store::units_a_turn`
// of them a turn, 1 where that is not said.
template <class Store>
concept Storing = requires(const Store store, std::byte* at) {
  requires Store::edges == Edges::smaller_store ||
                   (Store::unit > 0 && (Store::unit & (Store::unit - 1)) == 0);
  store.aligned(at);  // `at` is a multiple of `unit`
  store.finish();     // after the last `aligned`: orders the stores like ordinary ones, if they are not
  requires Store::edges != Edges::overlapping || requires { store.unaligned(at); };
  requires Store::edges != Edges::smaller_store || requires { typename Store::Smaller; };
};

// Zeroes fewer than `limit` bytes (a power of two) with at most two ordinary stores, which may overlap each
// other.
template <Storing Store, std::size_t limit>
void zero_fewer_than(std::byte* at, std::size_t bytes) {
  if constexpr (limit > 1) {
    constexpr std::size_t kHalf = limit / 2;
    if (bytes >= kHalf) {
      // Of constant length, so that these are plain stores, not calls.
      __builtin_memset(at, 0, kHalf);
      __builtin_memset(at + (bytes - kHalf), 0, kHalf);
    } else {
      zero_fewer_than<Store, kHalf>(at, bytes);
    }
  }
}

template <Storing Store>
void zero_with(void* memory, std::size_t bytes);

// Zeroes less than a unit, and nothing beside it.
template <Storing Store>
void zero_part(std::byte* at, std::size_t bytes) {
  if constexpr (Store::edges == Edges::smaller_store) {
    zero_with<typename Store::Smaller>(at, bytes);
  } else {
    zero_fewer_than<Store, Store::unit>(at, bytes);
  }
}

template <Storing Store>
consteval std::size_t units_a_turn() {
  if constexpr (requires { Store::units_a_turn; }) {
    return Store::units_a_turn;
  } else {
    return 1;
  }
}

// Zeroes [at, at + turns * count * unit), `count` units a turn; returns its end.
template <std::size_t count, Storing Store>
std::byte* zero_turns(const Store& store, std::byte* at, std::size_t turns) {
  const std::size_t unit = store.unit;
  // Never unrolled further: word-4 is one store a turn by definition, dc-zva-2 two, and four vector stores a
  // turn were measured to be faster at some sizes and slower at others.
#pragma GCC unroll 1
  for (std::byte* const end = at + turns * count * unit; at != end; at += count * unit) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < count; ++i) {
      store.aligned(at + i * unit);
    }
  }
  return at;
}

// Zeroes exactly [memory, memory + bytes), at any address, of any length.
template <Storing Store>
void zero_with(void* memory, std::size_t bytes) {
  auto* at = static_cast<std::byte*>(memory);
  const Store store;
  const std::size_t unit = store.unit;
  if (bytes < unit) {
    zero_part<Store>(at, bytes);
    return;
  }
  const std::size_t within = unit - 1;  // the low bits that an aligned address has not
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(at) & within;  // only the low bits matter
  const std::size_t body = (bytes - head) & ~within;                        // head < unit <= bytes
  const std::size_t tail = bytes - head - body;
  std::byte* const end = at + bytes;

  if constexpr (Store::edges == Edges::overlapping) {
    if (head > 0) {
      store.unaligned(at);
    }
  } else {
    zero_part<Store>(at, head);
  }
  if (body > 0) {
    constexpr std::size_t kCount = units_a_turn<Store>();
    std::byte* const rest = zero_turns<kCount>(store, at + head, body / (kCount * unit));
    if constexpr (kCount > 1) {
      zero_turns<1>(store, rest, body / unit % kCount);
    }
    store.finish();
  }
  if constexpr (Store::edges == Edges::overlapping) {
    if (tail > 0) {
      store.unaligned(end - Store::unit);
    }
  } else {
    zero_part<Store>(end - tail, tail);
  }
}

}  // namespace memgraft::zeroing
