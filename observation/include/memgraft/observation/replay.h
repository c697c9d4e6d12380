// A monitor that saw everything already: touches of a file (docs/formats.md, section 14).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "memgraft/observation/monitor.h"

namespace memgraft::observation {

enum class Pace : std::uint8_t {
  kRecorded,  // each touch when it is its time, counted from the first call of drain; its time is that of now
  kAtOnce,    // all in the first call of drain, with their times as they were
};

std::variant<std::unique_ptr<Monitor>, Refusal> replay_touches(const std::string& file,
                                                               Pace pace = Pace::kRecorded);

}  // namespace memgraft::observation
