# g++-aarch64-linux-gnu and qemu-user; see debian.cmake.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(MEMGRAFT_TARGET aarch64-linux-gnu)
set(MEMGRAFT_QEMU qemu-aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
