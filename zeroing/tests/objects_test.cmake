# Checks, in the archive as shipped, what no run of a kernel shows:
#  - objects compiled for AVX2 or AVX-512 define nothing that the linker could give to other objects (weak symbols:
#    inline functions and templates with external linkage), nor code that runs at start-up on any CPU (constructors);
#  - no loop of stores became a call of memset, and each has the stores that its name says;
#  - non-temporal kernels end with a fence;
#  - the library needs no C++ runtime, so that a C program can link it.
# Usage: cmake -DNM=nm -DOBJDUMP=objdump -DISA=x86_64 -DARCHIVE=libmemgraft_zeroing.a -P objects_test.cmake
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
    if(object MATCHES "^(avx|baseline|lines|words|dc_zva|non_temporal|dcbz|cbo_zero)" AND type STREQUAL "U" AND symbol STREQUAL "memset")
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
  if(line MATCHES "^[0-9a-f]+ <\\.L.*>:$") # a label inside a function (RISC-V)
    continue()
  elseif(line MATCHES "^[0-9a-f]+ <(.*)>:$")
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

function(expect_count name pattern least most)
  string(REGEX MATCHALL "${pattern}" found "${text_${name}}")
  list(LENGTH found count)
  if(count LESS least OR count GREATER most)
    set(wrong "${wrong}\n  ${name} has ${count} instructions like ${pattern}, expected ${least} to ${most}" PARENT_SCOPE)
  endif()
endfunction()

# A loop of one store, not unrolled; what is left of a word goes in smaller ones, and there is no vector.
set(word_stores_x86_64 "movb +\\$0x0," "movl +\\$0x0," "movq +\\$0x0,")
set(word_stores_aarch64 "strb +wzr, .x[0-9]+., #1" "str +wzr, .x[0-9]+., #4" "str +xzr, .x[0-9]+., #8") # and a step
set(word_stores_ppc64 "stb[ux]* +r" "stw[ux]* +r" "std[ux]* +r[0-9]+,0")
set(word_stores_riscv64 "sb +zero," "sw +zero," "sd +zero,")
set(widths 1 4 8)
foreach(width store IN ZIP_LISTS widths word_stores_${ISA})
  expect_count(zero_word_${width} "${store}" 1 2) # twice: two copies of the loop, for two kinds of edges
  if(text_zero_word_${width} MATCHES "%[xyz]mm|[ ,][qv][0-9]+|stvx|stxv|vse[0-9]")
    string(APPEND wrong "\n  zero_word_${width} was vectorised")
  endif()
endforeach()

if(ISA STREQUAL x86_64)
  expect(zero_rep_stosb "rep +stos")
  expect(zero_avx2 "vmovdqa +%ymm[0-9]+,|vmovaps +%ymm[0-9]+,")
  expect(zero_avx512 "vmovdqa64 +%zmm[0-9]+,|vmovaps +%zmm[0-9]+,")
  expect(zero_non_temporal_16 "movnt[a-z]+ +%xmm[0-9]+,.*sfence")
  expect(zero_non_temporal_32 "vmovnt[a-z]+ +%ymm[0-9]+,.*sfence")
  expect(zero_non_temporal_64 "vmovnt[a-z]+ +%zmm[0-9]+,.*sfence")
  expect(zero_clzero ": +clzero.*sfence") # not the name of the function
  expect(zero_movdir64b ": +movdir64b .*sfence")
elseif(ISA STREQUAL aarch64)
  expect_count(zero_dc_zva_1 "dc +zva," 1 1)
  expect_count(zero_dc_zva_2 "dc +zva," 3 4) # two a turn, and what is left over one at a time
  expect_count(zero_dc_zva_4 "dc +zva," 5 6)
  expect_count(zero_non_temporal_32 "stnp +q" 2 2)
elseif(ISA STREQUAL ppc64)
  expect_count(zero_dcbz_1 "dcbz +0," 1 1)
  expect_count(zero_dcbz_2 "dcbz +0," 3 4)
  expect_count(zero_dcbz_4 "dcbz +0," 5 6)
  expect(other "stvx|stxv") # the loop of zero_altivec, which zero_dcbz_* share
elseif(ISA STREQUAL riscv64)
  # As a number where objdump was not told of Zicboz: MISC-MEM, function 2, immediate 4.
  expect(zero_cbo_zero "cbo\\.zero|0x4[0-9a-f][2a]00f")
endif()

if(wrong)
  message(FATAL_ERROR "${ARCHIVE}:${wrong}")
endif()
