# One of Debian's cross compilers, and QEMU's user mode to run what it makes: included by the other files here, each of
# which names the target. Another emulator (a newer QEMU): -DMEMGRAFT_EMULATOR=/path/to/qemu-riscv64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${MEMGRAFT_TARGET}-gcc)
set(CMAKE_CXX_COMPILER ${MEMGRAFT_TARGET}-g++)

# What libraries and packages this machine has are not for the target.
# (The target's packages of a multiarch system are.)
set(CMAKE_FIND_ROOT_PATH /usr/${MEMGRAFT_TARGET} /usr/lib/${MEMGRAFT_TARGET})
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/${MEMGRAFT_TARGET}/pkgconfig)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

find_program(MEMGRAFT_EMULATOR NAMES ${MEMGRAFT_QEMU} ${MEMGRAFT_QEMU}-static)
if(MEMGRAFT_EMULATOR)
  # -L: where the target's dynamic linker and C library are. Not where packages of the target are installed: the linker of
  # the one and the library of the other do not go together.
  set(CMAKE_CROSSCOMPILING_EMULATOR ${MEMGRAFT_EMULATOR})
  if(NOT EXISTS /usr/lib/${MEMGRAFT_TARGET}/libstdc++.so.6)
    list(APPEND CMAKE_CROSSCOMPILING_EMULATOR -L /usr/${MEMGRAFT_TARGET})
  endif()
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MEMGRAFT_EMULATOR)
