#include "flow.h"

#include <math.h>

#include "pages.h"

// The polynomial of the exact solution: a constant, and for each direction the factors of its first to fourth
// power (the specification's table C, where the directions alternate).
static const struct {
  double constant;
  double power[3][4];
} polynomial[components] = {{2, {{0, 5, 0.02, 0.5}, {0, 3, 0.01, 0.4}, {4, 0.5, 0.03, 0.3}}},
                            {1, {{0, 1, 0.01, 0.4}, {0, 2, 0.03, 0.3}, {0, 3, 0.02, 0.5}}},
                            {2, {{2, 0, 0.04, 0.3}, {0, 2, 0.03, 0.5}, {0, 3, 0.05, 0.4}}},
                            {2, {{2, 0, 0.03, 0.2}, {0, 2, 0.05, 0.1}, {0, 3, 0.04, 0.3}}},
                            {5, {{4, 0.1, 0.05, 0.1}, {3, 0.4, 0.04, 0.3}, {2, 0.3, 0.03, 0.2}}}};

void flow_exact(const struct flow* flow, int k, int j, int i, double exact[components]) {
  const double h = 1.0 / (flow->n - 1);
  const double at[3] = {i * h, j * h, k * h};
  for (int m = 0; m < components; ++m) {
    exact[m] = polynomial[m].constant;
    for (int d = 0; d < 3; ++d) {
      const double* power = polynomial[m].power[d];
      exact[m] += at[d] * (power[0] + at[d] * (power[1] + at[d] * (power[2] + at[d] * power[3])));
    }
  }
}

// Between the exact values of the faces: by Boolean sums of linear interpolations along each direction.
static void interpolate_faces(const struct flow* flow, int k, int j, int i, double u[components]) {
  const int last = flow->n - 1;
  const double weight[3] = {(double)i / last, (double)j / last, (double)k / last};
  double along[3][components];
  for (int d = 0; d < 3; ++d) {
    double low[components];
    double high[components];
    flow_exact(flow, d == 2 ? 0 : k, d == 1 ? 0 : j, d == 0 ? 0 : i, low);
    flow_exact(flow, d == 2 ? last : k, d == 1 ? last : j, d == 0 ? last : i, high);
    for (int m = 0; m < components; ++m) {
      along[d][m] = (1 - weight[d]) * low[m] + weight[d] * high[m];
    }
  }
  for (int m = 0; m < components; ++m) {
    const double x = along[0][m];
    const double y = along[1][m];
    const double z = along[2][m];
    u[m] = x + y + z - x * y - y * z - z * x + x * y * z;
  }
}

static int on_face(const struct flow* flow, int k, int j, int i) {
  const int last = flow->n - 1;
  return k == 0 || j == 0 || i == 0 || k == last || j == last || i == last;
}

static void derive(struct flow* flow) {
  const int n = flow->n;
#pragma omp parallel for schedule(static)
  for (int k = 0; k < n; ++k) {
    for (int64_t p = flow_at(flow, k, 0, 0); p < flow_at(flow, k + 1, 0, 0); ++p) {
      const double* u = &flow->u[p * components];
      struct derived* w = &flow->derived[p];
      const double inverse = 1 / u[0];
      w->kinetic = 0;
      for (int d = 0; d < 3; ++d) {
        w->velocity[d] = u[1 + d] * inverse;
        w->kinetic += w->velocity[d] * w->velocity[d] / 2;
      }
      w->specific = u[4] * inverse;
      w->pressure = FLOW_C2 * (u[4] - u[0] * w->kinetic);
    }
  }
}

// Second difference.
static inline double bend(double before, double here, double after) { return before - 2 * here + after; }

// The convective and viscous terms of one direction at a point, `s` being the stride to its neighbours there.
static inline void add_fluxes(const struct flow* flow, int64_t p, int d, int64_t s, double sum[components]) {
  const double* u = &flow->u[p * components];
  const double* below = u - s * components;
  const double* above = u + s * components;
  const struct derived* w = &flow->derived[p];
  const struct derived* w0 = w - s;
  const struct derived* w1 = w + s;
  const double viscous = FLOW_C3 * FLOW_C4 * flow->t1;
  const double thermal = FLOW_C1 * FLOW_C5;
  const double v0 = w0->velocity[d];
  const double v1 = w1->velocity[d];
  for (int m = 0; m < components; ++m) {
    sum[m] += flow_diffusion[d] * flow->t1 * bend(below[m], u[m], above[m]);
  }
  sum[0] -= flow->t2 * (above[1 + d] - below[1 + d]);
  for (int m = 0; m < 3; ++m) {
    sum[1 + m] += viscous * (m == d ? 4.0 / 3 : 1) * bend(w0->velocity[m], w->velocity[m], w1->velocity[m]) -
                  flow->t2 * (above[1 + m] * v1 - below[1 + m] * v0);
  }
  sum[1 + d] -= flow->t2 * (w1->pressure - w0->pressure);
  sum[4] += viscous * ((1 - thermal) * bend(w0->kinetic, w->kinetic, w1->kinetic) +
                       bend(v0 * v0, w->velocity[d] * w->velocity[d], v1 * v1) / 6 +
                       thermal * bend(w0->specific, w->specific, w1->specific)) -
            flow->t2 * ((above[4] + w1->pressure) * v1 - (below[4] + w0->pressure) * v0);
}

// Fourth differences; next to a face, what lies behind it is left out.
static inline void add_dissipation(const struct flow* flow, int64_t p, int at, int64_t s,
                                   double sum[components]) {
  const double* u = &flow->u[p * components];
  const int64_t step = s * components;
  const int last = flow->n - 1;
  for (int m = 0; m < components; ++m) {
    double fourth = (at == 1 || at == last - 1 ? 5 : 6) * u[m];
    fourth += at > 1 ? -4 * u[m - step] : 0;
    fourth += at > 2 ? u[m - 2 * step] : 0;
    fourth += at < last - 1 ? -4 * u[m + step] : 0;
    fourth += at < last - 2 ? u[m + 2 * step] : 0;
    sum[m] -= flow->dissipation * fourth;
  }
}

void flow_right_side(struct flow* flow, double scale) {
  derive(flow);
  const int n = flow->n;
#pragma omp parallel for schedule(static)
  for (int k = 1; k < n - 1; ++k) {
    for (int j = 1; j < n - 1; ++j) {
      for (int i = 1; i < n - 1; ++i) {
        const int64_t p = flow_at(flow, k, j, i);
        double sum[components];
        for (int m = 0; m < components; ++m) {
          sum[m] = flow->forcing[p * components + m];
        }
        add_fluxes(flow, p, 0, 1, sum);
        add_fluxes(flow, p, 1, n, sum);
        add_fluxes(flow, p, 2, (int64_t)n * n, sum);
        add_dissipation(flow, p, i, 1, sum);
        add_dissipation(flow, p, j, n, sum);
        add_dissipation(flow, p, k, (int64_t)n * n, sum);
        for (int m = 0; m < components; ++m) {
          flow->rhs[p * components + m] = scale * sum[m];
        }
      }
    }
  }
}

// The source that balances the equations at the exact solution.
static void prepare_forcing(struct flow* flow) {
  const int n = flow->n;
#pragma omp parallel for schedule(static)
  for (int k = 0; k < n; ++k) {
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        flow_exact(flow, k, j, i, &flow->u[flow_at(flow, k, j, i) * components]);
      }
    }
  }
  flow_right_side(flow, -1);
#pragma omp parallel for schedule(static)
  for (int k = 0; k < n; ++k) {
    for (int64_t p = flow_at(flow, k, 0, 0) * components; p < flow_at(flow, k + 1, 0, 0) * components; ++p) {
      flow->forcing[p] = flow->rhs[p];
    }
  }
}

void flow_prepare(struct flow* flow, int n, double dt) {
  const int64_t points = (int64_t)n * n * n;
  flow->n = n;
  flow->dt = dt;
  flow->t1 = (double)(n - 1) * (n - 1);
  flow->t2 = (n - 1) / 2.0;
  flow->dissipation = fmax(flow_diffusion[0], fmax(flow_diffusion[1], flow_diffusion[2])) / 4;
  flow->u = pages_allocate(points * components, sizeof(double));
  flow->rhs = pages_allocate(points * components, sizeof(double));
  flow->forcing = pages_allocate(points * components, sizeof(double));
  flow->derived = pages_allocate(points, sizeof(struct derived));
  prepare_forcing(flow);
#pragma omp parallel for schedule(static)
  for (int k = 0; k < n; ++k) {
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        double* u = &flow->u[flow_at(flow, k, j, i) * components];
        if (on_face(flow, k, j, i)) {
          flow_exact(flow, k, j, i, u);
        } else {
          interpolate_faces(flow, k, j, i, u);
        }
      }
    }
  }
}

void flow_jacobian(const double u[components], int direction, double a, double b,
                   double block[components][components]) {
  const int d = direction;
  const double inverse = 1 / u[0];
  const double v[3] = {u[1] * inverse, u[2] * inverse, u[3] * inverse};
  const double kinetic = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / 2;
  const double enthalpy = FLOW_C1 * u[4] * inverse;
  const double viscous = b * FLOW_C3 * FLOW_C4 * inverse;
  const double thermal = FLOW_C1 * FLOW_C5;
  for (int m = 0; m < components; ++m) {
    block[0][m] = m == 1 + d ? a : 0;
  }
  for (int m = 0; m < 3; ++m) {
    const double stretch = viscous * (m == d ? 4.0 / 3 : 1);
    double* row = block[1 + m];
    row[0] = -a * v[m] * v[d] - stretch * v[m];
    for (int l = 0; l < 3; ++l) {
      row[1 + l] = m == l ? a * v[d] + stretch : 0;
    }
    row[1 + d] += a * v[m];
    row[4] = 0;
  }
  block[1 + d][0] += a * FLOW_C2 * kinetic;
  block[1 + d][4] = a * FLOW_C2;
  double* energy = block[4];
  energy[0] = a * v[d] * (2 * FLOW_C2 * kinetic - enthalpy) -
              viscous * ((1 - thermal) * 2 * kinetic + v[d] * v[d] / 3 + thermal * u[4] * inverse);
  for (int l = 0; l < 3; ++l) {
    block[1 + d][1 + l] -= a * FLOW_C2 * v[l];
    energy[1 + l] = -a * FLOW_C2 * v[d] * v[l] + viscous * (1 - thermal) * v[l];
  }
  energy[1 + d] += a * (enthalpy - FLOW_C2 * kinetic) + viscous * v[d] / 3;
  energy[4] = a * FLOW_C1 * v[d] + viscous * thermal;
  for (int m = 0; m < components; ++m) {
    block[m][m] += b * flow_diffusion[d];
  }
}

void flow_verify(struct flow* flow, const double residuals[components], const double errors[components],
                 struct checks* checks) {
  static const char* const names[components] = {"density", "x momentum", "y momentum", "z momentum",
                                                "energy"};
  flow_right_side(flow, 1);
  const int n = flow->n;
  double residual[components] = {0};
  double error[components] = {0};
#pragma omp parallel for schedule(static) reduction(+ : residual, error)
  for (int k = 1; k < n - 1; ++k) {
    for (int j = 1; j < n - 1; ++j) {
      for (int i = 1; i < n - 1; ++i) {
        const int64_t p = flow_at(flow, k, j, i) * components;
        double exact[components];
        flow_exact(flow, k, j, i, exact);
        for (int m = 0; m < components; ++m) {
          residual[m] += flow->rhs[p + m] * flow->rhs[p + m];
          error[m] += (flow->u[p + m] - exact[m]) * (flow->u[p + m] - exact[m]);
        }
      }
    }
  }
  const double inner = pow(n - 2, 3);
  for (int m = 0; m < components; ++m) {
    checks_add(checks, sqrt(residual[m] / inner), residuals[m], 1e-8, "residual of %s", names[m]);
    checks_add(checks, sqrt(error[m] / inner), errors[m], 1e-8, "error of %s", names[m]);
  }
}
