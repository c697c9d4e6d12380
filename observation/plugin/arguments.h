// A plugin's arguments: NAME=VALUE, in which VALUE has no comma, as QEMU separates them by it.
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The value, if the argument has that name; else null.
static inline const char* value_of(const char* argument, const char* name) {
  const size_t length = strlen(name);
  return strncmp(argument, name, length) == 0 && argument[length] == '=' ? argument + length + 1 : NULL;
}

// A number, up to `end`.
static inline bool number_of(const char** text, char end, uint64_t* number) {
  char* rest = NULL;
  errno = 0;
  *number = strtoull(*text, &rest, 0);
  if (rest == *text || errno != 0 || **text == '-' || *rest != end) {
    return false;
  }
  *text = end == 0 ? rest : rest + 1;
  return true;
}

// Gives each argument to `take`. At the first one that it refuses, says what `plugin` expects instead of it.
static inline bool take_all(int count, char** arguments, bool (*take)(const char* argument),
                            const char* plugin, const char* expected) {
  for (int i = 0; i < count; ++i) {
    if (!take(arguments[i])) {
      fprintf(stderr, "memgraft %s plugin: '%s': expected %s\n", plugin, arguments[i], expected);
      return false;
    }
  }
  return true;
}

// FIRST-LAST, both in it.
static inline bool range_of(const char* text, uint64_t* first, uint64_t* last) {
  return number_of(&text, '-', first) && number_of(&text, 0, last) && *first <= *last;
}
