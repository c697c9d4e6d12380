# g++-powerpc64le-linux-gnu and qemu-user; see debian.cmake.
set(CMAKE_SYSTEM_PROCESSOR ppc64le)
set(MEMGRAFT_TARGET powerpc64le-linux-gnu)
set(MEMGRAFT_QEMU qemu-ppc64le)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
