# memgraft_tests(TARGET [TEST_PREFIX PREFIX] [ALONE FILTER] [ONE_THREAD FILTER] [PROPERTIES NAME VALUE ...])
#
# The cases of a GoogleTest program. In the native build each is a process of its own, so that none depends on what
# another left. Under a sanitizer or an emulator a process takes far longer to start than most cases do, so there all of
# them are one, but for those of ALONE, which need one each. Those of ONE_THREAD take long and have one thread: TSan, which
# could find nothing in them, does without.
function(memgraft_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 one "" "TEST_PREFIX;ALONE;ONE_THREAD" "PROPERTIES")
  memgraft_few_units(${target})
  set(alone "${one_ALONE}")
  if(MEMGRAFT_SANITIZE OR CMAKE_CROSSCOMPILING)
    set(name ${one_TEST_PREFIX}${target})
    set(left_out ${alone})
    if("thread" IN_LIST MEMGRAFT_SANITIZE)
      list(APPEND left_out ${one_ONE_THREAD})
    endif()
    list(JOIN left_out ":" left_out)
    add_test(NAME ${name} COMMAND ${target} "--gtest_filter=-${left_out}")
    if(one_PROPERTIES)
      set_tests_properties(${name} PROPERTIES ${one_PROPERTIES})
    endif()
    if(NOT alone)
      return()
    endif()
  else()
    set(alone "*")
  endif()
  gtest_discover_tests(${target} TEST_PREFIX "${one_TEST_PREFIX}" TEST_FILTER "${alone}" NO_PRETTY_VALUES
                       DISCOVERY_TIMEOUT 60 PROPERTIES ${one_PROPERTIES})
endfunction()

# memgraft_few_units(TARGET)
#
# The sources of a GoogleTest program, eight in a translation unit where compiling takes longest: most of that time goes
# into the headers that all of them include. A source that has a name of another one's is left out (CMake's
# SKIP_UNITY_BUILD_INCLUSION). The native build has them one by one, so that none lacks an include.
#
# CMake includes the sources by their absolute paths. What the compiler says of its file must not have them, or ccache
# would know nothing of what another clone has compiled.
function(memgraft_few_units target)
  if(MEMGRAFT_SANITIZE OR CMAKE_CROSSCOMPILING)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    target_compile_options(${target} PRIVATE "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.")
  endif()
endfunction()

# memgraft_uses_built(TARGET MACRO OTHER)
#
# The test program may start or load what OTHER builds: built(MACRO), of memgraft/built.h.
function(memgraft_uses_built target macro other)
  target_compile_definitions(${target} PRIVATE
    ${macro}="$<PATH:RELATIVE_PATH,$<TARGET_FILE:${other}>,${PROJECT_BINARY_DIR}>")
  add_dependencies(${target} ${other})
endfunction()
