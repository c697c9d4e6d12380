// The kernel's own words (proc(5), /proc/cpuinfo) rather than cpuid: the same for every architecture, and the
// same for the command line, which is no C++.
#include "cpu_name.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "memgraft/zeroing.h"

namespace memgraft::zeroing {
namespace {

// In the order in which they make up a name. The brand alone would not do: clouds call many models "Intel(R)
// Xeon(R) Processor"; nor would the numbers: a model has versions with caches of several sizes.
constexpr std::array<std::string_view, 15> kFields = {
    "vendor_id",
    "cpu family",
    "model",
    "stepping",
    "model name",  // x86
    "CPU implementer",
    "CPU variant",
    "CPU part",
    "CPU revision",  // ARM
    "cpu",
    "revision",  // Power
    "mvendorid",
    "marchid",
    "mimpid",
    "uarch",  // RISC-V
};

constexpr std::size_t kBeginning =
    4096;  // of the file; these fields stand within the first 3 KiB on all four

bool blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

// Takes the first line off `text`, without its end.
std::string_view take_line(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && text[length] != '\n') {
    ++length;
  }
  const std::string_view line(text.begin(), text.begin() + length);
  text.remove_prefix(length < text.size() ? length + 1 : length);
  return line;
}

// The value of `field` in the paragraph of the first CPU; empty where it has none.
std::string_view value_of(std::string_view field, std::string_view cpuinfo) {
  while (!cpuinfo.empty()) {
    std::string_view line = take_line(cpuinfo);
    if (trimmed(line).empty()) {
      break;  // the next CPU's paragraph follows
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || trimmed({line.begin(), line.begin() + colon}) != field) {
      continue;
    }
    line.remove_prefix(colon + 1);
    return trimmed(line);
  }
  return {};
}

void append(CpuName& name, std::size_t& length, char c) {
  if (length < kLongestCpuName) {
    const bool printable = c > ' ' && c <= '~';
    name[length++] = printable || c == ' ' ? c : '?';
  }
}

pthread_once_t asked = PTHREAD_ONCE_INIT;
constinit CpuName this_cpu{};

void ask() {
  std::array<char, kBeginning> text{};
  const int file = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return;
  }
  std::size_t length = 0;
  while (length < text.size()) {
    const ssize_t count = read(file, text.data() + length, text.size() - length);
    if (count <= 0) {
      break;
    }
    length += static_cast<std::size_t>(count);
  }
  close(file);
  this_cpu = name_in({text.data(), length});
}

}  // namespace

CpuName name_in(std::string_view cpuinfo) {
  CpuName name{};
  std::size_t length = 0;
  for (const std::string_view field : kFields) {
    char before = ' ';
    for (char c : value_of(field, cpuinfo)) {
      c = blank(c) ? ' ' : c;
      if (c == ' ' && before == ' ') {
        continue;  // runs of blanks, with which some brands are padded
      }
      if (before == ' ' && length > 0 && name[length - 1] != ' ') {
        append(name, length, ' ');
      }
      append(name, length, c);
      before = c;
    }
  }
  return name;
}

}  // namespace memgraft::zeroing

const char* memgraft_zero_cpu() {
  pthread_once(&memgraft::zeroing::asked, memgraft::zeroing::ask);
  return memgraft::zeroing::this_cpu.data();
}
