# The model checker: the protocol as it ships, in which it must find no fault, and copies with one planted mistake each,
# in which it must find one. A mistake that no longer applies to the source stops the configuration.
find_path(RELACY_INCLUDE_DIR relacy/relacy.hpp)
if(NOT RELACY_INCLUDE_DIR)
  message(STATUS "zeroing.ahead.model is not built: Relacy was not found (Debian: relacy-dev)")
  add_test(NAME zeroing.ahead.model COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: Relacy was not found (Debian: relacy-dev)")
  set_tests_properties(zeroing.ahead.model PROPERTIES SKIP_REGULAR_EXPRESSION SKIPPED)
  return()
endif()
if(MEMGRAFT_SANITIZE)
  return() # Relacy switches stacks, which sanitizers take for errors, and finds races itself.
endif()

set(protocol ${CMAKE_CURRENT_SOURCE_DIR}/../protocol.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${protocol})

# Built by ctest, not with the library: it takes longer than all the rest, and only the test needs it.
add_custom_target(zeroing_ahead_models)
add_test(NAME zeroing.ahead.model.build
         COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target zeroing_ahead_models)
set_tests_properties(zeroing.ahead.model.build PROPERTIES FIXTURES_SETUP zeroing_ahead_models TIMEOUT 1200)

function(model name folder expected)
  set(target zeroing_ahead_model_${name})
  add_executable(${target} EXCLUDE_FROM_ALL model.cpp)
  add_dependencies(zeroing_ahead_models ${target})
  target_include_directories(${target} PRIVATE ${folder})
  target_include_directories(${target} SYSTEM PRIVATE ${RELACY_INCLUDE_DIR})
  target_link_libraries(${target} PRIVATE memgraft_options)
  target_compile_options(${target} PRIVATE ${ARGN})
  add_test(NAME zeroing.ahead.model.${name} COMMAND ${target} ${expected})
  set_tests_properties(zeroing.ahead.model.${name} PROPERTIES FIXTURES_REQUIRED zeroing_ahead_models TIMEOUT 300)
endfunction()

# The many mistaken ones are found within a second or two, so that compiling them quickly counts for more.
set(quickly -O0 -g0)

function(forgetting what)
  model(forgets_${what} ${CMAKE_CURRENT_SOURCE_DIR}/.. mistaken ${quickly} -DMEMGRAFT_MODEL_FORGETS="${what}")
endfunction()

function(mistake name right wrong)
  file(READ ${protocol} source)
  string(FIND "${source}" "${right}" first)
  string(FIND "${source}" "${right}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "zeroing/ahead/tests/model.cmake: the mistake ${name} must find exactly once in protocol.h:\n${right}")
  endif()
  string(REPLACE "${right}" "${wrong}" source "${source}")
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/mistakes/${name})
  file(WRITE ${folder}/protocol.h.made "${source}")
  file(COPY_FILE ${folder}/protocol.h.made ${folder}/protocol.h ONLY_IF_DIFFERENT)
  model(${name} ${folder} mistaken ${quickly})
endfunction()

model(sound ${CMAKE_CURRENT_SOURCE_DIR}/.. sound -O1)

# A sequence that does not check one of its words, or that the kernel does not begin anew; no membarrier(2).
forgetting(expel)
forgetting(work)
forgetting(block)
forgetting(restart)

# A helper that slept takes a block of a later generation for dirty.
mistake(later_is_dirty "generation_of(block) < generation" "generation_of(block) != generation")
# It zeroes a block that was taken.
mistake(takes_taken "if (!is_dirty(seen, generation) ||" "if (")
# It says that a block is zeroed before it is.
mistake(published_early "mine = value_of(generation, Block::zeroing)" "mine = value_of(generation, Block::zeroed)")
mistake(published_relaxed "Block::zeroed), std::memory_order_release" "Block::zeroed), std::memory_order_relaxed")
# It begins a block without having said so.
mistake(unannounced "expected, value_of(generation, Phase::working)," "expected, value_of(generation, Phase::open),")
# Whoever closes does not ask for the block, or does not see what the helper wrote.
mistake(closes_regardless "? closing : closed," "? closed : closed,")
mistake(region_relaxed "Phase::open), std::memory_order_release);\n  }" "Phase::open), std::memory_order_relaxed);\n  }")
mistake(finished_relaxed "Phase::open), std::memory_order_release,\n" "Phase::open), std::memory_order_relaxed,\n")
mistake(let_go_relaxed "Block::taken), std::memory_order_release,\n                                  std::memory_order_relaxed"
        "Block::taken), std::memory_order_relaxed,\n                                  std::memory_order_relaxed")
# A taker believes that the helper let go, or that whoever revoked the block has made sure of it.
mistake(believes_helper "const bool expelled = policy_.expel();" "const bool expelled = true;")
mistake(believes_taker "return Found::revoked;" "return Found::taken;")
mistake(taken_relaxed "Value seen = block.load(std::memory_order_acquire);" "Value seen = block.load(std::memory_order_relaxed);")
