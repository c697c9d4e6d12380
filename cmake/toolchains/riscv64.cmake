# g++-riscv64-linux-gnu and qemu-user; see debian.cmake.
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(MEMGRAFT_TARGET riscv64-linux-gnu)
set(MEMGRAFT_QEMU qemu-riscv64)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
# GCC before 14 calls libatomic for atomics of one byte, which the tests have (the library has not).
set(CMAKE_CXX_STANDARD_LIBRARIES "-Wl,--as-needed -latomic")
