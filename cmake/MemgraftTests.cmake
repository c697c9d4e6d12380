# memgraft_tests(TARGET [TEST_PREFIX PREFIX] [PROPERTIES NAME VALUE ...])
#
# The cases of a GoogleTest program that do not mind each other. In the native build each is a process of its own, so
# that none depends on what another left. Under a sanitizer or an emulator a process takes far longer to start than most
# cases do, so there all of them are one.
function(memgraft_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 one "" "TEST_PREFIX" "PROPERTIES")
  if(MEMGRAFT_SANITIZE OR CMAKE_CROSSCOMPILING)
    set(name ${one_TEST_PREFIX}${target})
    add_test(NAME ${name} COMMAND ${target})
    if(one_PROPERTIES)
      set_tests_properties(${name} PROPERTIES ${one_PROPERTIES})
    endif()
  else()
    gtest_discover_tests(${target} TEST_PREFIX "${one_TEST_PREFIX}" NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60
                         PROPERTIES ${one_PROPERTIES})
  endif()
endfunction()
