# The model of the mailboxes, and their mistakes.
include(MemgraftModels)
set(folder ${CMAKE_CURRENT_SOURCE_DIR}/..)
memgraft_models(mailboxes mailboxes_model.cpp mailboxes.h ${folder}/mailboxes.h)
if(NOT mailboxes_MODELS)
  return()
endif()

memgraft_model(mailboxes sound ${folder} sound -O1)

memgraft_mistake(mailboxes not_claimed "(found, kWriting, std" "(found, kEmpty, std")
memgraft_mistake(mailboxes read_while_written ") != kFull" ") == kEmpty")
memgraft_mistake(mailboxes delivered_twice "kEmpty, std::memory_order_release);  // it has" "kFull, std::memory_order_release);  // it has")
memgraft_mistake(mailboxes emptied_before_read "if (state_.load(std::memory_order_acquire) != kFull) {"
  "Word full = kFull; if (!state_.compare_exchange_strong(full, kEmpty, std::memory_order_acq_rel, std::memory_order_relaxed)) {")
memgraft_mistake(mailboxes lost_uncounted "lost_.fetch_add(1" "lost_.fetch_add(0")
# What is in it is not seen by the reader.
memgraft_mistake(mailboxes put_relaxed "kFull, std::memory_order_release);  // what" "kFull, std::memory_order_relaxed);  // what")
memgraft_mistake(mailboxes taken_relaxed "state_.load(std::memory_order_acquire)" "state_.load(std::memory_order_relaxed)")
