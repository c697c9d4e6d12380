// Restartable zeroing for x86-64 under Linux.
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "memgraft/linux/rseq.h"
#include "restartable.h"

namespace memgraft::zeroing::ahead {

namespace rseq = linux_os::rseq;

namespace {

// Values of linux/membarrier.h since 5.10; older headers lack them.
constexpr int kCommandQuery = 0;
constexpr int kCommandExpeditedRseq = 1 << 7;
constexpr int kCommandRegisterExpeditedRseq = 1 << 8;

int membarrier(int command) { return static_cast<int>(syscall(SYS_membarrier, command, 0U, 0)); }

}  // namespace

std::string prepare_restartable() {
  if (!rseq::kAreaOfGlibc.known()) {
    return "this C library registers no restartable sequences; glibc does since 2.35";
  }
  if (!rseq::kAreaOfGlibc.registered()) {
    return "the C library has not registered restartable sequences: the kernel lacks rseq(2), or "
           "GLIBC_TUNABLES has glibc.pthread.rseq=0";
  }
  const int commands = membarrier(kCommandQuery);
  if (commands < 0 || (commands & kCommandExpeditedRseq) == 0) {
    return "this kernel's membarrier(2) has no MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ; Linux has since 5.10";
  }
  if (membarrier(kCommandRegisterExpeditedRseq) != 0) {
    return std::string("membarrier(2) refuses MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ: ") +
           std::strerror(errno);
  }
  return {};
}

bool leave_restartable_sequences() { return membarrier(kCommandExpeditedRseq) == 0; }

std::uint64_t* own_sequence() {
  if (!rseq::kAreaOfGlibc.registered()) {
    return nullptr;
  }
  struct ::rseq* const area = rseq::own_area();
  if (static_cast<std::int32_t>(area->cpu_id) < 0) {
    return nullptr;
  }
  // 8 bytes in every version of the header, in some as a union.
  return reinterpret_cast<std::uint64_t*>(&area->rseq_cs);
}

// What is weakly ordered here becomes ordered in time. A sequence that is left was interrupted, and an
// interrupt drains the write-combining buffers, in which non-temporal stores wait (Intel SDM vol. 3A,
// "Buffering of Write Combining Memory Locations"; AMD64 APM vol. 2, "Write-Combining Buffers"). One that ran
// to its end is followed by finish_restartable() before the block is published; until then the block is the
// helper's, and whoever takes it away interrupts this core by membarrier(2), or finds this thread not
// running, switched away from through the kernel's own full barrier.
// NOLINTNEXTLINE(readability-non-const-parameter): the instructions below store through `sequence`
bool zero_restartably(std::uint64_t* sequence, Held work, Held block, std::byte* memory, std::size_t bytes) {
  // A sequence calls nothing and does not leave its range of addresses.
  asm goto(MEMGRAFT_RSEQ_BEGIN("(%[sequence])") R"(
2:  cmpq %[work_value], (%[work])
    jne 6f
    cmpq %[block_value], (%[block])
    jne 6f
    movq %[memory], %%rax
    pxor %%xmm0, %%xmm0
5:  movntdq %%xmm0, (%%rax)
    movntdq %%xmm0, 16(%%rax)
    movntdq %%xmm0, 32(%%rax)
    movntdq %%xmm0, 48(%%rax)
    addq $64, %%rax
    cmpq %[end], %%rax
    jne 5b
3:  jmp 8f
6:  jmp %l[lost]
8:
)"
           :
           : [sequence] "r"(sequence), [work] "r"(&work.word), [work_value] "r"(work.value),
             [block] "r"(&block.word), [block_value] "r"(block.value), [memory] "r"(memory),
             [end] "r"(memory + bytes)
           : "rax", "xmm0", "cc", "memory"
           : lost);
  return true;
lost:
  return false;
}

void finish_restartable() { asm volatile("sfence" ::: "memory"); }

}  // namespace memgraft::zeroing::ahead
