// The generator of random numbers of the specification (chapter 2): x[n + 1] = 5^13 x[n] mod 2^46, and the
// number is x 2^-46. Threads start anywhere in the sequence by jumping ahead.
#pragma once

#include <stdint.h>

#define RANDOM_MULTIPLIER UINT64_C(1220703125)  // 5^13
#define RANDOM_MASK ((UINT64_C(1) << 46) - 1)

// The next state: unsigned arithmetic modulo 2^64 is exact modulo 2^46.
static inline uint64_t random_step(uint64_t state) { return (state * RANDOM_MULTIPLIER) & RANDOM_MASK; }

// The next number, between 0 and 1.
static inline double random_next(uint64_t* state) {
  *state = random_step(*state);
  return (double)*state * 0x1p-46;
}

// The state after `steps` steps from `seed`, in O(log steps).
uint64_t random_after(uint64_t seed, uint64_t steps);
