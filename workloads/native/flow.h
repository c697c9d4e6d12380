// What BT, SP and LU have in common (chapter 3): the compressible Navier-Stokes equations on a cube, with a
// source term made so that a known polynomial is their steady solution. Central differences of second order,
// with dissipation of fourth order.
//
// U is (density, momentum along x, y and z, energy); a grid has n points a side, and those of its faces are
// given.
#pragma once

#include <stdint.h>

#include "verification.h"

enum { flow_max = 64, components = 5 };

// Of the gas: c1 to c5 of the specification.
#define FLOW_C1 1.4
#define FLOW_C2 0.4
#define FLOW_C3 0.1
#define FLOW_C4 1.0
#define FLOW_C5 1.4

// What the fluxes at a point are made of.
struct derived {
  double velocity[3];
  double kinetic;   // half the square of the velocity
  double specific;  // energy per mass
  double pressure;
};

struct flow {
  int n;
  double dt;
  // By z, y, x and component: flow_at says where a point is.
  double* u;
  double* rhs;
  double* forcing;
  struct derived* derived;
  double t1, t2;  // 1 / h^2 and 1 / (2 h), h being the distance between points
  double dissipation;
};

// The coefficients of artificial diffusion along x, y and z, the same for all components.
static const double flow_diffusion[3] = {0.75, 0.75, 1.0};

static inline int64_t flow_at(const struct flow* flow, int k, int j, int i) {
  return ((int64_t)k * flow->n + j) * flow->n + i;
}

// How far apart, in points, neighbours along x, y or z are.
static inline int64_t flow_stride(const struct flow* flow, int direction) {
  return direction == 0 ? 1 : direction == 1 ? flow->n : (int64_t)flow->n * flow->n;
}

// Allocates, and sets the forcing and the solution to begin with.
void flow_prepare(struct flow* flow, int n, double dt);

// rhs = scale times the right-hand side of the equations for u; 0 on the faces.
void flow_right_side(struct flow* flow, double scale);

// block = a A + b (N + diffusion), where A is the Jacobian matrix of the flux along a direction, N that of
// the viscous flux, both by u.
void flow_jacobian(const double u[components], int direction, double a, double b,
                   double block[components][components]);

// Root mean squares, per component, of rhs and of the difference from the exact solution; compared with
// official values.
void flow_verify(struct flow* flow, const double residuals[components], const double errors[components],
                 struct checks* checks);

// The exact solution.
void flow_exact(const struct flow* flow, int k, int j, int i, double exact[components]);
