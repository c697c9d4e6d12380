// A monitor that saw everything already: touches of a file (docs/formats.md, section 14).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "memgraft/observation/monitor.h"

namespace memgraft::observation {

enum class Pace : std::uint8_t {
  recorded,  // each touch when it is its time, counted from the first call of drain; its time becomes now
  at_once,   // all in the first call of drain, with their times as they were
};

std::variant<std::unique_ptr<Monitor>, Refusal> replay_touches(const std::string& file,
                                                               Pace pace = Pace::recorded);

}  // namespace memgraft::observation
