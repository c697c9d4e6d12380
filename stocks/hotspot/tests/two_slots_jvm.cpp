// A virtual table that holds the same method twice, as identical-code folding could make it.
#include <cstddef>

bool UseParallelGC = true;
bool UseTLAB = true;
bool ZeroTLAB = true;

extern "C" {
void* allocate(void* /*heap*/, std::size_t /*min*/, std::size_t /*requested*/,
               std::size_t* /*actual*/) __asm__("_ZN20ParallelScavengeHeap17allocate_new_tlabEmmPm");
void* allocate(void* /*heap*/, std::size_t /*min*/, std::size_t /*requested*/, std::size_t* /*actual*/) {
  return nullptr;
}
using Method = void* (*)(void*, std::size_t, std::size_t, std::size_t*);
extern const Method kVtable[4] __asm__("_ZTV20ParallelScavengeHeap");
const Method kVtable[4] = {nullptr, nullptr, allocate, allocate};
int fake_start() { return 1; }
}
