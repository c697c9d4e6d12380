// Restartable zeroing for x86-64 under Linux.
#include <dlfcn.h>
#include <linux/membarrier.h>
#include <linux/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "restartable.h"

namespace memgraft::zeroing::ahead {
namespace {

// Values of linux/membarrier.h since 5.10; older headers lack them.
constexpr int command_query = 0;
constexpr int command_expedited_rseq = 1 << 7;
constexpr int command_register_expedited_rseq = 1 << 8;

int membarrier(int command) { return static_cast<int>(syscall(SYS_membarrier, command, 0U, 0)); }

/// Where glibc keeps the area of each thread: relative to the thread pointer. By name at run time, so that
/// the library also loads where glibc is older than 2.35.
struct Area {
  const std::ptrdiff_t* offset = nullptr;
  const unsigned* size = nullptr;  ///< 0 where glibc was told not to register, or the kernel refused
};

Area area_of_glibc() {
  return {.offset = static_cast<const std::ptrdiff_t*>(dlsym(RTLD_DEFAULT, "__rseq_offset")),
          .size = static_cast<const unsigned*>(dlsym(RTLD_DEFAULT, "__rseq_size"))};
}

}  // namespace

std::string prepare_restartable() {
  const Area area = area_of_glibc();
  if (area.offset == nullptr || area.size == nullptr) {
    return "this C library registers no restartable sequences; glibc does since 2.35";
  }
  if (*area.size == 0) {
    return "the C library has not registered restartable sequences: the kernel lacks rseq(2), or "
           "GLIBC_TUNABLES has glibc.pthread.rseq=0";
  }
  const int commands = membarrier(command_query);
  if (commands < 0 || (commands & command_expedited_rseq) == 0) {
    return "this kernel's membarrier(2) has no MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ; Linux has since 5.10";
  }
  if (membarrier(command_register_expedited_rseq) != 0) {
    return std::string("membarrier(2) refuses MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ: ") +
           std::strerror(errno);
  }
  return {};
}

bool leave_restartable_sequences() { return membarrier(command_expedited_rseq) == 0; }

std::uint64_t* own_sequence() {
  const Area area = area_of_glibc();
  if (area.offset == nullptr || area.size == nullptr || *area.size == 0) {
    return nullptr;
  }
  std::byte* thread_pointer = nullptr;
  // The first word of a thread's control block is its own address (System V ABI, AMD64 supplement,
  // "Thread-Local Storage").
  asm("movq %%fs:0, %0" : "=r"(thread_pointer));
  // glibc manual, "Restartable Sequences": the area lies at this offset from the thread pointer.
  auto* const area_of_thread = reinterpret_cast<struct rseq*>(thread_pointer + *area.offset);
  // A negative number says that this thread is not registered (linux/rseq.h).
  if (static_cast<std::int32_t>(area_of_thread->cpu_id) < 0) {
    return nullptr;
  }
  // 8 bytes in every version of the header, in some as a union.
  return reinterpret_cast<std::uint64_t*>(&area_of_thread->rseq_cs);
}

// What is weakly ordered here becomes ordered in time. A sequence that is left was interrupted, and an
// interrupt drains the write-combining buffers, in which non-temporal stores wait (Intel SDM vol. 3A,
// "Buffering of Write Combining Memory Locations"; AMD64 APM vol. 2, "Write-Combining Buffers"). One that ran
// to its end is followed by finish_restartable() before the block is published; until then the block is the
// helper's, and whoever takes it away interrupts this core by membarrier(2), or finds this thread not
// running, switched away from through the kernel's own full barrier.
// NOLINTNEXTLINE(readability-non-const-parameter): the instructions below store through `sequence`
bool zero_restartably(std::uint64_t* sequence, Held work, Held block, std::byte* memory, std::size_t bytes) {
  // The kernel finds the descriptor through `sequence`, and clears that when it makes the thread leave. A
  // sequence calls nothing and does not leave its range of addresses. The abort handler is preceded by the
  // signature that glibc registered (RSEQ_SIG of sys/rseq.h, the operand of a ud1 instruction).
  asm goto(
      R"(
    .pushsection __rseq_cs, "aw"
    .balign 32
1:  .long 0, 0                  # version, flags
    .quad 2f, 3f - 2f, 4f       # begin, length, abort handler
    .popsection
    .pushsection __rseq_failure, "ax"
    .byte 0x0f, 0xb9, 0x3d
    .long 0x53053053
4:  jmp 7f
    .popsection
7:  leaq 1b(%%rip), %%rax
    movq %%rax, (%[sequence])
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
