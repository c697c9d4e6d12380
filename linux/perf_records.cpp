#include "memgraft/linux/perf_records.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace memgraft::linux_os {

namespace {

constexpr std::uint64_t kUnderstood = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                      PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU |
                                      PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW | PERF_SAMPLE_WEIGHT |
                                      PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC;

// Takes fields off the front. Once one is missing, all that follow are, and `whole` is false.
class Fields {
 public:
  explicit Fields(Bytes8 bytes) : rest_(bytes) {}

  template <typename Number>
  Number take() {
    Number number = 0;
    const Bytes8 bytes = take_bytes(sizeof number);
    if (!bytes.empty()) {
      std::memcpy(&number, bytes.data(), sizeof number);
    }
    return number;
  }
  Bytes8 take_bytes(std::size_t size) {
    if (size > rest_.size()) {
      whole_ = false;
      rest_ = {};
      return {};
    }
    const Bytes8 taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  [[nodiscard]] bool whole() const { return whole_; }
  [[nodiscard]] Bytes8 rest() const { return rest_; }

 private:
  Bytes8 rest_;
  bool whole_ = true;
};

// Byte `at` of the ring's life, and as many behind it as lie in one piece.
Bytes8 piece(Bytes8 area, std::uint64_t at, std::size_t size) {
  const std::size_t begin = at & (area.size() - 1);
  return area.subspan(begin, std::min(size, area.size() - begin));
}

Bytes8 in_one_piece(Bytes8 area, std::uint64_t at, std::size_t size, std::vector<std::uint8_t>& joined) {
  const Bytes8 front = piece(area, at, size);
  if (front.size() == size) {
    return front;
  }
  joined.assign(front.begin(), front.end());
  const Bytes8 back = area.first(size - front.size());
  joined.insert(joined.end(), back.begin(), back.end());
  return joined;
}

}  // namespace

bool is_understood(std::uint64_t sample_type) { return (sample_type & ~kUnderstood) == 0; }

// The order is that of the manual page's picture of PERF_RECORD_SAMPLE, not that of the bits.
std::optional<PerfSample> parse_sample(Bytes8 body, std::uint64_t sample_type) {
  if (!is_understood(sample_type)) {
    return std::nullopt;
  }
  const auto has = [sample_type](std::uint64_t bit) { return (sample_type & bit) != 0; };
  Fields fields(body);
  PerfSample sample;
  sample.event = has(PERF_SAMPLE_IDENTIFIER) ? fields.take<std::uint64_t>() : 0;
  sample.instruction = has(PERF_SAMPLE_IP) ? fields.take<std::uint64_t>() : 0;
  sample.process = has(PERF_SAMPLE_TID) ? fields.take<std::uint32_t>() : 0;
  sample.thread = has(PERF_SAMPLE_TID) ? fields.take<std::uint32_t>() : 0;
  sample.time = has(PERF_SAMPLE_TIME) ? fields.take<std::uint64_t>() : 0;
  sample.address = has(PERF_SAMPLE_ADDR) ? fields.take<std::uint64_t>() : 0;
  if (has(PERF_SAMPLE_CPU)) {
    sample.cpu = fields.take<std::uint32_t>();
    fields.take<std::uint32_t>();  // reserved
  }
  sample.period = has(PERF_SAMPLE_PERIOD) ? fields.take<std::uint64_t>() : 0;
  if (has(PERF_SAMPLE_RAW)) {
    sample.raw = fields.take_bytes(fields.take<std::uint32_t>());
  }
  sample.weight = has(PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT) ? fields.take<std::uint64_t>() : 0;
  sample.data_source = has(PERF_SAMPLE_DATA_SRC) ? fields.take<std::uint64_t>() : 0;
  return fields.whole() ? std::optional(sample) : std::nullopt;
}

std::optional<PerfTask> parse_task(Bytes8 body) {
  Fields fields(body);
  PerfTask task;
  task.process = fields.take<std::uint32_t>();
  task.parent_process = fields.take<std::uint32_t>();
  task.thread = fields.take<std::uint32_t>();
  task.parent_thread = fields.take<std::uint32_t>();
  task.time = fields.take<std::uint64_t>();
  return fields.whole() ? std::optional(task) : std::nullopt;
}

std::optional<PerfAux> parse_aux(Bytes8 body, std::uint64_t sample_type) {
  const auto has = [sample_type](std::uint64_t bit) { return (sample_type & bit) != 0; };
  Fields fields(body);
  PerfAux aux;
  aux.offset = fields.take<std::uint64_t>();
  aux.size = fields.take<std::uint64_t>();
  aux.flags = fields.take<std::uint64_t>();
  aux.id.process = has(PERF_SAMPLE_TID) ? fields.take<std::uint32_t>() : 0;
  aux.id.thread = has(PERF_SAMPLE_TID) ? fields.take<std::uint32_t>() : 0;
  aux.id.time = has(PERF_SAMPLE_TIME) ? fields.take<std::uint64_t>() : 0;
  if (has(PERF_SAMPLE_CPU)) {
    aux.id.cpu = fields.take<std::uint32_t>();
    fields.take<std::uint32_t>();  // reserved
  }
  aux.id.event = has(PERF_SAMPLE_IDENTIFIER) ? fields.take<std::uint64_t>() : 0;
  return fields.whole() ? std::optional(aux) : std::nullopt;
}

std::optional<std::uint64_t> parse_lost(const PerfRecord& record) {
  Fields fields(record.body);
  if (record.type == PERF_RECORD_LOST) {
    fields.take<std::uint64_t>();  // of which event
  } else if (record.type != PERF_RECORD_LOST_SAMPLES) {
    return std::nullopt;
  }
  const auto lost = fields.take<std::uint64_t>();
  return fields.whole() ? std::optional(lost) : std::nullopt;
}

bool read_records(Bytes8 area, std::uint64_t tail, std::uint64_t head, std::vector<std::uint8_t>& joined,
                  const std::function<void(const PerfRecord&)>& visit) {
  if (!std::has_single_bit(area.size()) || head < tail || head - tail > area.size()) {
    return head == tail;
  }
  while (tail != head) {
    perf_event_header header{};
    const std::uint64_t left = head - tail;
    if (left < sizeof header) {
      return false;
    }
    const Bytes8 front = in_one_piece(area, tail, sizeof header, joined);
    std::memcpy(&header, front.data(), sizeof header);
    if (header.size < sizeof header || header.size > left) {
      return false;
    }
    const Bytes8 whole = in_one_piece(area, tail, header.size, joined);
    visit({.type = header.type, .misc = header.misc, .body = whole.subspan(sizeof header)});
    tail += header.size;
  }
  return true;
}

}  // namespace memgraft::linux_os
