// What the scenarios of the sampled program share.
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kPage = 4096, kPages = 2048, kBytes = kPage * kPages };

#define CHECK(right)                                                                           \
  do {                                                                                         \
    if (!(right)) {                                                                            \
      fprintf(stderr, "line %d: not so: %s (errno: %s)\n", __LINE__, #right, strerror(errno)); \
      exit(1);                                                                                 \
    }                                                                                          \
  } while (0)

// Whether the scenario is to go on.
bool more(void);
// kBytes of it, every page touched.
unsigned char* memory(void);
// Touches every page of kBytes.
void sum_all(const unsigned char* at);

// How memory lies that is to be sampled (program_layouts.c).
void fenced(void);
void scattered(void);
void ends_like_an_arena(void);
void between_inaccessible(void);
void huge(void);
