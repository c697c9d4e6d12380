#include "random.h"

uint64_t random_after(uint64_t seed, uint64_t steps) {
  uint64_t state = seed & RANDOM_MASK;
  for (uint64_t power = RANDOM_MULTIPLIER; steps != 0; steps >>= 1) {
    if (steps & 1) {
      state = (state * power) & RANDOM_MASK;
    }
    power = (power * power) & RANDOM_MASK;
  }
  return state;
}
