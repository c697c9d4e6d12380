// SP (chapter 3): the flow by an implicit scheme that is factored into the three directions, and each
// direction into its characteristic waves (Pulliam and Chaussee), which leaves scalar pentadiagonal systems
// per line of points: three waves travel with the flow, one with the speed of sound ahead of it, one behind.
// What kernel.h asks of every kernel is as in bt.c, and so is the way through the lines.
#include <math.h>
#include <stdint.h>

#include "flow.h"
#include "kernel.h"

static const struct {
  int n;
  double dt;
  double residuals[components];
  double errors[components];
} official[sizes] = {
    {12,
     0.015,
     {2.7470315451339479e-02, 1.0360746705285417e-02, 1.6235745065095532e-02, 1.5840557224455615e-02,
      3.4849040609362460e-02},
     {2.7289258557377227e-05, 1.0364446640837285e-05, 1.6154798287166471e-05, 1.5750704994480102e-05,
      3.4177666183390531e-05}},
    {36,
     0.0015,
     {0.1893253733584e-02, 0.1717075447775e-03, 0.2778153350936e-03, 0.2887475409984e-03,
      0.3143611161242e-02},
     {0.7542088599534e-04, 0.6512852253086e-05, 0.1049092285688e-04, 0.1128838671535e-04,
      0.1212845639773e-03}},
    {64,
     0.0015,
     {2.4799822399300195, 1.1276337964368832, 1.5028977888770491, 1.4217816211695179, 2.1292113035138280},
     {1.0900140297820550e-04, 3.7343951769282091e-05, 5.0092785406541633e-05, 4.7671093939528255e-05,
      1.3621613399213001e-04}}};

static struct flow flow;

static void prepare(enum size size, int threads) {
  (void)threads;
  flow_prepare(&flow, official[size].n, official[size].dt);
}

// What the waves at a point are made of.
struct state {
  double density;
  double velocity[3];
  double kinetic;  // half the square of the velocity
  double sound;    // its speed
};

static inline struct state state_of(const double u[components]) {
  struct state state = {.density = u[0]};
  const double inverse = 1 / u[0];
  for (int d = 0; d < 3; ++d) {
    state.velocity[d] = u[1 + d] * inverse;
    state.kinetic += state.velocity[d] * state.velocity[d] / 2;
  }
  state.sound = sqrt(FLOW_C1 * FLOW_C2 * (u[4] * inverse - state.kinetic));
  return state;
}

// From changes of U to waves along x: the first three with the flow, then the one ahead and the one behind.
static inline void to_waves_x(const double u[components], double r[components]) {
  const struct state s = state_of(u);
  const double* v = s.velocity;
  const double pressure =
      FLOW_C2 * (s.kinetic * r[0] - v[0] * r[1] - v[1] * r[2] - v[2] * r[3] + r[4]) / (s.sound * s.sound);
  const double entropy = r[0] - pressure;
  const double along = (r[1] - v[0] * r[0]) / s.density * M_SQRT1_2;
  const double expansion = pressure * s.sound / s.density * M_SQRT1_2;
  const double z = (r[3] - v[2] * r[0]) / s.density;
  const double y = (r[2] - v[1] * r[0]) / s.density;
  r[0] = entropy;
  r[1] = z;
  r[2] = -y;
  r[3] = expansion + along;
  r[4] = expansion - along;
}

// From waves along x to waves along y.
static inline void x_to_y(double r[components]) {
  const double first = r[0];
  const double along = M_SQRT1_2 * r[2];
  const double mean = (r[3] + r[4]) / 2;
  r[0] = -r[1];
  r[1] = first;
  r[2] = M_SQRT1_2 * (r[3] - r[4]);
  r[3] = mean - along;
  r[4] = mean + along;
}

// From waves along y to waves along z.
static inline void y_to_z(double r[components]) {
  const double along = M_SQRT1_2 * r[0];
  const double second = r[1];
  const double mean = (r[3] + r[4]) / 2;
  r[0] = M_SQRT1_2 * (r[3] - r[4]);
  r[1] = -r[2];
  r[2] = second;
  r[3] = mean - along;
  r[4] = mean + along;
}

// From waves along z back to changes of U.
static inline void from_waves_z(const double u[components], double r[components]) {
  const struct state s = state_of(u);
  const double* v = s.velocity;
  const double compression = M_SQRT1_2 * s.density / s.sound * (r[3] + r[4]);
  const double density = r[2] + compression;
  const double x = -s.density * r[1];
  const double y = s.density * r[0];
  const double z = M_SQRT1_2 * s.density * (r[3] - r[4]);
  r[0] = density;
  r[1] = x + v[0] * density;
  r[2] = y + v[1] * density;
  r[3] = z + v[2] * density;
  r[4] = s.kinetic * density + v[0] * x + v[1] * y + v[2] * z + compression * s.sound * s.sound / FLOW_C2;
}

// Of one line: the bands of its matrix, from two points before to two after, for the waves with the flow,
// ahead of it and behind.
enum { with_flow, ahead, behind, families };
struct bands {
  double factor[families][5];
};

// The largest diffusion of any component at a point.
static inline double diffusion(const double u[components], int direction) {
  const double viscous = FLOW_C3 * FLOW_C4 / u[0];
  return flow_diffusion[direction] + viscous * fmax(4.0 / 3, FLOW_C1 * FLOW_C5);
}

// The part of the matrix that comes from the dissipation; outside of the line's inner points there is
// nothing.
static inline void add_dissipation(double factor[5], int i, int last) {
  const double weight = flow.dt * flow.dissipation;
  factor[0] += weight;
  factor[1] -= 4 * weight;
  factor[2] += (i == 1 || i == last - 1 ? 5 : 6) * weight;
  factor[3] -= 4 * weight;
  factor[4] += weight;
}

static inline void fill_bands(struct bands* bands, int64_t start, int64_t step, int direction) {
  const int last = flow.n - 1;
  double speed[flow_max];
  double sound[flow_max];
  double diffuse[flow_max];
  for (int i = 0; i <= last; ++i) {
    const double* u = &flow.u[start + i * step];
    const struct state state = state_of(u);
    speed[i] = flow.dt * flow.t2 * state.velocity[direction];
    sound[i] = flow.dt * flow.t2 * state.sound;
    diffuse[i] = flow.dt * flow.t1 * diffusion(u, direction);
  }
  for (int i = 1; i < last; ++i) {
    for (int family = 0; family < families; ++family) {
      const int sign = family == with_flow ? 0 : family == ahead ? 1 : -1;
      double* factor = bands[i].factor[family];
      factor[0] = 0;
      factor[1] = -(speed[i - 1] + sign * sound[i - 1]) - diffuse[i - 1];
      factor[2] = 1 + 2 * diffuse[i];
      factor[3] = speed[i + 1] + sign * sound[i + 1] - diffuse[i + 1];
      factor[4] = 0;
      add_dissipation(factor, i, last);
    }
  }
}

// factor and rhs of a later row: takes the multiple of an earlier one away that makes its band `band` 0.
static inline void eliminate(struct bands* row, double* rhs, const struct bands* pivot,
                             const double* pivot_rhs, int band) {
  for (int family = 0; family < families; ++family) {
    const double factor = row->factor[family][band];
    row->factor[family][band + 1] -= factor * pivot->factor[family][3];
    row->factor[family][band + 2] -= factor * pivot->factor[family][4];
  }
  for (int m = 0; m < components; ++m) {
    rhs[m] -= row->factor[m < 3 ? with_flow : m - 2][band] * pivot_rhs[m];
  }
}

// Solves the systems of one line for its rhs, in place. The changes on the faces, at both ends, are 0.
static inline void solve_line(int64_t point, int direction) {
  const int64_t start = point * components;
  const int64_t step = flow_stride(&flow, direction) * components;
  const int last = flow.n - 1;
  struct bands bands[flow_max];
  fill_bands(bands, start, step, direction);
  for (int i = 1; i < last; ++i) {
    double* rhs = &flow.rhs[start + i * step];
    for (int family = 0; family < families; ++family) {
      const double inverse = 1 / bands[i].factor[family][2];
      bands[i].factor[family][3] *= inverse;
      bands[i].factor[family][4] *= inverse;
      bands[i].factor[family][2] = inverse;
    }
    for (int m = 0; m < components; ++m) {
      rhs[m] *= bands[i].factor[m < 3 ? with_flow : m - 2][2];
    }
    if (i + 1 < last) {
      eliminate(&bands[i + 1], rhs + step, &bands[i], rhs, 1);
    }
    if (i + 2 < last) {
      eliminate(&bands[i + 2], rhs + 2 * step, &bands[i], rhs, 0);
    }
  }
  for (int i = last - 2; i >= 1; --i) {
    double* rhs = &flow.rhs[start + i * step];
    for (int m = 0; m < components; ++m) {
      const double* factor = bands[i].factor[m < 3 ? with_flow : m - 2];
      rhs[m] -= factor[3] * rhs[m + step];
      if (i + 2 < last) {
        rhs[m] -= factor[4] * rhs[m + 2 * step];
      }
    }
  }
}

static void solve_plane(int k) {
  const int n = flow.n;
  for (int j = 1; j < n - 1; ++j) {
    for (int64_t p = flow_at(&flow, k, j, 1) * components; p < flow_at(&flow, k, j, n - 1) * components;
         p += components) {
      to_waves_x(&flow.u[p], &flow.rhs[p]);
    }
    solve_line(flow_at(&flow, k, j, 0), 0);
    for (int i = 1; i < n - 1; ++i) {
      x_to_y(&flow.rhs[flow_at(&flow, k, j, i) * components]);
    }
  }
  for (int i = 1; i < n - 1; ++i) {
    solve_line(flow_at(&flow, k, 0, i), 1);
    for (int j = 1; j < n - 1; ++j) {
      y_to_z(&flow.rhs[flow_at(&flow, k, j, i) * components]);
    }
  }
}

static void iterate(int iteration) {
  (void)iteration;
  const int n = flow.n;
  flow_right_side(&flow, flow.dt);
#pragma omp parallel for schedule(static)
  for (int k = 1; k < n - 1; ++k) {
    solve_plane(k);
  }
#pragma omp parallel for schedule(static)
  for (int j = 1; j < n - 1; ++j) {
    for (int i = 1; i < n - 1; ++i) {
      solve_line(flow_at(&flow, 0, j, i), 2);
    }
  }
#pragma omp parallel for schedule(static)
  for (int k = 1; k < n - 1; ++k) {
    for (int j = 1; j < n - 1; ++j) {
      for (int i = 1; i < n - 1; ++i) {
        const int64_t p = flow_at(&flow, k, j, i) * components;
        from_waves_z(&flow.u[p], &flow.rhs[p]);
        for (int m = 0; m < components; ++m) {
          flow.u[p + m] += flow.rhs[p + m];
        }
      }
    }
  }
}

static void verify(enum size size, struct checks* checks) {
  flow_verify(&flow, official[size].residuals, official[size].errors, checks);
}

const struct kernel kernel_sp = {.name = "sp",
                                 .title = "a flow, by scalar pentadiagonal systems",
                                 .iterations = {100, 400, 400},
                                 .prepare = prepare,
                                 .iterate = iterate,
                                 .verify = verify};
