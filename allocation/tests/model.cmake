# The model of a buffer, and its mistakes.
include(MemgraftModels)
set(include_folder ${CMAKE_CURRENT_SOURCE_DIR}/../include)
memgraft_models(allocation model.cpp memgraft/allocation/buffer.h ${include_folder}/memgraft/allocation/buffer.h)
if(NOT allocation_MODELS)
  return()
endif()

memgraft_model(allocation sound ${include_folder} sound -O1)

# Listing 2 as it is printed: a thread that lost the swap refills too.
memgraft_mistake(allocation listing_2 "kRefilling)) != Replaced::yes) {" "kRefilling)) == Replaced::moved) {")
# A buffer that was refilled looks like the one before.
memgraft_mistake(allocation no_generation "taken) + kNextFilling, std" "taken), std")
memgraft_mistake(allocation takes_while_refilled "if (used == kRefilling) {" "if (used > kRefilling) {")
memgraft_mistake(allocation leaves_one_word "wanted + kLeastRest <= left" "wanted <= left")
memgraft_mistake(allocation rest_is_somebodys "return rest_after(rest, used_of(seen));\n  }\n\n  // By"
                 "return rest;\n  }\n\n  // By")
# Where a filling lies is not seen by who finds it there.
memgraft_mistake(allocation published_relaxed "kNextFilling, std::memory_order_release" "kNextFilling, std::memory_order_relaxed")
memgraft_mistake(allocation looked_relaxed "{.seen = state_.load(std::memory_order_acquire)}"
                 "{.seen = state_.load(std::memory_order_relaxed)}")

# The place for a spare, and its mistakes.
memgraft_models(spare spare_model.cpp memgraft/allocation/spare.h ${include_folder}/memgraft/allocation/spare.h)
memgraft_model(spare sound ${include_folder} sound -O1)
memgraft_mistake(spare read_after_given_back "from, kBusy, std" "from, from == kFull ? kEmpty : kBusy, std")
memgraft_mistake(spare stays_when_taken "fits ? kEmpty : kFull" "kFull")
memgraft_mistake(spare of_any_size "Words(words_.load(std::memory_order_relaxed)) == words" "words != 0_words")
# What it is, or what is in it, is not seen by who takes it.
memgraft_mistake(spare put_relaxed "kFull, std::memory_order_release);  // what" "kFull, std::memory_order_relaxed);  // what")
memgraft_mistake(spare taken_relaxed "kBusy, std::memory_order_acquire" "kBusy, std::memory_order_relaxed")
