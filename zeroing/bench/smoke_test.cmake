# Runs one small benchmark per mode, the way the command line runs them, and reads the JSON that comes out.
# Usage: cmake -DBENCH=memgraft-zero-bench -P smoke_test.cmake
execute_process(
  COMMAND ${BENCH} --benchmark_format=json --benchmark_min_time=0.001 --benchmark_repetitions=2
          --benchmark_enable_random_interleaving=true "--benchmark_filter=^zero/(memset|disclaim-populate)/[a-z-]+/32768$"
  OUTPUT_VARIABLE json COMMAND_ERROR_IS_FATAL ANY)

string(JSON count LENGTH "${json}" benchmarks)
math(EXPR last "${count} - 1")
set(measured "")
foreach(i RANGE ${last})
  string(JSON benchmark GET "${json}" benchmarks ${i})
  string(JSON type GET "${benchmark}" run_type)
  if(NOT type STREQUAL "iteration") # aggregates of the repetitions
    continue()
  endif()
  string(JSON name GET "${benchmark}" run_name)
  string(JSON speed GET "${benchmark}" bytes_per_second)
  if(NOT speed GREATER 0)
    message(FATAL_ERROR "${name}: bytes_per_second is ${speed}, expected more than 0")
  endif()
  list(APPEND measured "${name}")
endforeach()

set(expected "")
foreach(mode resident streaming streaming-used)
  foreach(kernel memset disclaim-populate)
    list(APPEND expected "zero/${kernel}/${mode}/32768" "zero/${kernel}/${mode}/32768") # two repetitions
  endforeach()
endforeach()
list(SORT measured) # they come in random order
list(SORT expected)
if(NOT measured STREQUAL expected)
  message(FATAL_ERROR "measured ${measured}, expected ${expected}")
endif()
