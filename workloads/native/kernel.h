// What a kernel is. A process runs one of them, once, so each keeps its state in its own file.
#pragma once

#include "verification.h"

// The sizes of NPB 3 that fit into a small machine.
enum size { size_s, size_w, size_a, sizes };

struct kernel {
  const char* name;
  const char* title;
  int iterations[sizes];  // as specified; official values exist for these numbers only
  // Allocates and initializes. Not timed.
  void (*prepare)(enum size size, int threads);
  // `iteration` counts from 1.
  void (*iterate)(int iteration);
  // Compares with the official values of the size, after the specified number of iterations.
  void (*verify)(enum size size, struct checks* checks);
};

extern const struct kernel kernel_bt;
extern const struct kernel kernel_cg;
extern const struct kernel kernel_ep;
extern const struct kernel kernel_ft;
extern const struct kernel kernel_is;
extern const struct kernel kernel_lu;
extern const struct kernel kernel_mg;
extern const struct kernel kernel_sp;
