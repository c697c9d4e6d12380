# The model of the protocol, and its mistakes.
include(MemgraftModels)
memgraft_models(zeroing.ahead model.cpp protocol.h ${CMAKE_CURRENT_SOURCE_DIR}/../protocol.h)
if(NOT zeroing.ahead_MODELS)
  return()
endif()

function(forgetting what)
  memgraft_model(zeroing.ahead forgets_${what} ${CMAKE_CURRENT_SOURCE_DIR}/.. mistaken ${MEMGRAFT_MODEL_QUICKLY}
                 -DMEMGRAFT_MODEL_FORGETS="${what}")
endfunction()

memgraft_model(zeroing.ahead sound ${CMAKE_CURRENT_SOURCE_DIR}/.. sound -O1)

# A sequence that does not check one of its words, or that the kernel does not begin anew; no membarrier(2).
forgetting(expel)
forgetting(work)
forgetting(block)
forgetting(restart)

# A helper that slept takes a block of a later generation for dirty. Only the last scenarios show that.
memgraft_mistake(zeroing.ahead later_is_dirty "generation_of(block) < generation" "generation_of(block) != generation" -O1)
# It zeroes a block that was taken.
memgraft_mistake(zeroing.ahead takes_taken "if (!is_dirty(seen, generation) ||" "if (")
# It says that a block is zeroed before it is.
memgraft_mistake(zeroing.ahead published_early "mine = value_of(generation, Block::zeroing)" "mine = value_of(generation, Block::zeroed)")
memgraft_mistake(zeroing.ahead published_relaxed "Block::zeroed), std::memory_order_release" "Block::zeroed), std::memory_order_relaxed")
# It begins a block without having said so.
memgraft_mistake(zeroing.ahead unannounced "expected, value_of(generation, Phase::working)," "expected, value_of(generation, Phase::open),")
# Whoever closes does not ask for the block, or does not see what the helper wrote.
memgraft_mistake(zeroing.ahead closes_regardless "? closing : closed," "? closed : closed,")
memgraft_mistake(zeroing.ahead region_relaxed "Phase::open), std::memory_order_release);\n  }" "Phase::open), std::memory_order_relaxed);\n  }")
memgraft_mistake(zeroing.ahead finished_relaxed "Phase::open), std::memory_order_release,\n" "Phase::open), std::memory_order_relaxed,\n")
memgraft_mistake(zeroing.ahead let_go_relaxed "Block::taken), std::memory_order_release,\n                                  std::memory_order_relaxed"
        "Block::taken), std::memory_order_relaxed,\n                                  std::memory_order_relaxed")
# A taker believes that the helper let go, or that whoever revoked the block has made sure of it.
memgraft_mistake(zeroing.ahead believes_helper "const bool expelled = policy_.expel();" "const bool expelled = true;")
memgraft_mistake(zeroing.ahead believes_taker "return Found::revoked;" "return Found::taken;")
memgraft_mistake(zeroing.ahead taken_relaxed "Value seen = block.load(std::memory_order_acquire);" "Value seen = block.load(std::memory_order_relaxed);")
