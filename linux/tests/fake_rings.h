// Perf events without a kernel: their rings are files in memory, and a test writes what the kernel would have
// written.
#pragma once

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

#include "memgraft/linux/perf_events.h"

namespace memgraft::linux_os {

// Bytes one behind the other.
class Written {
 public:
  template <typename Number>
  Written& add(Number number) {
    for (std::size_t byte = 0; byte < sizeof number; ++byte) {
      bytes.push_back(reinterpret_cast<const std::uint8_t*>(&number)[byte]);  // as it lies in memory
    }
    return *this;
  }
  // As a record's body, with its header before it.
  [[nodiscard]] std::vector<std::uint8_t> record(std::uint32_t type) const {
    Written whole;
    whole.add(perf_event_header{
        .type = type, .misc = 0, .size = static_cast<__u16>(sizeof(perf_event_header) + bytes.size())});
    std::ranges::copy(bytes, std::back_inserter(whole.bytes));
    return whole.bytes;
  }

  std::vector<std::uint8_t> bytes;
};

class FakeRings : public PerfEvents {
 public:
  struct Asked {
    perf_event_attr attributes{};
    pid_t pid = 0;
    int cpu = 0;
    int leader = -1;
    int fd = -1;
    int ring = -1;  // whose ring it uses; its own: the same as fd
    std::uint64_t number = 0;
    bool counts = true;
  };

  int open(const perf_event_attr& attributes, pid_t pid, int cpu) noexcept override {
    return join(-1, attributes, pid, cpu);
  }
  int join(int leader, const perf_event_attr& attributes, pid_t pid, int cpu) noexcept override {
    Asked asked{.attributes = attributes, .pid = pid, .cpu = cpu, .leader = leader};
    const int error = refuse(asked);
    if (error != 0) {
      return -error;
    }
    asked.fd = memfd_create("ring", MFD_CLOEXEC);
    asked.number = 1000 + events.size();
    events.push_back(asked);
    return asked.fd;
  }
  int redirect(int fd, int ring) noexcept override {
    event_of(fd).ring = ring;
    return 0;
  }
  void enable(int fd, bool counts) noexcept override { event_of(fd).counts = counts; }
  std::optional<std::uint64_t> identifier(int fd) noexcept override { return event_of(fd).number; }
  void* map(int fd, std::size_t bytes, off_t offset) noexcept override {
    if (bytes > most_mapped) {
      errno = EPERM;
      return MAP_FAILED;
    }
    const auto end = offset + static_cast<off_t>(bytes);
    if (ftruncate(fd, end) != 0) {
      return MAP_FAILED;
    }
    event_of(fd).ring = fd;
    void* const memory = PerfEvents::map(fd, bytes, offset);
    auto& areas = mapped[fd];
    areas.push_back({static_cast<std::uint8_t*>(memory), bytes});
    return memory;
  }

  Asked& event_of(int fd) {
    return *std::ranges::find_if(events, [fd](const Asked& asked) { return asked.fd == fd; });
  }
  // The event that was opened on that thread and CPU.
  Asked& event_on(pid_t thread, int cpu) {
    return *std::ranges::find_if(events,
                                 [&](const Asked& asked) { return asked.pid == thread && asked.cpu == cpu; });
  }
  // As the kernel does: to the ring of that event, around its end.
  void write(const Asked& event, const std::vector<std::uint8_t>& record) {
    const Area& ring = mapped.at(event.ring).front();
    // The layout of the first page.
    auto* const page = reinterpret_cast<perf_event_mmap_page*>(ring.memory);
    const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (const std::uint8_t byte : record) {
      ring.memory[page_bytes + page->data_head % (ring.bytes - page_bytes)] = byte;
      ++page->data_head;
    }
  }

  struct Area {
    std::uint8_t* memory = nullptr;
    std::size_t bytes = 0;
  };

  std::function<int(const Asked&)> refuse = [](const Asked&) { return 0; };
  std::size_t most_mapped = SIZE_MAX;
  std::vector<Asked> events;
  std::map<int, std::vector<Area>> mapped;  // by descriptor: the ring, then the second area
};

}  // namespace memgraft::linux_os
