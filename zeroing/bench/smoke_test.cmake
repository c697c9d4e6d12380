# Runs one small benchmark per mode, the way the command line runs them, and reads the JSON that comes out.
# Usage: cmake -DBENCH=memgraft-zero-bench -P smoke_test.cmake
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/RunBench.cmake)

run_bench(json single "--benchmark_filter=^zero/(memset|calibrated|disclaim-populate)/[a-z-]+/32768(/|$)"
          --memgraft_largest=32768)
set(measured "")
set(several "") # how many threads, where this process has more than one CPU
foreach(i IN LISTS single)
  string(JSON benchmark GET "${json}" benchmarks ${i})
  string(JSON name GET "${benchmark}" run_name)
  if(name MATCHES "/threads:([0-9]+)$")
    set(several ${CMAKE_MATCH_1})
  endif()
  string(JSON speed GET "${benchmark}" bytes_per_second)
  if(NOT speed GREATER 0)
    message(FATAL_ERROR "${name}: bytes_per_second is ${speed}, expected more than 0")
  endif()
  list(APPEND measured "${name}")
endforeach()

set(expected "")
foreach(mode resident streaming streaming-late streaming-used)
  foreach(kernel memset calibrated)
    list(APPEND expected "zero/${kernel}/${mode}/32768" "zero/${kernel}/${mode}/32768") # two repetitions
    if(several)
      list(APPEND expected "zero/${kernel}/${mode}/32768/threads:${several}"
           "zero/${kernel}/${mode}/32768/threads:${several}")
    endif()
  endforeach()
endforeach()
foreach(mode resident streaming streaming-used) # of one thread; what it gives back is used at once or never
  foreach(kernel disclaim-populate)
    list(APPEND expected "zero/${kernel}/${mode}/32768" "zero/${kernel}/${mode}/32768")
  endforeach()
endforeach()
list(SORT measured) # they come in random order
list(SORT expected)
if(NOT measured STREQUAL expected)
  message(FATAL_ERROR "measured ${measured}, expected ${expected}")
endif()

# An option that is none, a table that is none.
foreach(wrong --memgraft_largest=x --memgraft_largest=63 --memgraft_table=/no/such/table)
  execute_process(COMMAND ${BENCH} ${wrong} RESULT_VARIABLE code ERROR_VARIABLE said OUTPUT_QUIET)
  if(code EQUAL 0 OR NOT said MATCHES "^memgraft-zero-bench: [^\n]+\n$")
    message(FATAL_ERROR "${wrong}: ended with ${code} and '${said}', expected a refusal in one line")
  endif()
endforeach()
