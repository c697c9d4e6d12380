// where NAME: which nodes the anonymous pages of a running program lie on, as the kernel tells in
// /proc/PID/numa_maps, every 300 ms until the program ends. Prints the last answer that came before the end:
// `where NAME nodes=A,B,C,D asked=K`. It sees the program from outside, and knows nothing of who placed the
// pages. Not move_pages(2), which calls a page absent while the kernel waits for a NUMA hint fault on it.
#define _GNU_SOURCE
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

enum { nodes_max = 4, waits_max = 100, wait_ms = 300, name_length = 15 };

struct places {
  long on[nodes_max];
  long all;
};

static void nap(void) {
  const struct timespec time = {0, wait_ms * 1000000L};
  nanosleep(&time, NULL);
}

static pid_t find(const char* name) {
  DIR* processes = opendir("/proc");
  pid_t found = 0;
  for (const struct dirent* entry = NULL; found == 0 && (entry = readdir(processes)) != NULL;) {
    char path[300];
    char command[64] = "";
    snprintf(path, sizeof path, "/proc/%s/comm", entry->d_name);
    FILE* file = fopen(path, "r");
    if (file != NULL) {
      if (fgets(command, sizeof command, file) != NULL) {
        command[strcspn(command, "\n")] = '\0';
        // The kernel keeps that many letters.
        found = strncmp(command, name, name_length) == 0 ? (pid_t)strtol(entry->d_name, NULL, 10) : 0;
      }
      fclose(file);
    }
  }
  closedir(processes);
  return found;
}

// A line is `ADDRESS POLICY WORD...`, with `N1=512` where a mapping has pages on node 1 (proc(5)).
static void add(char* line, struct places* places) {
  for (char* word = strtok(line, " \n"); word != NULL; word = strtok(NULL, " \n")) {
    unsigned node = 0;
    long pages = 0;
    if (sscanf(word, "N%u=%ld", &node, &pages) == 2 && node < nodes_max) {
      places->on[node] += pages;
      places->all += pages;
    }
  }
}

// False once the process has ended. Files, the heap and stacks are left out: they are small.
static bool look(pid_t process, struct places* places) {
  char path[64];
  char line[1024];
  snprintf(path, sizeof path, "/proc/%d/numa_maps", (int)process);
  FILE* maps = fopen(path, "r");
  bool any = false;
  memset(places, 0, sizeof *places);
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    any = true;
    if (strstr(line, "file=") == NULL && strstr(line, "heap") == NULL && strstr(line, "stack") == NULL) {
      add(line, places);
    }
  }
  if (maps != NULL) {
    fclose(maps);
  }
  return any;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: where NAME\n");
    return 2;
  }
  pid_t process = 0;
  for (int wait = 0; process == 0 && wait < waits_max; ++wait) {
    process = find(argv[1]);
    if (process == 0) {
      nap();
    }
  }
  struct places last = {{0}, 0};
  struct places now = last;
  long before = 0;
  int asked = 0;
  while (process != 0 && look(process, &now)) {
    // What is about to end has fewer at once.
    if (now.all >= before / 10 * 9) {
      last = now;
      ++asked;
    }
    before = now.all;
    nap();
  }
  printf("where %s nodes=%ld,%ld,%ld,%ld asked=%d\n", argv[1], last.on[0], last.on[1], last.on[2], last.on[3],
         asked);
  return asked > 0 ? 0 : 1;
}
