// EP, "embarrassingly parallel" (chapter 2): pairs of Gaussian deviates, made from uniform ones by acceptance
// and rejection, and counted by square annuli. Each thread works in a buffer of its own.
#include <math.h>
#include <omp.h>
#include <stdint.h>

#include "kernel.h"
#include "pages.h"
#include "random.h"

enum { pairs_per_batch = 1 << 16, annuli = 10 };
static const uint64_t seed = 271828183;

static const int log2_pairs[sizes] = {24, 25, 28};
static const double official[sizes][2] = {{-3.247834652034740e+3, -6.958407078382297e+3},
                                          {-2.863319731645753e+3, -6.320053679109499e+3},
                                          {-4.295875165629892e+3, -1.580732573678431e+4}};

static const int64_t official_counts[sizes][annuli] = {{6140517, 5865300, 1100361, 68546, 1648, 17},
                                                       {12281576, 11729692, 2202726, 137368, 3371, 36},
                                                       {98257395, 93827014, 17611549, 1110028, 26536, 245}};

static int batches;
static double (*buffers)[2 * pairs_per_batch];
static double sum_x;
static double sum_y;
static int64_t counts[annuli];

static void prepare(enum size size, int threads) {
  batches = 1 << (log2_pairs[size] - 16);
  buffers = pages_allocate(threads, sizeof *buffers);
}

static void fill(double* uniform, int batch) {
  uint64_t state = random_after(seed, (uint64_t)batch * 2 * pairs_per_batch);
  for (int i = 0; i < 2 * pairs_per_batch; ++i) {
    uniform[i] = random_next(&state);
  }
}

static void iterate(int iteration) {
  (void)iteration;
  double x_total = 0;
  double y_total = 0;
  int64_t in_annulus[annuli] = {0};
#pragma omp parallel for schedule(static) reduction(+ : x_total, y_total, in_annulus)
  for (int batch = 0; batch < batches; ++batch) {
    double* uniform = buffers[omp_get_thread_num()];
    fill(uniform, batch);
    for (int pair = 0; pair < pairs_per_batch; ++pair) {
      const double x = 2 * uniform[2 * pair] - 1;
      const double y = 2 * uniform[2 * pair + 1] - 1;
      const double t = x * x + y * y;
      if (t <= 1) {
        const double factor = sqrt(-2 * log(t) / t);
        const double gauss_x = x * factor;
        const double gauss_y = y * factor;
        in_annulus[(int)fmax(fabs(gauss_x), fabs(gauss_y))] += 1;
        x_total += gauss_x;
        y_total += gauss_y;
      }
    }
  }
  sum_x = x_total;
  sum_y = y_total;
  for (int i = 0; i < annuli; ++i) {
    counts[i] = in_annulus[i];
  }
}

static void verify(enum size size, struct checks* checks) {
  checks_add(checks, sum_x, official[size][0], 1e-8, "sum of x");
  checks_add(checks, sum_y, official[size][1], 1e-8, "sum of y");
  for (int i = 0; i < annuli; ++i) {
    checks_add(checks, (double)counts[i], (double)official_counts[size][i], 0, "pairs in annulus %d", i);
  }
}

const struct kernel kernel_ep = {.name = "ep",
                                 .title = "pairs of Gaussian deviates",
                                 .iterations = {1, 1, 1},
                                 .prepare = prepare,
                                 .iterate = iterate,
                                 .verify = verify};
