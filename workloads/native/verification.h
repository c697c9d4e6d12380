// What a kernel computed against what the specification says it must compute.
#pragma once

#include <stdbool.h>

#define CHECKS_MAX 64
#define CHECK_NAME_MAX 48

struct check {
  char name[CHECK_NAME_MAX];
  double got;
  double expected;
  double relative_error;  // the absolute one where 0 is expected
  double tolerance;       // the largest relative error that is still right; 0: exact
};

struct checks {
  int count;
  struct check list[CHECKS_MAX];
};

// Compares, and remembers. `format` and what follows are the name.
__attribute__((format(printf, 5, 6))) void checks_add(struct checks* checks, double got, double expected,
                                                      double tolerance, const char* format, ...);

// Whether a value is right. One that is no number never is.
bool check_holds(const struct check* check);

// Whether something was compared, and all of it is right.
bool checks_hold(const struct checks* checks);

// The one that is the furthest from right, measured in tolerances; NULL where nothing was compared.
const struct check* checks_worst(const struct checks* checks);
