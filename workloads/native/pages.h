// Fresh memory of a kernel, and which threads touch its pages first: on NUMA a page lies on the node of the
// thread that does.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whether the main thread touches all pages that are allocated from now on, or each thread the part that it
// works on: the first thread the first part, and so on, as a static schedule hands out iterations. Memory
// that the main thread touches lies in one piece; else a page too far behind an array ends the process.
void pages_touched_by_main(bool by_main);

// Memory for `count` objects of `size` bytes, zeroed, all its pages touched. It is never given back: a
// process runs one kernel. Ends the process with exit code 3 where there is none.
void* pages_allocate(int64_t count, size_t size);

// The bytes allocated so far.
int64_t pages_bytes(void);
