#include "verification.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

void checks_add(struct checks* checks, double got, double expected, double tolerance, const char* format,
                ...) {
  if (checks->count == CHECKS_MAX) {
    fprintf(stderr, "memgraft-kernels: more than %d checks; raise CHECKS_MAX\n", CHECKS_MAX);
    abort();
  }
  struct check* check = &checks->list[checks->count++];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(check->name, sizeof check->name, format, arguments);
  va_end(arguments);
  check->got = got;
  check->expected = expected;
  check->tolerance = tolerance;
  const double difference = fabs(got - expected);
  check->relative_error = expected == 0 ? difference : difference / fabs(expected);
}

bool check_holds(const struct check* check) { return check->relative_error <= check->tolerance; }

bool checks_hold(const struct checks* checks) {
  for (int i = 0; i < checks->count; ++i) {
    if (!check_holds(&checks->list[i])) {
      return false;
    }
  }
  return checks->count > 0;
}

static double badness(const struct check* check) {
  if (check_holds(check)) {
    return check->tolerance > 0 ? check->relative_error / check->tolerance : 0;
  }
  return check->tolerance > 0 && !isnan(check->relative_error) ? check->relative_error / check->tolerance
                                                               : INFINITY;
}

const struct check* checks_worst(const struct checks* checks) {
  const struct check* worst = NULL;
  for (int i = 0; i < checks->count; ++i) {
    if (worst == NULL || badness(&checks->list[i]) > badness(worst)) {
      worst = &checks->list[i];
    }
  }
  return worst;
}
