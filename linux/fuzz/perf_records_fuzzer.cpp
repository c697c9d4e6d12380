// Any bytes are read as a ring, from anywhere to anywhere, without leaving them; records never tell of more
// bytes than there are.
#include <linux/perf_event.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "memgraft/linux/perf_records.h"

namespace {

void check(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace memgraft::linux_os;
  struct {
    std::uint64_t sample_type, tail;
    std::uint16_t length;
  } input{};
  if (size < sizeof input + 1) {
    return 0;
  }
  std::memcpy(&input, data, sizeof input);
  const std::vector<std::uint8_t> bytes(data + sizeof input, data + size);
  // A copy of exactly that size, so that the sanitizer sees one byte too far.
  const std::vector<std::uint8_t> area(
      bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(std::bit_floor(bytes.size())));
  std::vector<std::uint8_t> joined;
  std::size_t seen = 0;
  const std::uint64_t head = input.tail + input.length;
  const bool chained = read_records(area, input.tail, head, joined, [&](const PerfRecord& record) {
    seen += sizeof(perf_event_header) + record.body.size();
    if (const auto sample = parse_sample(record.body, input.sample_type)) {
      check(is_understood(input.sample_type) && sample->raw.size() <= record.body.size());
    }
    parse_task(record.body);
    parse_aux(record.body, input.sample_type);
    parse_lost(record);
  });
  check(seen <= area.size() && (!chained || seen == input.length));
  // Every body by itself too, however it is cut.
  parse_sample(bytes, input.sample_type);
  parse_task(bytes);
  parse_aux(bytes, input.sample_type);
  return 0;
}
