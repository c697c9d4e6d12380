# Checks, in the archive as shipped for x86-64, what no run of a kernel shows:
#  - objects compiled for AVX2 or AVX-512 define nothing that the linker could give to other objects (weak symbols:
#    inline functions and templates with external linkage), nor code that runs at start-up on any CPU (constructors);
#  - no loop of stores became a call of memset, and each has the stores that its name says;
#  - non-temporal kernels end with a fence;
#  - the library needs no C++ runtime, so that a C program can link it.
# Usage: cmake -DNM=nm -DOBJDUMP=objdump -DARCHIVE=libmemgraft_zeroing.a -P objects_test.cmake
set(wrong "")

function(lines_of command_output result)
  string(REPLACE ";" "," lines "${command_output}")
  string(REPLACE "\t" " " lines "${lines}") # llvm-objdump has tabs where GNU objdump has spaces
  string(REPLACE "[" "(" lines "${lines}") # an unmatched bracket would join list elements
  string(REPLACE "]" ")" lines "${lines}")
  string(REPLACE "\n" ";" lines "${lines}")
  set(${result} "${lines}" PARENT_SCOPE)
endfunction()

# Symbols.
execute_process(COMMAND ${NM} --format=posix ${ARCHIVE} OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
lines_of("${listing}" lines)
set(object "")
foreach(line IN LISTS lines)
  if(line MATCHES "\\((.*)\\):$") # archive.a[object.o]:
    set(object "${CMAKE_MATCH_1}")
  elseif(line MATCHES "^([^ ]+) ([A-Za-z?])")
    set(symbol "${CMAKE_MATCH_1}")
    set(type "${CMAKE_MATCH_2}")
    if(object MATCHES "^avx" AND (type MATCHES "[WwVvui]" OR symbol MATCHES "_GLOBAL__(sub_)?I"))
      string(APPEND wrong "\n  ${object} shares ${symbol} (${type}) with code for other CPUs")
    endif()
    if(object MATCHES "^(avx|baseline|word)" AND type STREQUAL "U" AND symbol STREQUAL "memset")
      string(APPEND wrong "\n  ${object} calls memset")
    endif()
    if(type STREQUAL "U" AND symbol MATCHES "^(__cxa|__gxx|_ZS|_ZNS|_ZNKS|_Znw|_Zdl)")
      string(APPEND wrong "\n  ${object} needs ${symbol} of the C++ runtime")
    endif()
  endif()
endforeach()

# Instructions: the text of each entry point, as text_<name>.
execute_process(COMMAND ${OBJDUMP} --disassemble --demangle --no-show-raw-insn ${ARCHIVE}
                OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
lines_of("${listing}" lines)
set(function "")
foreach(line IN LISTS lines)
  if(line MATCHES "^[0-9a-f]+ <(.*)>:$")
    set(function "other")
    if(CMAKE_MATCH_1 MATCHES "^memgraft::zeroing::(zero_[a-z0-9_]+)\\(")
      set(function "${CMAKE_MATCH_1}")
    endif()
  else()
    string(APPEND text_${function} "${line}\n")
  endif()
endforeach()

function(expect name pattern)
  if(NOT text_${name} MATCHES "${pattern}")
    set(wrong "${wrong}\n  ${name} has no instruction like ${pattern}" PARENT_SCOPE)
  endif()
endfunction()

string(REGEX MATCHALL "movl +\\$0x0," word_stores "${text_zero_by_words}")
list(LENGTH word_stores word_store_count)
if(NOT word_store_count EQUAL 1)
  string(APPEND wrong "\n  zero_by_words has ${word_store_count} stores of 4 bytes, expected 1: a loop, not unrolled")
endif()
if(text_zero_by_words MATCHES "%[xyz]mm")
  string(APPEND wrong "\n  zero_by_words was vectorised")
endif()
expect(zero_rep_stosb "rep +stos")
expect(zero_avx2 "vmovdqa +%ymm[0-9]+,|vmovaps +%ymm[0-9]+,")
expect(zero_avx512 "vmovdqa64 +%zmm[0-9]+,|vmovaps +%zmm[0-9]+,")
expect(zero_non_temporal_16 "movnt[a-z]+ +%xmm[0-9]+,.*sfence")
expect(zero_non_temporal_32 "vmovnt[a-z]+ +%ymm[0-9]+,.*sfence")
expect(zero_non_temporal_64 "vmovnt[a-z]+ +%zmm[0-9]+,.*sfence")

if(wrong)
  message(FATAL_ERROR "${ARCHIVE}:${wrong}")
endif()
