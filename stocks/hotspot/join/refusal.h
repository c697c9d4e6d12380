// How this agent says no: before anything has been changed, in one line, with what to do next.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace memgraft::hotspot {

// Exit codes of the process when the agent refuses; the command line of Memgraft uses the same ones.
inline constexpr int kExitWrongUsage = 2;
inline constexpr int kExitCannotTakeGraft = 3;

class Refusal : public std::runtime_error {
 public:
  struct Reason {
    std::string looked_for;
    std::string found;
    std::string advice;
  };

  Refusal(const std::string& message, Reason reason, int exit_code)
      : std::runtime_error(message + ": looked for " + reason.looked_for + "; found " + reason.found + "; " +
                           reason.advice),
        reason_(std::move(reason)),
        exit_code_(exit_code) {}

  [[nodiscard]] const Reason& reason() const { return reason_; }
  [[nodiscard]] int exit_code() const { return exit_code_; }

 private:
  Reason reason_;
  int exit_code_;
};

// Ends the process with a refusal that can be known only once the heap is there, at the first TLAB of all:
// the JVM's own, before the program starts.
using LateRefusal = void (*)(const Refusal& refusal);

}  // namespace memgraft::hotspot
