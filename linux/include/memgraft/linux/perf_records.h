// What the kernel writes into the ring of a perf event, as perf_event_open(2) lays it out
// ("PERF_RECORD_..."). Pure functions over bytes: whatever the bytes are, nothing outside of them is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace memgraft::linux_os {

using Bytes8 = std::span<const std::uint8_t>;

// One record without its header.
struct PerfRecord {
  std::uint32_t type = 0;  // PERF_RECORD_...
  std::uint16_t misc = 0;
  Bytes8 body;
};

// PERF_RECORD_SAMPLE. What was not asked for stays 0.
struct PerfSample {
  std::uint64_t event =
      0;  // PERF_SAMPLE_IDENTIFIER: that of the event that was opened, for inherited ones too
  std::uint64_t instruction = 0;
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
  std::uint64_t time = 0;
  std::uint64_t address = 0;
  std::uint32_t cpu = 0;
  std::uint64_t period = 0;
  std::uint64_t weight = 0;  // PERF_SAMPLE_WEIGHT, or all three of PERF_SAMPLE_WEIGHT_STRUCT
  std::uint64_t data_source = 0;
  Bytes8 raw;  // within the bytes that were parsed
};

// What stands at the end of every other record when attr.sample_id_all is set.
struct PerfSampleId {
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
  std::uint64_t time = 0;
  std::uint64_t event = 0;
  std::uint32_t cpu = 0;
};

// PERF_RECORD_FORK and PERF_RECORD_EXIT.
struct PerfTask {
  std::uint32_t process = 0;
  std::uint32_t parent_process = 0;
  std::uint32_t thread = 0;
  std::uint32_t parent_thread = 0;
  std::uint64_t time = 0;
};

// PERF_RECORD_AUX: new bytes in the second area, which belong to the thread that `id` names.
struct PerfAux {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t flags = 0;  // PERF_AUX_FLAG_...
  PerfSampleId id;
};

// The types of sample that parse_sample understands: those of PerfSample's fields.
bool is_understood(std::uint64_t sample_type);

// Nothing where the body is too short, or the type of sample is not understood.
std::optional<PerfSample> parse_sample(Bytes8 body, std::uint64_t sample_type);
std::optional<PerfTask> parse_task(Bytes8 body);
std::optional<PerfAux> parse_aux(Bytes8 body, std::uint64_t sample_type);
// Of PERF_RECORD_LOST and PERF_RECORD_LOST_SAMPLES: how many.
std::optional<std::uint64_t> parse_lost(const PerfRecord& record);

// The records between `tail` and `head` (both count bytes since the ring began; `area` is a power of two
// long). One that goes over the end of the area is put together in `joined`. False: what stands there is no
// chain of records.
bool read_records(Bytes8 area, std::uint64_t tail, std::uint64_t head, std::vector<std::uint8_t>& joined,
                  const std::function<void(const PerfRecord&)>& visit);

}  // namespace memgraft::linux_os
