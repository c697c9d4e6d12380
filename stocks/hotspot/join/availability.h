// Whether a graft could join this JVM, for who asks before starting a program (docs/formats.md, section 3).
#pragma once

#include <nlohmann/json.hpp>

#include "join/needs.h"
#include "join/stock.h"

namespace memgraft::hotspot {

// The needs of a graft where the JVM has this collector.
using NeedsOf = const Needs& (*)(Collector collector);

// Looks for every joint with every collector that the JVM has. Changes nothing.
nlohmann::ordered_json availability(NeedsOf needs_of, const Stock& stock);

// Of a graft that needs the same whatever the collector.
template <const Needs& needs>
const Needs& always(Collector /*collector*/) {
  return needs;  // NOLINT(readability-redundant-parentheses): it has none
}

}  // namespace memgraft::hotspot
