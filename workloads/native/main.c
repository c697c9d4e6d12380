// memgraft-kernels: runs one kernel, verifies its result and says how long it took.
#include <errno.h>
#include <getopt.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "pages.h"
#include "report.h"

enum { threads_limit = 1024, iterations_max = 1000000 };

static const char usage[] =
    "memgraft-kernels KERNEL --class S|W|A [OPTION]...\n"
    "\n"
    "Kernels after the NAS Parallel Benchmarks. Says how long one took, and whether its result is the\n"
    "official one.\n"
    "\n"
    "  KERNEL            one of those that --list prints\n"
    "  --class S|W|A     the size (default: S)\n"
    "  --threads N       how many threads, 1 to 1024 (default: as many as OpenMP would use)\n"
    "  --iterations N    instead of the specified number: nothing is verified then\n"
    "  --first-touch main|parallel\n"
    "                    who touches all memory first: the main thread, so that on NUMA all of it begins\n"
    "                    on one node, or each thread its part (default: parallel)\n"
    "  --json            one JSON line instead (docs/formats.md, section 11)\n"
    "  --list            the names of the kernels, and what each computes\n"
    "\n"
    "Exit codes: 0 verified, or nothing to verify; 1 verification failed; 2 wrong usage; 3 this machine\n"
    "lacks something.\n";

static const struct kernel* const kernels[] = {&kernel_bt, &kernel_cg, &kernel_ep, &kernel_ft,
                                               &kernel_is, &kernel_lu, &kernel_mg, &kernel_sp};
enum { kernel_count = sizeof kernels / sizeof *kernels };
static const char size_names[] = "SWA";

// As many as OMP_THREAD_LIMIT allows.
static int threads_max(void) {
  return omp_get_thread_limit() < threads_limit ? omp_get_thread_limit() : threads_limit;
}

struct options {
  const struct kernel* kernel;
  enum size size;
  int threads;
  int iterations;
  bool main_touches;
  bool json;
};

static _Noreturn void refuse(const char* what, const char* value, const char* expected) {
  fprintf(stderr, "memgraft-kernels: %s '%s': expected %s\n", what, value, expected);
  exit(code_usage);
}

static int number(const char* option, const char* text, int largest) {
  char* end = NULL;
  errno = 0;
  const long value = strtol(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || value < 1 || value > largest) {
    char expected[40];
    snprintf(expected, sizeof expected, "a number from 1 to %d", largest);
    refuse(option, text, expected);
  }
  return (int)value;
}

static enum size size_of(const char* text) {
  const char* found = *text == '\0' || text[1] != '\0' ? NULL : strchr(size_names, *text);
  if (found == NULL) {
    refuse("--class", text, "S, W or A");
  }
  return (enum size)(found - size_names);
}

static _Noreturn void refuse_kernel(const char* name) {
  char expected[100] = "one of";
  for (int i = 0; i < kernel_count; ++i) {
    const size_t length = strlen(expected);
    snprintf(expected + length, sizeof expected - length, " %s", kernels[i]->name);
  }
  refuse("kernel", name, expected);
}

static const struct kernel* kernel_of(const char* name) {
  for (int i = 0; i < kernel_count; ++i) {
    if (strcmp(kernels[i]->name, name) == 0) {
      return kernels[i];
    }
  }
  refuse_kernel(name);
}

static bool by_main(const char* text) {
  if (strcmp(text, "main") != 0 && strcmp(text, "parallel") != 0) {
    refuse("--first-touch", text, "main or parallel");
  }
  return strcmp(text, "main") == 0;
}

static void list(void) {
  for (int i = 0; i < kernel_count; ++i) {
    printf("%-4s%s\n", kernels[i]->name, kernels[i]->title);
  }
}

enum {
  size_option = 1,
  threads_option,
  iterations_option,
  touch_option,
  json_option,
  list_option,
  help_option
};
static const struct option known_options[] = {{"class", required_argument, NULL, size_option},
                                              {"threads", required_argument, NULL, threads_option},
                                              {"iterations", required_argument, NULL, iterations_option},
                                              {"first-touch", required_argument, NULL, touch_option},
                                              {"json", no_argument, NULL, json_option},
                                              {"list", no_argument, NULL, list_option},
                                              {"help", no_argument, NULL, help_option},
                                              {NULL, 0, NULL, 0}};

static struct options read_options(int argc, char** argv) {
  struct options options = {.size = size_s};
  opterr = 0;
  for (int found = 0; (found = getopt_long(argc, argv, ":", known_options, NULL)) != -1;) {
    switch (found) {
      case size_option:
        options.size = size_of(optarg);
        break;
      case threads_option:
        options.threads = number("--threads", optarg, threads_max());
        break;
      case iterations_option:
        options.iterations = number("--iterations", optarg, iterations_max);
        break;
      case touch_option:
        options.main_touches = by_main(optarg);
        break;
      case json_option:
        options.json = true;
        break;
      case list_option:
        list();
        exit(code_fine);
      case help_option:
        fputs(usage, stdout);
        exit(code_fine);
      case ':':
        refuse("option", argv[optind - 1], "a value after it; --help says which");
      default:
        refuse("option", argv[optind - 1], "one that --help lists");
    }
  }
  if (optind == argc) {
    refuse_kernel("");
  }
  options.kernel = kernel_of(argv[optind]);
  if (optind + 1 != argc) {
    refuse("argument", argv[optind + 1], "one kernel only");
  }
  if (options.iterations == 0) {
    options.iterations = options.kernel->iterations[options.size];
  }
  if (options.threads == 0) {
    options.threads = omp_get_max_threads() < threads_max() ? omp_get_max_threads() : threads_max();
  }
  return options;
}

int main(int argc, char** argv) {
  const struct options options = read_options(argc, argv);
  const struct kernel* kernel = options.kernel;
  // As many as were asked for, at each parallel region: memory was shared out among them.
  omp_set_dynamic(false);
  omp_set_num_threads(options.threads);
  pages_touched_by_main(options.main_touches);
  kernel->prepare(options.size, options.threads);
  const double start = omp_get_wtime();
  for (int iteration = 1; iteration <= options.iterations; ++iteration) {
    kernel->iterate(iteration);
  }
  struct run run = {.kernel = kernel->name,
                    .size = size_names[options.size],
                    .threads = options.threads,
                    .main_touches = options.main_touches,
                    .iterations = options.iterations,
                    .specified_iterations = kernel->iterations[options.size],
                    .memory_bytes = pages_bytes(),
                    .seconds = omp_get_wtime() - start};
  if (run.iterations == run.specified_iterations) {
    kernel->verify(options.size, &run.checks);
  }
  (options.json ? report_json : report_line)(stdout, &run);
  return report_code(&run);
}
