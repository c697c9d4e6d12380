// What a store costs that no later load may overtake, by the instructions that see to it:
//
//   ordering/store               nothing does
//   ordering/store-locked-add    mov; lock addl of zero to the stack: HotSpot's fence
//   ordering/store-mfence        mov; mfence
//   ordering/exchange            xchg, which is a fence itself (Intel SDM vol. 3, 9.1.2.2)
//   ordering/two-stores-locked-add    a run of two stores with one fence
//
// Each turn has two loads of other memory behind them.
#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace memgraft::ordering::bench {
namespace {

using Word = std::uint64_t;

struct Store {
  static void run(Word& to, Word value) {
    __asm__ volatile("movq %1, %0" : "=m"(to) : "r"(value) : "memory");
  }
};
struct LockedAdd {
  static void run(Word& to, Word value) {
    Store::run(to, value);
    // Below the 128 bytes that the compiler may use without moving the stack pointer.
    __asm__ volatile("lock addl $0, -192(%%rsp)" ::: "memory", "cc");
  }
};
struct Mfence {
  static void run(Word& to, Word value) {
    Store::run(to, value);
    __asm__ volatile("mfence" ::: "memory");
  }
};
struct Exchange {
  static void run(Word& to, Word value) {
    __asm__ volatile("xchgq %1, %0" : "+m"(to), "+r"(value)::"memory");
  }
};
struct TwoStores {
  static void run(Word& to, Word value) {
    Store::run(*(&to + 1), value);
    LockedAdd::run(to, value);
  }
};

constexpr std::size_t kLineWords = 8;
constexpr std::size_t kLines = 16;

template <typename Ordered>
void store(benchmark::State& state) {
  alignas(64) std::array<Word, kLines * kLineWords> lines{};
  Word turn = 0;
  for (const auto _ : state) {
    // Half of the lines are stored to, the other half loaded from.
    Word* const to = &lines.at(turn % (kLines / 2) * kLineWords);
    Ordered::run(*to, turn);
    const volatile Word* const from = to + (kLines / 2 * kLineWords);
    benchmark::DoNotOptimize(*from + *(from + 1));
    ++turn;
  }
}

BENCHMARK(store<Store>)->Name("ordering/store");
BENCHMARK(store<LockedAdd>)->Name("ordering/store-locked-add");
BENCHMARK(store<Mfence>)->Name("ordering/store-mfence");
BENCHMARK(store<Exchange>)->Name("ordering/exchange");
BENCHMARK(store<TwoStores>)->Name("ordering/two-stores-locked-add");

}  // namespace
}  // namespace memgraft::ordering::bench

BENCHMARK_MAIN();
