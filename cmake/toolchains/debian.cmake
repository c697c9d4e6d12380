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
  # -L: where the target's dynamic linker is. LD_LIBRARY_PATH: its C library beside it, before that of the target's packages
  # where a multiarch system has those. The linker of the one with the library of the other begins programs that then hang
  # in fork() and in new threads.
  set(CMAKE_CROSSCOMPILING_EMULATOR ${MEMGRAFT_EMULATOR} -L /usr/${MEMGRAFT_TARGET}
      -E LD_LIBRARY_PATH=/usr/${MEMGRAFT_TARGET}/lib)
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MEMGRAFT_EMULATOR)
