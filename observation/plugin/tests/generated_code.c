// Makes code while it runs, for AArch64, and executes it as often as is asked. test_executed.py compiles it.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// x0: memory
static const uint32_t kCode[] = {
    0xf9400001,  // ldr x1, [x0]
    0xf9000001,  // str x1, [x0]
    0xd50339bf,  // dmb ishld
    0xd5033bbf,  // dmb ish
    0xd5033bbf,  // dmb ish
    0xc8dffc01,  // ldar x1, [x0]
    0xc89ffc01,  // stlr x1, [x0]
    0xc89ffc01,  // stlr x1, [x0]
    0xc89ffc01,  // stlr x1, [x0]
    0xd65f03c0,  // ret
};

int main(int count, char** arguments) {
  const long times = count == 2 ? atol(arguments[1]) : 0;
  void* const code =
      mmap(NULL, sizeof kCode, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) {
    return 1;
  }
  memcpy(code, kCode, sizeof kCode);
  __builtin___clear_cache(code, (char*)code + sizeof kCode);
  void (*call)(void*) = NULL;
  memcpy(&call, &code, sizeof code);
  uint64_t memory = 0;
  for (long i = 0; i < times; ++i) {
    call(&memory);
  }
  // A line, by one system call.
  return write(STDOUT_FILENO, "half\n", 5) == 5 && (call(&memory), 1) ? 0 : 1;
}
