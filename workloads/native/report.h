// What is said of a run, for people and as JSON (docs/formats.md, section 11), and its exit code.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "verification.h"

struct run {
  const char* kernel;
  char size;
  int threads;
  bool main_touches;
  int iterations;
  int specified_iterations;  // official values exist for this number only
  int64_t memory_bytes;
  double seconds;  // of all iterations
  struct checks checks;
};

enum { code_fine = 0, code_wrong = 1, code_usage = 2, code_lacking = 3 };

void report_line(FILE* file, const struct run* run);
void report_json(FILE* file, const struct run* run);

// code_wrong where something was to be verified and is not right.
int report_code(const struct run* run);
