// BT (chapter 3): the flow by an implicit scheme that is factored into the three directions (Beam and
// Warming), each a block tridiagonal system per line of points, with blocks of 5 by 5. Lines along z cross
// all threads' planes.
#include <stdint.h>

#include "flow.h"
#include "kernel.h"

static const struct {
  int n;
  double dt;
  double residuals[components];
  double errors[components];
} official[sizes] = {{12,
                      0.010,
                      {1.7034283709541311e-01, 1.2975252070034097e-02, 3.2527926989486055e-02,
                       2.6436421275166801e-02, 1.9211784131744430e-01},
                      {4.9976913345811579e-04, 4.5195666782961927e-05, 7.3973765172921357e-05,
                       7.3821238632439731e-05, 8.9269630987491446e-04}},
                     {24,
                      0.0008,
                      {0.1125590409344e+03, 0.1180007595731e+02, 0.2710329767846e+02, 0.2469174937669e+02,
                       0.2638427874317e+03},
                      {0.4419655736008e+01, 0.4638531260002e+00, 0.1011551749967e+01, 0.9235878729944e+00,
                       0.1018045837718e+02}},
                     {64,
                      0.0008,
                      {1.0806346714637264e+02, 1.1319730901220813e+01, 2.5974354511582465e+01,
                       2.3665622544678910e+01, 2.5278963211748344e+02},
                      {4.2348416040525025e+00, 4.4390282496995698e-01, 9.6692480136345650e-01,
                       8.8302063039765474e-01, 9.7379901770829278e+00}}};

static struct flow flow;

static void prepare(enum size size, int threads) {
  (void)threads;
  flow_prepare(&flow, official[size].n, official[size].dt);
}

// target -= matrix times `by`, a matrix of 5 columns.
static inline void subtract_product(double target[components][components],
                                    double matrix[components][components],
                                    double by[components][components]) {
  for (int m = 0; m < components; ++m) {
    for (int l = 0; l < components; ++l) {
      for (int c = 0; c < components; ++c) {
        target[m][c] -= matrix[m][l] * by[l][c];
      }
    }
  }
}

static inline void subtract_times(double target[components], double matrix[components][components],
                                  const double by[components]) {
  for (int m = 0; m < components; ++m) {
    for (int l = 0; l < components; ++l) {
      target[m] -= matrix[m][l] * by[l];
    }
  }
}

// Multiplies `right` and `vector` by the inverse of `matrix`, which is lost. No pivots: the diagonal
// dominates.
static inline void divide(double matrix[components][components], double right[components][components],
                          double vector[components]) {
  for (int pivot = 0; pivot < components; ++pivot) {
    const double inverse = 1 / matrix[pivot][pivot];
    for (int c = pivot + 1; c < components; ++c) {
      matrix[pivot][c] *= inverse;
    }
    for (int c = 0; c < components; ++c) {
      right[pivot][c] *= inverse;
    }
    vector[pivot] *= inverse;
    for (int m = 0; m < components; ++m) {
      if (m == pivot) {
        continue;
      }
      const double factor = matrix[m][pivot];
      for (int c = pivot + 1; c < components; ++c) {
        matrix[m][c] -= factor * matrix[pivot][c];
      }
      for (int c = 0; c < components; ++c) {
        right[m][c] -= factor * right[pivot][c];
      }
      vector[m] -= factor * vector[pivot];
    }
  }
}

// Solves the system of one line for its rhs, in place. The changes on the faces, at both ends, are 0.
static void solve_line(int64_t start, int direction) {
  const int64_t step = flow_stride(&flow, direction) * components;
  const double a = flow.dt * flow.t2;
  const double b = flow.dt * flow.t1;
  double above[flow_max][components][components];
  for (int i = 1; i < flow.n - 1; ++i) {
    const int64_t p = start * components + i * step;
    double* rhs = &flow.rhs[p];
    double here[components][components];
    flow_jacobian(&flow.u[p], direction, 0, 2 * b, here);
    for (int m = 0; m < components; ++m) {
      here[m][m] += 1;
    }
    flow_jacobian(&flow.u[p + step], direction, a, -b, above[i]);
    if (i > 1) {
      double below[components][components];
      flow_jacobian(&flow.u[p - step], direction, -a, -b, below);
      subtract_times(rhs, below, rhs - step);
      subtract_product(here, below, above[i - 1]);
    }
    divide(here, above[i], rhs);
  }
  for (int i = flow.n - 3; i >= 1; --i) {
    double* rhs = &flow.rhs[start * components + i * step];
    subtract_times(rhs, above[i], rhs + step);
  }
}

static void iterate(int iteration) {
  (void)iteration;
  const int n = flow.n;
  flow_right_side(&flow, flow.dt);
#pragma omp parallel for schedule(static)
  for (int k = 1; k < n - 1; ++k) {
    for (int j = 1; j < n - 1; ++j) {
      solve_line(flow_at(&flow, k, j, 0), 0);
    }
    for (int i = 1; i < n - 1; ++i) {
      solve_line(flow_at(&flow, k, 0, i), 1);
    }
  }
#pragma omp parallel for schedule(static)
  for (int j = 1; j < n - 1; ++j) {
    for (int i = 1; i < n - 1; ++i) {
      solve_line(flow_at(&flow, 0, j, i), 2);
    }
  }
#pragma omp parallel for schedule(static)
  for (int k = 1; k < n - 1; ++k) {
    for (int64_t p = flow_at(&flow, k, 0, 0) * components; p < flow_at(&flow, k + 1, 0, 0) * components;
         ++p) {
      flow.u[p] += flow.rhs[p];
    }
  }
}

static void verify(enum size size, struct checks* checks) {
  flow_verify(&flow, official[size].residuals, official[size].errors, checks);
}

const struct kernel kernel_bt = {.name = "bt",
                                 .title = "a flow, by block tridiagonal systems",
                                 .iterations = {60, 200, 200},
                                 .prepare = prepare,
                                 .iterate = iterate,
                                 .verify = verify};
