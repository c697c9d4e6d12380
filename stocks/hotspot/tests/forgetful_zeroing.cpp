// Zeroing that zeroes nothing: an agent built with it shows whether a workload would notice.
#include <cstddef>

#include "memgraft/zeroing.h"

namespace {

void forget(void* /*memory*/, std::size_t /*bytes*/) {}

constexpr memgraft_zero_kernel kForgetful{.name = "forgetful",
                                          .description = "zeroes nothing",
                                          .stores = MEMGRAFT_ZERO_ORDINARY,
                                          .width = 0,
                                          .available = true,
                                          .zero = forget};

}  // namespace

const memgraft_zero_kernel* memgraft_zero_chosen(enum memgraft_zero_stores /*stores*/) { return &kForgetful; }

const memgraft_zero_kernel* memgraft_zero_best(enum memgraft_zero_use /*use*/, std::size_t /*bytes*/,
                                               unsigned /*threads*/) {
  return &kForgetful;
}

bool memgraft_zero_load_table(const char* /*path*/, char* /*error*/, std::size_t /*error_bytes*/) {
  return true;
}
