// CG, conjugate gradient (chapter 2): the smallest eigenvalue of a large sparse symmetric matrix by inverse
// iteration, each step solved with 25 rounds of the method of conjugate gradients. Reads a vector at random
// places.
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernel.h"
#include "pages.h"
#include "random.h"
#include "report.h"

enum { rounds = 25 };
static const uint64_t seed = 314159265;
static const double condition = 0.1;  // the inverse of the matrix's condition number

static const struct {
  int order;
  int nonzeros;  // of each random vector that the matrix is made of
  double shift;
  double zeta;
} official[sizes] = {
    {1400, 7, 10, 8.5971775078648}, {7000, 8, 12, 10.362595087124}, {14000, 11, 20, 17.130235054029}};

static int order;
static double shift;
static double zeta;
// The matrix by rows: those of row i are from row_start[i] to row_start[i + 1].
static int* row_start;
static int* column;
static double* value;
static double *x, *z, *p, *q, *r;

struct entry {
  int column;
  int source;  // entries of one place are added up in the order of the vectors they come from
  double value;
};

// A sparse vector of the matrix's outer products.
struct sparse {
  int count;
  int* at;
  double* value;
};

static void* allocate(size_t count, size_t size) {
  void* memory = calloc(count, size);
  if (memory == NULL) {
    fprintf(stderr, "memgraft-kernels: no memory for %zu times %zu bytes; choose a smaller class\n", count,
            size);
    exit(code_lacking);
  }
  return memory;
}

static int place(const struct sparse* vector, int at) {
  int i = 0;
  while (i < vector->count && vector->at[i] != at) {
    ++i;
  }
  return i;
}

// `nonzeros` random elements at different random places; then the one at `own` is 1/2.
static void draw(struct sparse* vector, int nonzeros, int own, uint64_t* state) {
  int power = 1;
  while (power < order) {
    power *= 2;
  }
  vector->count = 0;
  while (vector->count < nonzeros) {
    const double element = random_next(state);
    const int at = (int)(power * random_next(state));
    if (at < order && place(vector, at) == vector->count) {
      vector->at[vector->count] = at;
      vector->value[vector->count++] = element;
    }
  }
  const int i = place(vector, own);
  vector->at[i] = own;
  vector->value[i] = 0.5;
  vector->count += i == vector->count;
}

static int by_column(const void* left, const void* right) {
  const struct entry* a = left;
  const struct entry* b = right;
  return a->column != b->column ? a->column - b->column : a->source - b->source;
}

// Adds up entries of the same column, and returns how many are left.
static int merge(struct entry* entries, int count) {
  qsort(entries, (size_t)count, sizeof *entries, by_column);
  int last = 0;
  for (int i = 1; i < count; ++i) {
    if (entries[i].column == entries[last].column) {
      entries[last].value += entries[i].value;
    } else {
      entries[++last] = entries[i];
    }
  }
  return last + 1;
}

// The sum of w[i] v[i] v[i]^T over all vectors v, w falling from 1 to `condition`, and on the diagonal
// `condition` minus the shift.
static void make_matrix(int nonzeros) {
  const int width = nonzeros + 1;
  struct sparse* vectors = allocate((size_t)order, sizeof *vectors);
  int* all_at = allocate((size_t)order * (size_t)width, sizeof *all_at);
  double* all_values = allocate((size_t)order * (size_t)width, sizeof *all_values);
  int* end = allocate((size_t)order + 1, sizeof *end);
  uint64_t state = random_after(seed, 1);
  for (int i = 0; i < order; ++i) {
    vectors[i].at = &all_at[(int64_t)i * width];
    vectors[i].value = &all_values[(int64_t)i * width];
    draw(&vectors[i], nonzeros, i, &state);
    for (int a = 0; a < vectors[i].count; ++a) {
      end[vectors[i].at[a] + 1] += vectors[i].count;
    }
  }
  for (int i = 0; i < order; ++i) {
    end[i + 1] += end[i] + 1;  // one more for the diagonal
  }
  struct entry* entries = allocate((size_t)end[order], sizeof *entries);
  int* filled = allocate((size_t)order, sizeof *filled);
  for (int i = 0; i < order; ++i) {
    const double weight = pow(condition, (double)i / order);
    const struct sparse* v = &vectors[i];
    for (int a = 0; a < v->count; ++a) {
      const int row = v->at[a];
      for (int b = 0; b < v->count; ++b) {
        entries[end[row] + filled[row]++] = (struct entry){v->at[b], i, weight * v->value[a] * v->value[b]};
      }
    }
    entries[end[i] + filled[i]++] = (struct entry){i, i, condition - shift};
  }
  row_start = pages_allocate(order + 1, sizeof *row_start);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < order; ++i) {
    row_start[i + 1] = merge(&entries[end[i]], filled[i]);
  }
  for (int i = 0; i < order; ++i) {
    row_start[i + 1] += row_start[i];
  }
  column = pages_allocate(row_start[order], sizeof *column);
  value = pages_allocate(row_start[order], sizeof *value);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < order; ++i) {
    for (int k = row_start[i]; k < row_start[i + 1]; ++k) {
      column[k] = entries[end[i] + k - row_start[i]].column;
      value[k] = entries[end[i] + k - row_start[i]].value;
    }
  }
  free(filled);
  free(entries);
  free(end);
  free(all_values);
  free(all_at);
  free(vectors);
}

static void prepare(enum size size, int threads) {
  (void)threads;
  order = official[size].order;
  shift = official[size].shift;
  make_matrix(official[size].nonzeros);
  double** const vectors[] = {&x, &z, &p, &q, &r};
  for (int i = 0; i < 5; ++i) {
    *vectors[i] = pages_allocate(order, sizeof(double));
  }
#pragma omp parallel for schedule(static)
  for (int i = 0; i < order; ++i) {
    x[i] = 1;
  }
}

// One row of the matrix times a vector.
static double row_times(int row, const double* vector) {
  double sum = 0;
  for (int k = row_start[row]; k < row_start[row + 1]; ++k) {
    sum += value[k] * vector[column[k]];
  }
  return sum;
}

// Solves A z = x, as well as `rounds` rounds can.
static void solve(void) {
  double rho = 0;
#pragma omp parallel for schedule(static) reduction(+ : rho)
  for (int i = 0; i < order; ++i) {
    z[i] = 0;
    r[i] = x[i];
    p[i] = x[i];
    rho += x[i] * x[i];
  }
  for (int round = 0; round < rounds; ++round) {
    double p_times_q = 0;
#pragma omp parallel for schedule(static) reduction(+ : p_times_q)
    for (int i = 0; i < order; ++i) {
      q[i] = row_times(i, p);
      p_times_q += p[i] * q[i];
    }
    const double alpha = rho / p_times_q;
    const double before = rho;
    rho = 0;
#pragma omp parallel for schedule(static) reduction(+ : rho)
    for (int i = 0; i < order; ++i) {
      z[i] += alpha * p[i];
      r[i] -= alpha * q[i];
      rho += r[i] * r[i];
    }
    const double beta = rho / before;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < order; ++i) {
      p[i] = r[i] + beta * p[i];
    }
  }
}

static void iterate(int iteration) {
  (void)iteration;
  solve();
  double x_times_z = 0;
  double z_times_z = 0;
#pragma omp parallel for schedule(static) reduction(+ : x_times_z, z_times_z)
  for (int i = 0; i < order; ++i) {
    x_times_z += x[i] * z[i];
    z_times_z += z[i] * z[i];
  }
  zeta = shift + 1 / x_times_z;
  const double scale = 1 / sqrt(z_times_z);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < order; ++i) {
    x[i] = scale * z[i];
  }
}

static void verify(enum size size, struct checks* checks) {
  checks_add(checks, zeta, official[size].zeta, 1e-10, "zeta");
}

const struct kernel kernel_cg = {.name = "cg",
                                 .title = "an eigenvalue of a sparse matrix",
                                 .iterations = {15, 15, 15},
                                 .prepare = prepare,
                                 .iterate = iterate,
                                 .verify = verify};
