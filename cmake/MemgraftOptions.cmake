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
if(MEMGRAFT_SANITIZE)
  # Lines are enough for a sanitizer's report; -O2 -g takes GCC more than twice as long for what ASan and UBSan add, and
  # -Og two thirds of -O1. Under TSan they differ little, and the tests are quicker with -O1.
  # -Wmaybe-uninitialized guesses by what the optimiser could not see, and is wrong at -O1 under TSan.
  set(optimisation -Og)
  if("thread" IN_LIST MEMGRAFT_SANITIZE)
    set(optimisation -O1)
  endif()
  foreach(language C CXX)
    set(CMAKE_${language}_FLAGS_RELWITHDEBINFO "${optimisation} -g1 -DNDEBUG")
    if(CMAKE_${language}_COMPILER_ID STREQUAL "GNU")
      string(APPEND CMAKE_${language}_FLAGS_RELWITHDEBINFO " -Wno-maybe-uninitialized")
    endif()
  endforeach()
endif()

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
