// FT (chapter 2): a partial differential equation solved by three-dimensional fast Fourier transforms:
// forward once, and backward at each time step. Lines along y and z are strided: threads meet all pages of
// the grid.
#include <math.h>
#include <stdint.h>

#include "kernel.h"
#include "pages.h"
#include "random.h"

enum { steps = 6, longest = 256, together = 8, summed = 1024 };
static const uint64_t seed = 314159265;
static const double alpha = 1e-6;
static const double pi = 3.14159265358979323846;

struct complex {
  double re, im;
};

static const struct {
  int nx, ny, nz;
  struct complex sums[steps];
} official[sizes] = {{64,
                      64,
                      64,
                      {{5.546087004964E+02, 4.845363331978E+02},
                       {5.546385409189E+02, 4.865304269511E+02},
                       {5.546148406171E+02, 4.883910722336E+02},
                       {5.545423607415E+02, 4.901273169046E+02},
                       {5.544255039624E+02, 4.917475857993E+02},
                       {5.542683411902E+02, 4.932597244941E+02}}},
                     {128,
                      128,
                      32,
                      {{5.673612178944E+02, 5.293246849175E+02},
                       {5.631436885271E+02, 5.282149986629E+02},
                       {5.594024089970E+02, 5.270996558037E+02},
                       {5.560698047020E+02, 5.260027904925E+02},
                       {5.530898991250E+02, 5.249400845633E+02},
                       {5.504159734538E+02, 5.239212247086E+02}}},
                     {256,
                      256,
                      128,
                      {{5.046735008193E+02, 5.114047905510E+02},
                       {5.059412319734E+02, 5.098809666433E+02},
                       {5.069376896287E+02, 5.098144042213E+02},
                       {5.077892868474E+02, 5.101336130759E+02},
                       {5.085233095391E+02, 5.104914655194E+02},
                       {5.091487099959E+02, 5.107917842803E+02}}}};

static int nx, ny, nz;
static struct complex* spectrum;  // at the time of the iteration
static struct complex* field;
static struct complex roots[longest];                                // exp(2 pi i k / longest)
static double decay_x[longest], decay_y[longest], decay_z[longest];  // per time step
static struct complex sums[steps];

// `together` lines beside each other: the innermost loops are over lines.
struct lines {
  double re[longest][together];
  double im[longest][together];
};

// The Fourier transform of each line, by Stockham's method, which needs no reordering: it goes back and forth
// between two buffers. `sign` is that of the exponent. Returns the buffer with the result.
static struct lines* transform(struct lines* from, struct lines* to, int n, int sign) {
  for (int half = n / 2, stride = 1; half >= 1; half /= 2, stride *= 2) {
    for (int block = 0; block < half; ++block) {
      const struct complex root = {roots[block * (longest / (2 * half))].re,
                                   sign * roots[block * (longest / (2 * half))].im};
      for (int k = 0; k < stride; ++k) {
        const int a = k + stride * block;
        const int b = a + stride * half;
        const int out = k + stride * 2 * block;
        for (int l = 0; l < together; ++l) {
          const double re = from->re[a][l] - from->re[b][l];
          const double im = from->im[a][l] - from->im[b][l];
          to->re[out][l] = from->re[a][l] + from->re[b][l];
          to->im[out][l] = from->im[a][l] + from->im[b][l];
          to->re[out + stride][l] = re * root.re - im * root.im;
          to->im[out + stride][l] = re * root.im + im * root.re;
        }
      }
    }
    struct lines* done = to;
    to = from;
    from = done;
  }
  return from;
}

// Transforms, in place, `together` lines of `n` points `stride` apart, whose beginnings are `apart` apart.
static void transform_at(struct complex* start, int n, int64_t stride, int64_t apart, int sign) {
  struct lines buffers[2];
  for (int i = 0; i < n; ++i) {
    for (int l = 0; l < together; ++l) {
      buffers[0].re[i][l] = start[i * stride + l * apart].re;
      buffers[0].im[i][l] = start[i * stride + l * apart].im;
    }
  }
  const struct lines* result = transform(&buffers[0], &buffers[1], n, sign);
  for (int i = 0; i < n; ++i) {
    for (int l = 0; l < together; ++l) {
      start[i * stride + l * apart] = (struct complex){result->re[i][l], result->im[i][l]};
    }
  }
}

// In all three directions; not scaled.
static void transform_grid(struct complex* grid, int sign) {
  const int64_t plane = (int64_t)nx * ny;
#pragma omp parallel for schedule(static)
  for (int z = 0; z < nz; ++z) {
    for (int y = 0; y < ny; y += together) {
      transform_at(&grid[z * plane + (int64_t)y * nx], nx, 1, nx, sign);
    }
    for (int x = 0; x < nx; x += together) {
      transform_at(&grid[z * plane + x], ny, nx, 1, sign);
    }
  }
#pragma omp parallel for schedule(static)
  for (int y = 0; y < ny; ++y) {
    for (int x = 0; x < nx; x += together) {
      transform_at(&grid[(int64_t)y * nx + x], nz, plane, 1, sign);
    }
  }
}

// exp(-4 alpha pi^2 k^2) for the wave numbers of one direction.
static void fill_decay(double* decay, int n) {
  for (int i = 0; i < n; ++i) {
    const double k = i < n / 2 ? i : i - n;
    decay[i] = exp(-4 * alpha * pi * pi * k * k);
  }
}

static void prepare(enum size size, int threads) {
  (void)threads;
  nx = official[size].nx;
  ny = official[size].ny;
  nz = official[size].nz;
  const int64_t plane = (int64_t)nx * ny;
  spectrum = pages_allocate(plane * nz, sizeof *spectrum);
  field = pages_allocate(plane * nz, sizeof *field);
  for (int i = 0; i < longest; ++i) {
    roots[i] = (struct complex){cos(2 * pi * i / longest), sin(2 * pi * i / longest)};
  }
  fill_decay(decay_x, nx);
  fill_decay(decay_y, ny);
  fill_decay(decay_z, nz);
#pragma omp parallel for schedule(static)
  for (int z = 0; z < nz; ++z) {
    uint64_t state = random_after(seed, (uint64_t)(2 * z * plane));
    for (int64_t i = z * plane; i < (z + 1) * plane; ++i) {
      spectrum[i].re = random_next(&state);
      spectrum[i].im = random_next(&state);
    }
  }
  transform_grid(spectrum, -1);
}

// One time step further in the spectrum, and from there to the field.
static void evolve(void) {
#pragma omp parallel for schedule(static)
  for (int z = 0; z < nz; ++z) {
    for (int y = 0; y < ny; ++y) {
      const int64_t line = ((int64_t)z * ny + y) * nx;
      const double decay = decay_z[z] * decay_y[y];
      for (int x = 0; x < nx; ++x) {
        spectrum[line + x].re *= decay * decay_x[x];
        spectrum[line + x].im *= decay * decay_x[x];
        field[line + x] = spectrum[line + x];
      }
    }
  }
}

static void iterate(int iteration) {
  evolve();
  transform_grid(field, 1);
  struct complex sum = {0, 0};
  for (int j = 1; j <= summed; ++j) {
    const int64_t at = ((int64_t)(5 * j % nz) * ny + 3 * j % ny) * nx + j % nx;
    sum.re += field[at].re;
    sum.im += field[at].im;
  }
  if (iteration <= steps) {
    const double points = (double)nx * ny * nz;  // the backward transform was not scaled
    sums[iteration - 1] = (struct complex){sum.re / points, sum.im / points};
  }
}

static void verify(enum size size, struct checks* checks) {
  for (int step = 0; step < steps; ++step) {
    checks_add(checks, sums[step].re, official[size].sums[step].re, 1e-12, "checksum %d, real", step + 1);
    checks_add(checks, sums[step].im, official[size].sums[step].im, 1e-12, "checksum %d, imaginary",
               step + 1);
  }
}

const struct kernel kernel_ft = {.name = "ft",
                                 .title = "three-dimensional Fourier transforms",
                                 .iterations = {steps, steps, steps},
                                 .prepare = prepare,
                                 .iterate = iterate,
                                 .verify = verify};
