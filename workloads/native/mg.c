// MG, multigrid (chapter 2): V-cycles for the Poisson equation on a periodic cube. Grids have a layer of
// ghost points around them, and each is worked on by planes.
#include <math.h>
#include <stdint.h>

#include "kernel.h"
#include "pages.h"
#include "random.h"

enum { levels_max = 8, charges = 10 };
static const uint64_t seed = 314159265;

static const int log2_points[sizes] = {5, 7, 8};
static const double official[sizes] = {0.5307707005734e-04, 0.6467329375339e-05, 0.2433365309069e-05};

// What a stencil multiplies a point, its 6 neighbours of a face, the 12 of an edge and the 8 of a corner
// with.
struct stencil {
  double centre, face, edge, corner;
};
static const struct stencil residual_of = {8.0 / 3, 0, -1.0 / 6, -1.0 / 12};  // -A
static const struct stencil smoother = {-3.0 / 8, 1.0 / 32, -1.0 / 64, 0};    // S, of classes S, W and A

static int top;
static double* solution[levels_max + 1];  // u at the top, z below
static double* residual[levels_max + 1];
static double* right_side;

static int side(int level) { return (1 << level) + 2; }

// The ghosts are the points of the opposite side.
static void wrap(double* grid, int level) {
  const int m = side(level);
  double(*g)[m][m] = (double(*)[m][m])grid;
#pragma omp parallel for schedule(static)
  for (int k = 1; k < m - 1; ++k) {
    for (int j = 1; j < m - 1; ++j) {
      g[k][j][0] = g[k][j][m - 2];
      g[k][j][m - 1] = g[k][j][1];
    }
    for (int i = 0; i < m; ++i) {
      g[k][0][i] = g[k][m - 2][i];
      g[k][m - 1][i] = g[k][1][i];
    }
  }
#pragma omp parallel for schedule(static)
  for (int j = 0; j < m; ++j) {
    for (int i = 0; i < m; ++i) {
      g[0][j][i] = g[m - 2][j][i];
      g[m - 1][j][i] = g[1][j][i];
    }
  }
}

// out = base + stencil applied to `in`. `out` may be `base`.
static void apply(double* out_grid, const double* base_grid, const double* in_grid, struct stencil by,
                  int level) {
  const int m = side(level);
  double(*out)[m][m] = (double(*)[m][m])out_grid;
  const double(*base)[m][m] = (const double(*)[m][m])base_grid;
  const double(*in)[m][m] = (const double(*)[m][m])in_grid;
#pragma omp parallel for schedule(static)
  for (int k = 1; k < m - 1; ++k) {
    for (int j = 1; j < m - 1; ++j) {
      double faces[(1 << levels_max) + 2];  // sums over the neighbours of a point in its plane across i
      double edges[(1 << levels_max) + 2];
      for (int i = 0; i < m; ++i) {
        faces[i] = in[k][j - 1][i] + in[k][j + 1][i] + in[k - 1][j][i] + in[k + 1][j][i];
        edges[i] = in[k - 1][j - 1][i] + in[k - 1][j + 1][i] + in[k + 1][j - 1][i] + in[k + 1][j + 1][i];
      }
      for (int i = 1; i < m - 1; ++i) {
        out[k][j][i] = base[k][j][i] + by.centre * in[k][j][i] +
                       by.face * (in[k][j][i - 1] + in[k][j][i + 1] + faces[i]) +
                       by.edge * (faces[i - 1] + faces[i + 1] + edges[i]) +
                       by.corner * (edges[i - 1] + edges[i + 1]);
      }
    }
  }
  wrap(out_grid, level);
}

// P: the residual of a level from that of the next finer one, a weighted mean around every other point.
static void restrict_residual(int level) {
  const int m = side(level);
  const int fine = side(level + 1);
  double(*out)[m][m] = (double(*)[m][m])residual[level];
  const double(*in)[fine][fine] = (const double(*)[fine][fine])residual[level + 1];
#pragma omp parallel for schedule(static)
  for (int k = 1; k < m - 1; ++k) {
    for (int j = 1; j < m - 1; ++j) {
      double faces[(1 << levels_max) + 2];
      double edges[(1 << levels_max) + 2];
      const int kk = 2 * k;
      const int jj = 2 * j;
      for (int i = 1; i < fine; ++i) {
        faces[i] = in[kk][jj - 1][i] + in[kk][jj + 1][i] + in[kk - 1][jj][i] + in[kk + 1][jj][i];
        edges[i] =
            in[kk - 1][jj - 1][i] + in[kk - 1][jj + 1][i] + in[kk + 1][jj - 1][i] + in[kk + 1][jj + 1][i];
      }
      for (int i = 1; i < m - 1; ++i) {
        const int ii = 2 * i;
        out[k][j][i] = in[kk][jj][ii] / 2 + (in[kk][jj][ii - 1] + in[kk][jj][ii + 1] + faces[ii]) / 4 +
                       (faces[ii - 1] + faces[ii + 1] + edges[ii]) / 8 + (edges[ii - 1] + edges[ii + 1]) / 16;
      }
    }
  }
  wrap(residual[level], level);
}

// Q: adds the solution of the next coarser level, interpolated. A fine point lies on a coarse one in each
// direction or halfway between two.
static void interpolate(int level) {
  const int m = side(level);
  const int coarse = side(level - 1);
  double(*out)[m][m] = (double(*)[m][m])solution[level];
  const double(*in)[coarse][coarse] = (const double(*)[coarse][coarse])solution[level - 1];
#pragma omp parallel for schedule(static)
  for (int k = 1; k < m - 1; ++k) {
    for (int j = 1; j < m - 1; ++j) {
      double line[(1 << (levels_max - 1)) + 2];
      for (int i = 0; i < coarse; ++i) {
        line[i] = (in[k / 2][j / 2][i] + in[(k + 1) / 2][j / 2][i] + in[k / 2][(j + 1) / 2][i] +
                   in[(k + 1) / 2][(j + 1) / 2][i]) /
                  4;
      }
      for (int i = 1; i < m - 1; ++i) {
        out[k][j][i] += (line[i / 2] + line[(i + 1) / 2]) / 2;
      }
    }
  }
  wrap(solution[level], level);
}

static void clear(double* grid, int level) {
  const int m = side(level);
#pragma omp parallel for schedule(static)
  for (int k = 0; k < m; ++k) {
    for (int64_t i = 0; i < (int64_t)m * m; ++i) {
      grid[(int64_t)k * m * m + i] = 0;
    }
  }
}

// A point of the top grid, and its random number.
struct point {
  double value;
  int k, j, i;
};

// Puts a point into a list that is sorted by values times `sign`, the largest first; the last one falls out.
static void insert(struct point list[charges], struct point point, int sign) {
  if (sign * point.value <= sign * list[charges - 1].value) {
    return;
  }
  int at = charges - 1;
  for (; at > 0 && sign * point.value > sign * list[at - 1].value; --at) {
    list[at] = list[at - 1];
  }
  list[at] = point;
}

// +1 at the ten points with the largest of random numbers, -1 at the ten with the smallest.
static void place_charges(void) {
  const int m = side(top);
  double(*v)[m][m] = (double(*)[m][m])right_side;
  struct point largest[charges];
  struct point smallest[charges];
  for (int c = 0; c < charges; ++c) {
    largest[c].value = 0;
    smallest[c].value = 1;
  }
  uint64_t state = seed;
  for (int k = 1; k < m - 1; ++k) {
    for (int j = 1; j < m - 1; ++j) {
      for (int i = 1; i < m - 1; ++i) {
        const struct point point = {random_next(&state), k, j, i};
        insert(largest, point, 1);
        insert(smallest, point, -1);
      }
    }
  }
  for (int c = 0; c < charges; ++c) {
    v[largest[c].k][largest[c].j][largest[c].i] = 1;
    v[smallest[c].k][smallest[c].j][smallest[c].i] = -1;
  }
  wrap(right_side, top);
}

static double* allocate_grid(int level) {
  const int m = side(level);
  return pages_allocate((int64_t)m * m * m, sizeof(double));
}

static void prepare(enum size size, int threads) {
  (void)threads;
  top = log2_points[size];
  for (int level = 1; level <= top; ++level) {
    solution[level] = allocate_grid(level);
    residual[level] = allocate_grid(level);
  }
  right_side = allocate_grid(top);
  place_charges();
  apply(residual[top], right_side, solution[top], residual_of, top);
}

static void iterate(int iteration) {
  (void)iteration;
  for (int level = top - 1; level >= 1; --level) {
    restrict_residual(level);
  }
  clear(solution[1], 1);
  apply(solution[1], solution[1], residual[1], smoother, 1);
  for (int level = 2; level < top; ++level) {
    clear(solution[level], level);
    interpolate(level);
    apply(residual[level], residual[level], solution[level], residual_of, level);
    apply(solution[level], solution[level], residual[level], smoother, level);
  }
  interpolate(top);
  apply(residual[top], right_side, solution[top], residual_of, top);
  apply(solution[top], solution[top], residual[top], smoother, top);
  apply(residual[top], right_side, solution[top], residual_of, top);
}

static void verify(enum size size, struct checks* checks) {
  const int m = side(top);
  const double(*r)[m][m] = (const double(*)[m][m])residual[top];
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int k = 1; k < m - 1; ++k) {
    for (int j = 1; j < m - 1; ++j) {
      for (int i = 1; i < m - 1; ++i) {
        sum += r[k][j][i] * r[k][j][i];
      }
    }
  }
  checks_add(checks, sqrt(sum / pow(m - 2, 3)), official[size], 1e-8, "norm of the residual");
}

const struct kernel kernel_mg = {.name = "mg",
                                 .title = "multigrid for the Poisson equation",
                                 .iterations = {4, 4, 4},
                                 .prepare = prepare,
                                 .iterate = iterate,
                                 .verify = verify};
