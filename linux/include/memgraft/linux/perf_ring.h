// The ring that Linux fills with the records of perf events (perf_event_open(2), "MMAP layout").
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "memgraft/linux/perf_events.h"
#include "memgraft/linux/perf_records.h"

namespace memgraft::linux_os {

// Rings are made of whole pages: 4 KiB, or up to 64 on Arm.
std::size_t page_bytes();

// Memory of a perf event that is mapped as long as this lives.
class PerfMapping {
 public:
  PerfMapping() = default;
  PerfMapping(std::span<std::uint8_t> bytes, PerfEvents& events) : bytes_(bytes), events_(&events) {}
  ~PerfMapping();
  PerfMapping(const PerfMapping&) = delete;
  PerfMapping& operator=(const PerfMapping&) = delete;
  PerfMapping(PerfMapping&& other) noexcept;
  PerfMapping& operator=(PerfMapping&& other) noexcept;

  [[nodiscard]] std::span<std::uint8_t> bytes() const { return bytes_; }

 private:
  std::span<std::uint8_t> bytes_;
  PerfEvents* events_ = nullptr;
};

// One thread reads it. Everything that was written until the call began is read; nothing waits.
class PerfRing {
 public:
  // Maps the ring of that event with `bytes` of data (a power of two and whole pages), or nothing: then
  // `error` is errno. EPERM: more than perf_event_mlock_kb and `ulimit -l` allow.
  static std::optional<PerfRing> map(PerfEvents& events, int fd, std::size_t bytes, int& error);

  // Adds the second area, into which a PMU writes by itself (PERF_RECORD_AUX tells how far). 0 or errno.
  int map_aux(PerfEvents& events, int fd, std::size_t bytes);

  // Every record but PERF_RECORD_LOST, oldest first. The records' bytes are gone afterwards, and those of the
  // second area that they told of.
  void read(const std::function<void(const PerfRecord&)>& visit);

  // A part of the second area, of which a record told. Only within read(), until the next call.
  Bytes8 aux(const PerfAux& part);

  // Records that found no room, as far as Linux has told: it does so with the next one that finds some.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  PerfRing(PerfMapping mapping, std::size_t bytes);
  [[nodiscard]] perf_event_mmap_page* page() const;

  PerfMapping mapping_;
  PerfMapping aux_;
  Bytes8 area_;
  std::vector<std::uint8_t> joined_;
  std::vector<std::uint8_t> aux_joined_;
  std::uint64_t lost_ = 0;
};

}  // namespace memgraft::linux_os
