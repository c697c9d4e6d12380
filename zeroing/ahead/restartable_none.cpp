// Where no restartable sequence was written for the instruction set.
#include <cstdlib>

#include "restartable.h"

namespace memgraft::zeroing::ahead {

std::string prepare_restartable() { return "no restartable sequence was written for this instruction set"; }

bool leave_restartable_sequences() { return false; }

std::uint64_t* own_sequence() { return nullptr; }

bool zero_restartably(std::uint64_t* /*sequence*/, Held /*work*/, Held /*block*/, std::byte* /*memory*/,
                      std::size_t /*bytes*/) {
  std::abort();  // own_sequence() said that it cannot
}

void finish_restartable() {}

}  // namespace memgraft::zeroing::ahead
