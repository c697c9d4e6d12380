#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

extern "C" {
#include "flow.h"
}

namespace {

using State = std::array<double, components>;

// The fluxes of the specification, convective and viscous, along a direction.
State convective(const State& u, int direction) {
  const auto d = static_cast<std::size_t>(direction);
  const double v = u[1 + d] / u[0];
  const double pressure = FLOW_C2 * (u[4] - (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / (2 * u[0]));
  State flux = {u[1 + d], u[1] * v, u[2] * v, u[3] * v, (u[4] + pressure) * v};
  flux[1 + d] += pressure;
  return flux;
}
State viscous(const State& u, int direction) {
  const auto d = static_cast<std::size_t>(direction);
  const std::array<double, 3> v = {u[1] / u[0], u[2] / u[0], u[3] / u[0]};
  const double thermal = FLOW_C1 * FLOW_C5;
  State flux = {0, v[0], v[1], v[2],
                (1 - thermal) * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / 2 + v[d] * v[d] / 6 +
                    thermal * u[4] / u[0]};
  flux[1 + d] *= 4.0 / 3;
  for (std::size_t m = 1; m < components; ++m) {
    flux[m] *= FLOW_C3 * FLOW_C4;
  }
  for (std::size_t m = 0; m < components; ++m) {
    flux[m] += flow_diffusion[d] * u[m];
  }
  return flux;
}

// Against differences of the fluxes themselves.
TEST(Flow, JacobianIsTheFluxesDerivative) {
  const State u = {1.3, 0.4, -0.7, 0.9, 6.1};
  const double step = 1e-6;
  for (int direction = 0; direction < 3; ++direction) {
    for (const auto& [a, b] : {std::array<double, 2>{1, 0}, {0, 1}, {-2.5, 0.75}}) {
      double block[components][components];
      flow_jacobian(u.data(), direction, a, b, block);
      for (std::size_t by = 0; by < components; ++by) {
        State above = u;
        State below = u;
        above[by] += step;
        below[by] -= step;
        const auto [c1, c0] = std::array{convective(above, direction), convective(below, direction)};
        const auto [v1, v0] = std::array{viscous(above, direction), viscous(below, direction)};
        for (std::size_t m = 0; m < components; ++m) {
          const double expected = (a * (c1[m] - c0[m]) + b * (v1[m] - v0[m])) / (2 * step);
          EXPECT_NEAR(block[m][by], expected, 1e-7) << direction << " " << m << " " << by;
        }
      }
    }
  }
}

// The forcing is there to make it so.
TEST(Flow, ExactSolutionIsSteady) {
  flow f{};
  flow_prepare(&f, 12, 0.01);
  for (int k = 0; k < f.n; ++k) {
    for (int j = 0; j < f.n; ++j) {
      for (int i = 0; i < f.n; ++i) {
        flow_exact(&f, k, j, i, &f.u[flow_at(&f, k, j, i) * components]);
      }
    }
  }
  flow_right_side(&f, 1);
  const double largest =
      std::abs(*std::max_element(f.rhs, f.rhs + static_cast<std::ptrdiff_t>(f.n) * f.n * f.n * components));
  EXPECT_LT(largest, 1e-10);
}

}  // namespace
