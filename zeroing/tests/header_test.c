/* The headers and the library as a C11 program meets them. */
#include <stdio.h>

#include "memgraft/disclaim.h"
#include "memgraft/zeroing.h"

static int failures = 0;

static void expect(bool holds, const char* what) {
  if (!holds) {
    (void)fputs("header_test.c: not so: ", stdout);
    (void)puts(what);
    failures++;
  }
}

static void fill(unsigned char* bytes, size_t count, unsigned char value) {
  for (size_t i = 0; i < count; ++i) {
    bytes[i] = value;
  }
}

static bool all(const unsigned char* bytes, size_t count, unsigned char value) {
  for (size_t i = 0; i < count; ++i) {
    if (bytes[i] != value) {
      return false;
    }
  }
  return true;
}

int main(void) {
  unsigned char block[300];

  fill(block, sizeof block, 0xa5);
  memgraft_zero(block + 3, 290);
  expect(all(block, 3, 0xa5) && all(block + 3, 290, 0) && all(block + 293, 7, 0xa5),
         "memgraft_zero zeroes its block");

  fill(block, sizeof block, 0xa5);
  memgraft_zero_non_temporal(block + 3, 290);
  expect(all(block, 3, 0xa5) && all(block + 3, 290, 0) && all(block + 293, 7, 0xa5),
         "memgraft_zero_non_temporal zeroes its block");

  fill(block, sizeof block, 0xa5);
  const memgraft_disclaimed done = memgraft_disclaim(block + 3, 290, MEMGRAFT_DISCLAIM_PLAIN);
  expect(all(block, 3, 0xa5) && all(block + 3, 290, 0) && all(block + 293, 7, 0xa5),
         "memgraft_disclaim zeroes its block");
  expect(done.given_back == 0 && done.zeroed == 290 && done.error == 0, "less than a page is zeroed");

  size_t count = 0;
  const memgraft_zero_kernel* kernels = memgraft_zero_kernels(&count);
  expect(kernels != NULL && count >= 4, "there are kernels");

  const struct memgraft_zero_kernel* chosen = memgraft_zero_chosen(MEMGRAFT_ZERO_ORDINARY);
  expect(chosen != NULL && chosen->available, "an ordinary kernel is chosen");

  expect(memgraft_zero_best(MEMGRAFT_ZERO_USED_LATE, 65536, 2)->available, "a best kernel is available");
  expect(memgraft_zero_table() == NULL, "no table is in force before one is loaded");
  expect(memgraft_zero_cpu() != NULL, "the CPU has a name, if an empty one");
  char error[100] = "";
  expect(!memgraft_zero_load_table("/no/such/table", error, sizeof error) && error[0] != '\0',
         "a table that is not there is refused with a message");

  return failures == 0 ? 0 : 1;
}
