# Model checking with Relacy: a protocol as it ships, in which the checker must find no fault, and copies of it with one
# planted mistake each, in which it must find one. Both are tests.
#
#   memgraft_models(AREA MODEL HEADER SOURCE)   begins: MODEL.cpp includes "HEADER", which SOURCE is; sets AREA_MODELS
#                                               where models can be built
#   memgraft_model(AREA NAME FOLDER EXPECTED [OPTION ...])   MODEL.cpp with HEADER from FOLDER; EXPECTED: sound or mistaken
#   memgraft_mistake(AREA NAME RIGHT WRONG [OPTION ...])     with WRONG in the place of RIGHT, which must be there exactly
#                                               once; compiled quickly unless it says how
find_path(RELACY_INCLUDE_DIR relacy/relacy.hpp)

# The many mistaken ones are found within a second or two, so that compiling them quickly counts for more.
set(MEMGRAFT_MODEL_QUICKLY -O0 -g0)

macro(memgraft_models area model header source)
  set(${area}_MODELS OFF)
  set(${area}_MODEL ${model})
  set(${area}_HEADER ${header})
  set(${area}_SOURCE ${source})
  if(NOT RELACY_INCLUDE_DIR)
    message(STATUS "${area}.model is not built: Relacy was not found (Debian: relacy-dev)")
    add_test(NAME ${area}.model COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: Relacy was not found (Debian: relacy-dev)")
    set_tests_properties(${area}.model PROPERTIES SKIP_REGULAR_EXPRESSION SKIPPED)
  elseif(NOT MEMGRAFT_SANITIZE) # Relacy switches stacks, which sanitizers take for errors, and finds races itself.
    set(${area}_MODELS ON)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    # Built by ctest, not with the library: it takes longer than all the rest, and only the test needs it.
    add_custom_target(${area}.models)
    add_test(NAME ${area}.model.build COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target ${area}.models)
    set_tests_properties(${area}.model.build PROPERTIES FIXTURES_SETUP ${area}.models TIMEOUT 1200)
  endif()
endmacro()

function(memgraft_model area name folder expected)
  set(target ${area}.model.${name})
  add_executable(${target} EXCLUDE_FROM_ALL ${${area}_MODEL})
  add_dependencies(${area}.models ${target})
  # Behind the folder with the mistake, what the header includes besides.
  string(REPLACE "/${${area}_HEADER}" "" others "${${area}_SOURCE}")
  target_include_directories(${target} PRIVATE ${folder} ${others} ${PROJECT_SOURCE_DIR}/units/models)
  target_include_directories(${target} SYSTEM PRIVATE ${RELACY_INCLUDE_DIR})
  target_link_libraries(${target} PRIVATE memgraft_units memgraft_options)
  target_compile_options(${target} PRIVATE ${ARGN})
  add_test(NAME ${target} COMMAND ${target} ${expected})
  set_tests_properties(${target} PROPERTIES FIXTURES_REQUIRED ${area}.models TIMEOUT 300)
endfunction()

function(memgraft_mistake area name right wrong)
  file(READ ${${area}_SOURCE} source)
  string(FIND "${source}" "${right}" first)
  string(FIND "${source}" "${right}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "the mistake ${area} ${name} must find exactly once in ${${area}_SOURCE}:\n${right}")
  endif()
  string(REPLACE "${right}" "${wrong}" source "${source}")
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/mistakes/${name})
  file(WRITE ${folder}/${${area}_HEADER}.made "${source}")
  file(COPY_FILE ${folder}/${${area}_HEADER}.made ${folder}/${${area}_HEADER} ONLY_IF_DIFFERENT)
  set(options ${ARGN})
  if(NOT options)
    set(options ${MEMGRAFT_MODEL_QUICKLY})
  endif()
  memgraft_model(${area} ${name} ${folder} mistaken ${options})
endfunction()
