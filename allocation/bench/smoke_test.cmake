# Runs every benchmark shortly, the way the command line runs them, and reads the JSON that comes out.
# Usage: cmake -DBENCH=memgraft-buffers-bench -P smoke_test.cmake
execute_process(
  COMMAND ${BENCH} --benchmark_format=json --benchmark_min_time=0.001 --benchmark_repetitions=2
          --benchmark_enable_random_interleaving=true
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
  string(JSON time GET "${benchmark}" nanoseconds)
  if(NOT time GREATER 0)
    message(FATAL_ERROR "${name}: nanoseconds is ${time}, expected more than 0")
  endif()
  string(REGEX REPLACE "/real_time.*$" "" name "${name}")
  list(APPEND measured "${name}")
endforeach()
foreach(expected swap/alone take/atomic refill/atomic)
  list(FIND measured "buffers/${expected}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "measured ${measured}, expected buffers/${expected} too")
  endif()
endforeach()
string(JSON cpus GET "${json}" context cpus)
if(NOT cpus GREATER 0)
  message(FATAL_ERROR "context cpus is ${cpus}, expected how many CPUs there are")
endif()

execute_process(COMMAND ${BENCH} --no-such RESULT_VARIABLE code OUTPUT_QUIET ERROR_QUIET)
if(code EQUAL 0)
  message(FATAL_ERROR "--no-such: ended with 0, expected a refusal")
endif()
