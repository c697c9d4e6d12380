# Warnings, sanitizers and language level, once for every C++ target of Memgraft.
option(MEMGRAFT_WERROR "Treat warnings as errors" ON)
set(MEMGRAFT_SANITIZE "" CACHE STRING "Sanitizers to build with: empty, address;undefined, or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
# -g1: lines are enough for a backtrace and for a sanitizer's report, and GCC takes a quarter less time than for -g; a
# debugger wants the build type Debug. What ASan and UBSan add takes -Og two thirds of -O1's time to compile; under TSan
# they differ little, and with -O1 the tests are quicker. Who has chosen flags of this build type keeps them.
set(optimisation -O2)
if("thread" IN_LIST MEMGRAFT_SANITIZE)
  set(optimisation -O1)
elseif(MEMGRAFT_SANITIZE)
  set(optimisation -Og)
endif()
foreach(language C CXX)
  if(CMAKE_${language}_FLAGS_RELWITHDEBINFO STREQUAL "-O2 -g -DNDEBUG") # CMake's own
    set(CMAKE_${language}_FLAGS_RELWITHDEBINFO "${optimisation} -g1 -DNDEBUG")
  endif()
  # It guesses by what the optimiser could not see, and is wrong at -O1 under TSan.
  if(MEMGRAFT_SANITIZE AND CMAKE_${language}_COMPILER_ID STREQUAL "GNU")
    string(APPEND CMAKE_${language}_FLAGS_RELWITHDEBINFO " -Wno-maybe-uninitialized")
  endif()
endforeach()

add_library(memgraft_options INTERFACE)
target_compile_options(memgraft_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                                   $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Wold-style-cast>)
if(MEMGRAFT_WERROR)
  target_compile_options(memgraft_options INTERFACE -Werror)
endif()
foreach(sanitizer IN LISTS MEMGRAFT_SANITIZE)
  target_compile_options(memgraft_options INTERFACE -fsanitize=${sanitizer} -fno-sanitize-recover=all
                                                     -fno-omit-frame-pointer)
  target_link_options(memgraft_options INTERFACE -fsanitize=${sanitizer})
endforeach()

# memgraft_tests_and_fuzzers()
#
# The folder's tests and fuzzers, as far as this build has them.
function(memgraft_tests_and_fuzzers)
  if(MEMGRAFT_TESTS)
    add_subdirectory(tests)
  endif()
  if(MEMGRAFT_FUZZ)
    add_subdirectory(fuzz)
  endif()
endfunction()
