# run_bench(JSON SINGLE [OPTION ...])
#
# Runs ${BENCH}, a Google Benchmark program, shortly and the way the command line runs it. JSON becomes what it printed;
# SINGLE the numbers of those of its `benchmarks` that are one repetition each, not aggregates of them.
function(run_bench json single)
  execute_process(
    COMMAND ${BENCH} --benchmark_format=json --benchmark_min_time=0.001 --benchmark_repetitions=2
            --benchmark_enable_random_interleaving=true ${ARGN}
    OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
  string(JSON count LENGTH "${printed}" benchmarks)
  math(EXPR last "${count} - 1")
  set(numbers "")
  foreach(i RANGE ${last})
    string(JSON type GET "${printed}" benchmarks ${i} run_type)
    if(type STREQUAL "iteration")
      list(APPEND numbers ${i})
    endif()
  endforeach()
  set(${json} "${printed}" PARENT_SCOPE)
  set(${single} "${numbers}" PARENT_SCOPE)
endfunction()
