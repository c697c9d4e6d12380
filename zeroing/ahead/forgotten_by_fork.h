// Memory that is all zero at first, and again in a forked child: there no helper exists, and every word that
// it might have left half-way is back at "closed".
#pragma once

#include <cstddef>

namespace memgraft::zeroing::ahead {

class ForgottenByFork {
 public:
  ForgottenByFork() = default;
  // `bytes`, rounded up to pages. data() is nullptr where the system refuses it, and errno says why.
  explicit ForgottenByFork(std::size_t bytes);
  ~ForgottenByFork();
  ForgottenByFork(ForgottenByFork&& other) noexcept;
  ForgottenByFork& operator=(ForgottenByFork&& other) noexcept;
  ForgottenByFork(const ForgottenByFork&) = delete;
  ForgottenByFork& operator=(const ForgottenByFork&) = delete;

  [[nodiscard]] void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace memgraft::zeroing::ahead
