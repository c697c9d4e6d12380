// The kernel that is best for a use, a size and a number of threads: by the table in force, else by what is
// known of this family of CPUs.
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "defaults.h"
#include "memgraft/zeroing.h"
#include "table.h"

namespace memgraft::zeroing {
namespace {

constexpr std::size_t kLargestFile = std::size_t{64} << 10;  // a thousand rows, each with a comment

std::span<const memgraft_zero_kernel> all_kernels() {
  std::size_t count = 0;
  const memgraft_zero_kernel* first = memgraft_zero_kernels(&count);
  return {first, count};
}

const memgraft_zero_kernel* memset_kernel() {
  for (const memgraft_zero_kernel& kernel : all_kernels()) {
    if (std::string_view(kernel.name) == "memset") {
      return &kernel;
    }
  }
  return memgraft_zero_chosen(MEMGRAFT_ZERO_ORDINARY);
}

// What is chosen without a table, if this CPU has it.
const memgraft_zero_kernel* default_for(std::size_t mode, std::size_t bytes) {
  const std::string_view name = default_name(family_of_cpu(), mode, bytes, last_level_cache_bytes());
  const memgraft_zero_kernel* widest = memgraft_zero_chosen(MEMGRAFT_ZERO_NON_TEMPORAL);
  if (name == kWidestNonTemporal && widest != nullptr) {
    return widest;
  }
  for (const memgraft_zero_kernel& kernel : all_kernels()) {
    if (kernel.available && kernel.name == name) {
      return &kernel;
    }
  }
  return memset_kernel();
}

// A table that can be in force.
struct Published {
  Table table;
  char* path;  // null: the defaults
  // The one before: keeps what threads may still be reading reachable, so that no leak checker takes it for
  // lost.
  const Published* replaced;
};

constinit Published defaults{};
constinit pthread_once_t defaults_made = PTHREAD_ONCE_INIT;
constinit std::atomic<const Published*> in_force{nullptr};

void make_defaults() {
  for (std::size_t mode = 0; mode < kModeNames.size(); ++mode) {
    auto& best = defaults.table.modes[mode].groups.front().best;
    for (std::size_t width = 0; width < best.size(); ++width) {
      const std::size_t bytes = width == 0 ? 0 : std::size_t{1} << (width - 1);
      best[width] = default_for(mode, bytes);
    }
  }
  // Release: whoever finds the pointer finds the table. Compared, so that a table that was loaded first
  // stays.
  const Published* none = nullptr;
  in_force.compare_exchange_strong(none, &defaults, std::memory_order_release, std::memory_order_relaxed);
}

// `defaults`, made at the first call of any thread.
const Published& defaults_once() {
  pthread_once(&defaults_made, make_defaults);
  return defaults;
}

const Published& now() {
  // Acquire: pairs with the release of whoever published it.
  const Published* published = in_force.load(std::memory_order_acquire);
  return published != nullptr ? *published : defaults_once();
}

// Reads all of a file of at most `kLargestFile` bytes into `text`; returns null, or what is wrong with it.
const char* read_file(const char* path, std::span<char> text, std::size_t& length) {
  // Not blocking: a pipe would wait for a writer. It is refused below.
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    return std::strerror(errno);  // NOLINT(concurrency-mt-unsafe): glibc's is safe but for unknown numbers
  }
  struct stat status{};
  const char* wrong = nullptr;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    wrong = "not a regular file";
  }
  while (wrong == nullptr) {
    const ssize_t count = read(file, text.data() + length, text.size() - length);
    if (count < 0) {
      wrong = std::strerror(errno);  // NOLINT(concurrency-mt-unsafe): see above
    } else if (count == 0) {
      break;
    } else {
      length += static_cast<std::size_t>(count);
      if (length == text.size()) {
        wrong = "larger than 64 KiB, which no table is";
      }
    }
  }
  close(file);
  return wrong;
}

// The table in a file, in memory of its own; null, and `error` with the reason, where it cannot be used.
Published* read_published(const char* path, std::span<char> text, TableError& error, const char*& reason) {
  std::size_t length = 0;
  reason = read_file(path, text, length);
  if (reason != nullptr) {
    return nullptr;
  }
  auto* memory = static_cast<Published*>(std::malloc(sizeof(Published)));
  char* name = strdup(path);
  if (memory == nullptr || name == nullptr) {
    reason = "no memory for it";
  } else {
    auto* made = new (memory) Published(defaults_once());
    made->path = name;
    if (read_table({text.data(), length}, memgraft_zero_cpu(), all_kernels(), made->table, error)) {
      return made;
    }
    reason = error.message.data();
  }
  std::free(name);
  std::free(memory);
  return nullptr;
}

}  // namespace
}  // namespace memgraft::zeroing

const memgraft_zero_kernel* memgraft_zero_best(memgraft_zero_use use, std::size_t bytes, unsigned threads) {
  return memgraft::zeroing::now().table.best(use, bytes, threads);
}

const char* memgraft_zero_table() { return memgraft::zeroing::now().path; }

bool memgraft_zero_load_table(const char* path, char* error, std::size_t error_bytes) {
  using namespace memgraft::zeroing;
  constexpr std::size_t kRoom = kLargestFile + 1;  // one more tells a file that is too large
  auto* text = static_cast<char*>(std::malloc(kRoom));
  TableError wrong;
  const char* reason = "no memory to read it";
  Published* made = text != nullptr ? read_published(path, {text, kRoom}, wrong, reason) : nullptr;
  std::free(text);
  if (made == nullptr) {
    constexpr const char* kAdvice = "`memgraft zero calibrate` writes one for this CPU";
    if (wrong.line > 0) {
      (void)std::snprintf(error, error_bytes, "%s: line %zu: %s; %s", path, wrong.line, reason, kAdvice);
    } else {
      (void)std::snprintf(error, error_bytes, "%s: %s; %s", path, reason, kAdvice);
    }
    return false;
  }
  // Acquire and release: publishes this table, and sees the one before whole.
  made->replaced = in_force.exchange(made, std::memory_order_acq_rel);
  return true;
}
