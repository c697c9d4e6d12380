#include "memgraft/linux/perf_ring.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

namespace memgraft::linux_os {

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

namespace {

std::optional<PerfMapping> mapping_of(PerfEvents& events, int fd, std::size_t bytes, std::size_t offset,
                                      int& error) {
  void* const memory = events.map(fd, bytes, static_cast<off_t>(offset));
  if (memory == MAP_FAILED) {
    error = errno;
    return std::nullopt;
  }
  return PerfMapping(std::span(static_cast<std::uint8_t*>(memory), bytes), events);
}

}  // namespace

PerfMapping::~PerfMapping() {
  if (!bytes_.empty()) {
    events_->unmap(bytes_.data(), bytes_.size());
  }
}

PerfMapping::PerfMapping(PerfMapping&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), events_(other.events_) {}

PerfMapping& PerfMapping::operator=(PerfMapping&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(events_, other.events_);
  return *this;
}

PerfRing::PerfRing(PerfMapping mapping, std::size_t bytes)
    : mapping_(std::move(mapping)), area_(mapping_.bytes().last(bytes)) {}

std::optional<PerfRing> PerfRing::map(PerfEvents& events, int fd, std::size_t bytes, int& error) {
  // One page with head and tail stands before the data.
  std::optional<PerfMapping> mapping = mapping_of(events, fd, page_bytes() + bytes, 0, error);
  if (!mapping) {
    return std::nullopt;
  }
  return PerfRing(*std::move(mapping), bytes);
}

int PerfRing::map_aux(PerfEvents& events, int fd, std::size_t bytes) {
  const std::size_t offset = mapping_.bytes().size();
  // The kernel reads both in the next mmap(2) of this thread: no order to keep.
  page()->aux_offset = offset;
  page()->aux_size = bytes;
  int error = 0;
  std::optional<PerfMapping> mapping = mapping_of(events, fd, bytes, offset, error);
  if (!mapping) {
    return error;
  }
  aux_ = *std::move(mapping);
  return 0;
}

perf_event_mmap_page* PerfRing::page() const {
  // The kernel's layout of the first page, which is aligned to pages.
  return reinterpret_cast<perf_event_mmap_page*>(mapping_.bytes().data());
}

void PerfRing::read(const std::function<void(const PerfRecord&)>& visit) {
  using Position = std::atomic_ref<__u64>;
  const Position tail(page()->data_tail);
  // Acquire: the records before this head are there once it is seen (the kernel has a write barrier before
  // it).
  const std::uint64_t head = Position(page()->data_head).load(std::memory_order_acquire);
  // Relaxed: only this thread writes it.
  const std::uint64_t begin = tail.load(std::memory_order_relaxed);
  // As far as the records tell and not as far as aux_head says, which may be ahead of them by now. The bytes
  // are there once their record is.
  std::uint64_t aux_read = 0;
  const bool chained = read_records(area_, begin, head, joined_, [&](const PerfRecord& record) {
    if (const std::optional<std::uint64_t> lost = parse_lost(record)) {
      lost_ += *lost;
      return;
    }
    visit(record);
    if (record.type == PERF_RECORD_AUX) {
      const PerfAux part = parse_aux(record.body, 0).value_or(PerfAux{});
      aux_read = part.offset + part.size;
    }
  });
  lost_ += chained ? 0 : 1;  // What follows cannot be found: the ring starts anew at its head.
  // Release: the kernel may write over the records only after they were read.
  tail.store(head, std::memory_order_release);
  if (aux_read != 0) {
    // Release, for the same reason.
    Position(page()->aux_tail).store(aux_read, std::memory_order_release);
  }
}

Bytes8 PerfRing::aux(const PerfAux& part) {
  const Bytes8 all = aux_.bytes();
  if (part.size == 0 || part.size > all.size()) {
    return {};
  }
  const std::size_t begin = part.offset % all.size();
  const std::size_t front = std::min<std::size_t>(part.size, all.size() - begin);
  if (front == part.size) {
    return all.subspan(begin, front);
  }
  aux_joined_.assign(all.end() - static_cast<std::ptrdiff_t>(front), all.end());
  aux_joined_.insert(aux_joined_.end(), all.begin(),
                     all.begin() + static_cast<std::ptrdiff_t>(part.size - front));
  return aux_joined_;
}

}  // namespace memgraft::linux_os
