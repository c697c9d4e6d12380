// Runs scenarios under Relacy, for models whose `main` is expected_outcome(). To be included after all of the
// standard library, as relacy_atomic.h.
#pragma once

#include <iostream>
#include <ostream>
#include <string>
#include <string_view>

#include "memgraft/relacy_atomic.h"

namespace memgraft {

// Whether the checker finds no fault; prints the execution that has one.
template <class Scenario, class Scheduler>
bool sound(const std::string& name, unsigned preemptions) {
  // Not into a string: Relacy replaces the allocator of the whole program while it runs.
  std::ostream nowhere(nullptr);
  rl::ostringstream state;
  rl::test_params parameters;
  parameters.context_bound = preemptions;
  parameters.progress_stream = &nowhere;
  const bool found_none =
      rl::run_test<Scenario, Scheduler>(parameters, state, false) == rl::test_result_success;
  std::cout << name << ": " << parameters.stop_iteration << " executions, "
            << (found_none ? "no fault" : rl::test_result_str(parameters.test_result)) << std::endl;
  if (!found_none) {
    parameters.initial_state = state.str();
    parameters.final_state = state.str();
    parameters.collect_history = true;
    rl::run_test<Scenario, Scheduler>(parameters, state, true);
  }
  return found_none;
}

template <class Scenario>
bool sound_in_every_schedule(const std::string& name) {
  return sound<Scenario, rl::full_search_scheduler<Scenario::params::thread_count>>(name + ", every schedule",
                                                                                    0);
}

template <class Scenario>
bool sound_with(unsigned preemptions, const std::string& name) {
  return sound<Scenario, rl::context_bound_scheduler<Scenario::params::thread_count>>(
      name + ", up to " + std::to_string(preemptions) + " preemptions", preemptions);
}

// The exit status of `model sound` or `model mistaken`: 0 if the checker finds no fault, or some fault,
// respectively.
template <typename AllSound>
int expected_outcome(int count, char** arguments, AllSound all_sound) {
  const std::string_view expected = count > 1 ? arguments[1] : "";
  if (expected != "sound" && expected != "mistaken") {
    std::cerr << "model: '" << expected << "': expected sound or mistaken\n";
    return 2;
  }
  return all_sound() == (expected == "sound") ? 0 : 1;
}

}  // namespace memgraft
