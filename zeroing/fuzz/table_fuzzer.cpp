// A libFuzzer target: the input is the text of a table. Whatever it says, each use gets an available kernel,
// and a refusal has one line of message.
//   table_fuzzer -max_total_time=60 -only_ascii=1
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "../table.h"
#include "memgraft/zeroing.h"

namespace {

using memgraft::zeroing::Mode;
using memgraft::zeroing::read_table;
using memgraft::zeroing::Table;
using memgraft::zeroing::TableError;

void expect(bool holds, const char* what) {
  if (!holds) {
    (void)std::fprintf(stderr, "table_fuzzer: not so: %s\n", what);
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::size_t count = 0;
  const memgraft_zero_kernel* kernels = memgraft_zero_kernels(&count);
  Table table;
  for (Mode& mode : table.modes) {
    mode.groups.front().best.fill(memgraft_zero_chosen(MEMGRAFT_ZERO_ORDINARY));
  }
  // Behind the lines that every table begins with, so that most inputs come to the rows; those that begin
  // with an 'm' are the whole text.
  const bool whole = size > 0 && data[0] == 'm';
  std::string text = whole ? "" : "memgraft-zeroing-table 1\ncpu A\n";
  text.append(reinterpret_cast<const char*>(data), size);
  TableError error;
  if (!read_table(text, "A", {kernels, count}, table, error)) {
    expect(error.message.front() != '\0', "a refusal has a message");
    expect(std::strchr(error.message.data(), '\n') == nullptr, "a message is one line");
    return 0;
  }
  for (std::size_t mode = 0; mode < table.modes.size(); ++mode) {
    for (const unsigned threads : {0U, 1U, 2U, 3U, 100U, ~0U}) {
      for (std::size_t bytes = 1; bytes != 0; bytes <<= 1U) {
        const memgraft_zero_kernel* best = table.best(mode, bytes, threads);
        expect(best >= kernels && best < kernels + count && best->available, "an available kernel");
      }
    }
  }
  return 0;
}
