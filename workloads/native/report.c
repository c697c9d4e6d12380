#include "report.h"

#include <math.h>

static bool specified(const struct run* run) { return run->iterations == run->specified_iterations; }

int report_code(const struct run* run) {
  return !specified(run) || checks_hold(&run->checks) ? code_fine : code_wrong;
}

// A member of an object. JSON knows no infinity, and nothing that is no number.
static void print_member(FILE* file, const char* name, double value) {
  if (isfinite(value)) {
    fprintf(file, ", \"%s\": %.17g", name, value);
  } else {
    fprintf(file, ", \"%s\": null", name);
  }
}

void report_json(FILE* file, const struct run* run) {
  const char* verified = !specified(run) ? "null" : checks_hold(&run->checks) ? "true" : "false";
  fprintf(file,
          "{\"kind\": \"kernel\", \"schema\": 1, \"kernel\": \"%s\", \"class\": \"%c\", \"threads\": %d",
          run->kernel, run->size, run->threads);
  fprintf(file, ", \"first_touch\": \"%s\", \"iterations\": %d, \"memory_bytes\": %lld",
          run->main_touches ? "main" : "parallel", run->iterations, (long long)run->memory_bytes);
  print_member(file, "seconds_per_iteration", run->seconds / run->iterations);
  fprintf(file, ", \"verified\": %s, \"compared\": [", verified);
  for (int i = 0; i < run->checks.count; ++i) {
    const struct check* check = &run->checks.list[i];
    fprintf(file, "%s{\"what\": \"%s\"", i == 0 ? "" : ", ", check->name);
    print_member(file, "got", check->got);
    print_member(file, "expected", check->expected);
    print_member(file, "relative_error", check->relative_error);
    print_member(file, "tolerance", check->tolerance);
    fprintf(file, "}");
  }
  fprintf(file, "]}\n");
}

void report_line(FILE* file, const struct run* run) {
  fprintf(file, "%s, class %c: %d %s on %d %s, %.4g s per iteration, %.1f MiB: ", run->kernel, run->size,
          run->iterations, run->iterations == 1 ? "iteration" : "iterations", run->threads,
          run->threads == 1 ? "thread" : "threads", run->seconds / run->iterations,
          (double)run->memory_bytes / (1 << 20));
  if (!specified(run)) {
    fprintf(file, "not verified (there is an official result of %d only)\n", run->specified_iterations);
    return;
  }
  const struct check* worst = checks_worst(&run->checks);
  fprintf(file, "%s (%d compared; %s is %.13g, expected %.13g, relative error %.1e, allowed %.1e)\n",
          checks_hold(&run->checks) ? "verified" : "VERIFICATION FAILED", run->checks.count, worst->name,
          worst->got, worst->expected, worst->relative_error, worst->tolerance);
}
