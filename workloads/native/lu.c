// LU (chapter 3): the flow by symmetric successive over-relaxation: one sweep over all points from one corner
// to the opposite one, and one back. A point needs its neighbours before it in the sweep, so threads have
// blocks of rows, and go through the planes as a pipeline: each is one plane behind the thread before it.
#include <math.h>
#include <omp.h>
#include <stdint.h>

#include "flow.h"
#include "kernel.h"

static const double omega = 1.2;

static const struct {
  int n;
  double dt;
  double residuals[components];
  double errors[components];
  double integral;
} official[sizes] = {{12,
                      0.5,
                      {1.6196343210976702e-02, 2.1976745164821318e-03, 1.5179927653399185e-03,
                       1.5029584435994323e-03, 3.4264073155896461e-02},
                      {6.4223319957960924e-04, 8.4144342047347926e-05, 5.8588269616485186e-05,
                       5.8474222595157350e-05, 1.3103347914111294e-03},
                      7.8418928865937083e+00},
                     {33,
                      0.0015,
                      {0.1236511638192e+02, 0.1317228477799e+01, 0.2550120713095e+01, 0.2326187750252e+01,
                       0.2826799444189e+02},
                      {0.4867877144216e+00, 0.5064652880982e-01, 0.9281818101960e-01, 0.8570126542733e-01,
                       0.1084277417792e+01},
                      0.1161399311023e+02},
                     {64,
                      2.0,
                      {7.7902107606689367e+02, 6.3402765259692870e+01, 1.9499249727292479e+02,
                       1.7845301160418537e+02, 1.8384760349464247e+03},
                      {2.9964085685471943e+01, 2.8194576365003349e+00, 7.3473412698774742e+00,
                       6.7139225687777051e+00, 7.0715315688392578e+01},
                      2.6030925604886277e+01}};

static struct flow flow;

static void prepare(enum size size, int threads) {
  (void)threads;
  flow_prepare(&flow, official[size].n, official[size].dt);
  flow_right_side(&flow, flow.dt);
}

// Solves matrix x = vector, in place. No pivots: the diagonal dominates.
static inline void divide(double matrix[components][components], double vector[components]) {
  for (int pivot = 0; pivot < components; ++pivot) {
    const double inverse = 1 / matrix[pivot][pivot];
    for (int m = pivot + 1; m < components; ++m) {
      const double factor = matrix[m][pivot] * inverse;
      for (int c = pivot + 1; c < components; ++c) {
        matrix[m][c] -= factor * matrix[pivot][c];
      }
      vector[m] -= factor * vector[pivot];
    }
  }
  for (int m = components - 1; m >= 0; --m) {
    for (int c = m + 1; c < components; ++c) {
      vector[m] -= matrix[m][c] * vector[c];
    }
    vector[m] /= matrix[m][m];
  }
}

// Updates a point from its neighbours before it in the sweep: below it in the one up (`sign` -1), above it in
// the one down (1).
static inline void update(int64_t point, int sign) {
  const double a = sign * flow.dt * flow.t2;
  const double b = flow.dt * flow.t1;
  double* rhs = &flow.rhs[point * components];
  double sum[components] = {0};
  double diagonal[components][components] = {{0}};
  for (int d = 0; d < 3; ++d) {
    const int64_t neighbour = (point + sign * flow_stride(&flow, d)) * components;
    double block[components][components];
    flow_jacobian(&flow.u[neighbour], d, a, -b, block);
    for (int m = 0; m < components; ++m) {
      for (int c = 0; c < components; ++c) {
        sum[m] += block[m][c] * flow.rhs[neighbour + c];
      }
    }
    flow_jacobian(&flow.u[point * components], d, 0, 2 * b, block);
    for (int m = 0; m < components; ++m) {
      for (int c = 0; c < components; ++c) {
        diagonal[m][c] += block[m][c];
      }
    }
  }
  for (int m = 0; m < components; ++m) {
    diagonal[m][m] += 1;
  }
  if (sign < 0) {
    for (int m = 0; m < components; ++m) {
      rhs[m] -= omega * sum[m];
    }
    divide(diagonal, rhs);
  } else {
    divide(diagonal, sum);
    for (int m = 0; m < components; ++m) {
      rhs[m] -= omega * sum[m];
    }
  }
}

// Rows of plane `k`: those of a place in the pipeline. The planes, rows and points of the sweep down count
// from the far corner.
static void update_rows(int k, int place, int places, int sign) {
  const int inner = flow.n - 2;
  const int last = flow.n - 1;
  for (int j = 1 + inner * place / places; j < 1 + inner * (place + 1) / places; ++j) {
    for (int i = 1; i <= inner; ++i) {
      update(sign < 0 ? flow_at(&flow, k, j, i) : flow_at(&flow, last - k, last - j, last - i), sign);
    }
  }
}

static void sweep(int sign) {
  const int inner = flow.n - 2;
#pragma omp parallel
  {
    const int thread = omp_get_thread_num();
    const int places = omp_get_num_threads() < inner ? omp_get_num_threads() : inner;
    // Both sweeps of a thread are over about the same rows.
    const int place = sign < 0 ? thread : places - 1 - thread;
    for (int step = 0; step < inner + places - 1; ++step) {
      const int k = 1 + step - place;
      if (thread < places && k >= 1 && k <= inner) {
        update_rows(k, place, places, sign);
      }
#pragma omp barrier
    }
  }
}

static void iterate(int iteration) {
  (void)iteration;
  sweep(-1);
  sweep(1);
  const int n = flow.n;
  const double scale = 1 / (omega * (2 - omega));
#pragma omp parallel for schedule(static)
  for (int k = 1; k < n - 1; ++k) {
    for (int64_t p = flow_at(&flow, k, 0, 0) * components; p < flow_at(&flow, k + 1, 0, 0) * components;
         ++p) {
      flow.u[p] += scale * flow.rhs[p];
    }
  }
  flow_right_side(&flow, flow.dt);
}

static double pressure(const int at[3]) {
  const double* u = &flow.u[flow_at(&flow, at[2], at[1], at[0]) * components];
  return FLOW_C2 * (u[4] - (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / (2 * u[0]));
}

// The integral of the pressure over the surface of a box within the cube, by the trapezoidal rule.
static double surface_integral(void) {
  const int first[3] = {1, 1, 2};
  const int last[3] = {flow.n - 2, flow.n - 3, flow.n - 2};
  double sum = 0;
  for (int d = 0; d < 3; ++d) {
    const int a = (d + 1) % 3;
    const int b = (d + 2) % 3;
    for (int p = first[a]; p < last[a]; ++p) {
      for (int q = first[b]; q < last[b]; ++q) {
        for (int corner = 0; corner < 8; ++corner) {
          int at[3];
          at[d] = corner & 4 ? last[d] : first[d];
          at[a] = p + (corner & 1);
          at[b] = q + (corner >> 1 & 1);
          sum += pressure(at);
        }
      }
    }
  }
  return sum / 4 / flow.t1;
}

static void verify(enum size size, struct checks* checks) {
  flow_verify(&flow, official[size].residuals, official[size].errors, checks);
  checks_add(checks, surface_integral(), official[size].integral, 1e-8, "surface integral");
}

const struct kernel kernel_lu = {.name = "lu",
                                 .title = "a flow, by symmetric successive over-relaxation",
                                 .iterations = {50, 300, 250},
                                 .prepare = prepare,
                                 .iterate = iterate,
                                 .verify = verify};
