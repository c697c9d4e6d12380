// IS, integer sort (chapter 2): ranks of keys whose distribution is about Gaussian, ten times, two keys
// changed before each. Threads count their own keys, then add up ranges of all threads' counts.
#include <omp.h>
#include <stdint.h>

#include "kernel.h"
#include "pages.h"
#include "random.h"

enum { specified_iterations = 10, tested = 5 };
static const uint64_t seed = 314159265;

static const struct {
  int log2_keys;
  int log2_largest;
  int index[tested];   // keys whose ranks are known
  int rank[tested];    // in iteration 0, so to say
  int rising;          // the first ones' ranks rise by 1 per iteration, the others' fall
  int rising_offset;   // added to the iteration where ranks rise
  int falling_offset;  // and where they fall
} official[sizes] = {
    {16, 11, {48427, 17148, 23627, 62548, 4431}, {0, 18, 346, 64917, 65463}, 3, 0, 0},
    {20, 16, {357773, 934767, 875723, 898999, 404505}, {1249, 11698, 1039987, 1043896, 1048018}, 2, -2, 0},
    {23,
     19,
     {2112377, 662041, 5336171, 3642833, 4250760},
     {104, 17523, 123928, 8288932, 8388264},
     3,
     -1,
     -1}};

static enum size chosen;
static int key_count;
static int largest;  // keys are below
static int* keys;
static int* counts;  // of each thread: how many keys have each value
static int* up_to;   // how many keys have a value or a smaller one: ranks
static int* sorted;  // for the full verification
static int ranks[specified_iterations][tested];

static int draw(uint64_t* state) {
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    sum += random_next(state);
  }
  return (int)(largest / 4 * sum);
}

static void prepare(enum size size, int threads) {
  chosen = size;
  key_count = 1 << official[size].log2_keys;
  largest = 1 << official[size].log2_largest;
  keys = pages_allocate(key_count, sizeof *keys);
  counts = pages_allocate((int64_t)threads * largest, sizeof *counts);
  up_to = pages_allocate(largest, sizeof *up_to);
  sorted = pages_allocate(key_count, sizeof *sorted);
#pragma omp parallel
  {
    const int64_t thread = omp_get_thread_num();
    const int64_t team = omp_get_num_threads();
    const int first = (int)(key_count * thread / team);
    const int end = (int)(key_count * (thread + 1) / team);
    uint64_t state = random_after(seed, 4 * (uint64_t)first);
    for (int i = first; i < end; ++i) {
      keys[i] = draw(&state);
    }
  }
}

static void count(int* own, int first, int end) {
  for (int value = 0; value < largest; ++value) {
    own[value] = 0;
  }
  for (int i = first; i < end; ++i) {
    own[keys[i]] += 1;
  }
}

// Adds up the counts of the values from `first` on, as if there were no smaller ones.
static int accumulate(int team, int first, int end) {
  int sum = 0;
  for (int value = first; value < end; ++value) {
    for (int thread = 0; thread < team; ++thread) {
      sum += counts[(int64_t)thread * largest + value];
    }
    up_to[value] = sum;
  }
  return sum;
}

static void rank_all(void) {
  static int sums[1025];  // main.c allows 1024 threads
#pragma omp parallel
  {
    const int thread = omp_get_thread_num();
    const int team = omp_get_num_threads();
    count(&counts[(int64_t)thread * largest], (int)((int64_t)key_count * thread / team),
          (int)((int64_t)key_count * (thread + 1) / team));
#pragma omp barrier
    const int first = (int)((int64_t)largest * thread / team);
    const int end = (int)((int64_t)largest * (thread + 1) / team);
    sums[thread + 1] = accumulate(team, first, end);
#pragma omp barrier
    int smaller = 0;
    for (int before = 1; before <= thread; ++before) {
      smaller += sums[before];
    }
    for (int value = first; value < end; ++value) {
      up_to[value] += smaller;
    }
  }
}

static void iterate(int iteration) {
  keys[iteration % key_count] = iteration % largest;
  keys[(iteration + specified_iterations) % key_count] = largest - 1 - (iteration - 1) % largest;
  int asked[tested];
  for (int i = 0; i < tested; ++i) {
    asked[i] = keys[official[chosen].index[i]];
  }
  rank_all();
  if (iteration <= specified_iterations) {
    for (int i = 0; i < tested; ++i) {
      ranks[iteration - 1][i] = asked[i] == 0 ? 0 : up_to[asked[i] - 1];
    }
  }
}

// Puts the keys where their ranks say, and counts those that are smaller than the one before.
static int out_of_order(void) {
  for (int i = 0; i < key_count; ++i) {
    sorted[--up_to[keys[i]]] = keys[i];
  }
  int wrong = 0;
  for (int i = 1; i < key_count; ++i) {
    wrong += sorted[i - 1] > sorted[i];
  }
  return wrong;
}

static void verify(enum size size, struct checks* checks) {
  for (int iteration = 1; iteration <= specified_iterations; ++iteration) {
    for (int i = 0; i < tested; ++i) {
      const int shift = i < official[size].rising ? iteration + official[size].rising_offset
                                                  : -(iteration + official[size].falling_offset);
      checks_add(checks, ranks[iteration - 1][i], official[size].rank[i] + shift, 0,
                 "rank of key %d, iteration %d", official[size].index[i], iteration);
    }
  }
  checks_add(checks, out_of_order(), 0, 0, "keys out of order");
}

const struct kernel kernel_is = {
    .name = "is",
    .title = "ranks of integer keys",
    .iterations = {specified_iterations, specified_iterations, specified_iterations},
    .prepare = prepare,
    .iterate = iterate,
    .verify = verify};
