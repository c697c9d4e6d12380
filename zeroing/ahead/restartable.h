// Zeroing that can be taken away from a thread at any instant, whether it runs or not.
//
// The helper zeroes a piece inside a restartable sequence (rseq(2), Linux 4.18): a stretch of instructions
// that the kernel makes the thread leave, if it is found inside, before it runs on after a preemption, a
// signal or a stop. The sequence begins by checking that the block is still the helper's. Whoever takes the
// block away first changes the word that is checked, then calls membarrier(2) with
// MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ (Linux 5.10), after which every running thread of the process has
// been made to leave its sequence too: no store of a sequence whose check is older can follow.
//
// glibc registers the area that rseq(2) needs for every thread since 2.35; no area is ever registered here.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace memgraft::zeroing::ahead {

// A word and what it must be for a piece to be zeroed.
struct Held {
  const std::atomic<std::uint64_t>& word;
  std::uint64_t value;
};

// Pieces that one sequence zeroes: small, as an interrupted piece is begun anew.
inline constexpr std::size_t kRestartablePieceBytes = 4096;

// Registers this process with membarrier(2); empty if its threads can be made to leave their sequences,
// otherwise why they cannot.
std::string prepare_restartable();

// Makes every thread of the process leave its sequence, and is a full memory barrier on all of them. False
// if the kernel refuses.
bool leave_restartable_sequences();

// Where the kernel looks for the calling thread's sequence, or nullptr where it does not look. For the
// thread that zeroes; good until that thread ends.
std::uint64_t* own_sequence();

// Zeroes `bytes` (a positive multiple of 64) at `memory` (aligned to 64) with non-temporal stores, each only
// while both words have their values; false, with any part of it zeroed, once one of them has not. The
// stores are weakly ordered. `sequence` is the calling thread's own_sequence().
bool zero_restartably(std::uint64_t* sequence, Held work, Held block, std::byte* memory, std::size_t bytes);

// Orders the stores of zero_restartably before all later ones.
void finish_restartable();

}  // namespace memgraft::zeroing::ahead
