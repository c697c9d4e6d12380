#include "forgotten_by_fork.h"

#include <sys/mman.h>

#include <utility>

namespace memgraft::zeroing::ahead {

ForgottenByFork::ForgottenByFork(std::size_t bytes) : bytes_(bytes) {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    return;
  }
  data_ = mapped;
  // Linux 4.14. Memory that a child would inherit must not be used: the child would wait for a helper for
  // ever.
  if (madvise(mapped, bytes, MADV_WIPEONFORK) != 0) {
    munmap(std::exchange(data_, nullptr), bytes);
  }
}

ForgottenByFork::~ForgottenByFork() {
  if (data_ != nullptr) {
    munmap(data_, bytes_);
  }
}

ForgottenByFork::ForgottenByFork(ForgottenByFork&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

ForgottenByFork& ForgottenByFork::operator=(ForgottenByFork&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace memgraft::zeroing::ahead
