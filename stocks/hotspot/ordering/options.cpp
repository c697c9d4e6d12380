#include "ordering/options.h"

#include <algorithm>
#include <array>

namespace memgraft::hotspot {

namespace {

struct Placement {
  std::string_view name;
  OrderingOptions::Savings savings;
  bool accesses = true;
};
constexpr std::array kPlacements{
    Placement{.name = "sc", .savings = {.private_objects = true, .final_loads = true, .last_fences = true}},
    Placement{.name = "sc-seed", .savings = {}},
    // Each saving alone, and the bounds: to measure what they are worth.
    Placement{.name = "sc-private-objects", .savings = {.private_objects = true}},
    Placement{.name = "sc-final-loads", .savings = {.final_loads = true}},
    Placement{.name = "sc-last-fences", .savings = {.last_fences = true}},
    Placement{.name = "no-fences",
              .savings = {.private_objects = true, .final_loads = true, .all_fences = true}},
    Placement{.name = "switches", .savings = {}, .accesses = false},
};

constexpr std::string_view kOffered = "ordering=sc or ordering=sc-seed";

}  // namespace

std::string_view OrderingWords::all() const { return "ordering=PLACEMENT, relaxed=FILE, check-order"; }

std::string OrderingWords::asking() const { return "ordering=sc or sc-seed"; }

bool OrderingWords::take(const Option& option) {
  if (option.key == "ordering") {
    const auto* const found = std::ranges::find(kPlacements, option.value, &Placement::name);
    if (found == kPlacements.end()) {
      refuse_option(option.text, kOffered);
    }
    options_.placement = found->name;
    options_.savings = found->savings;
    options_.accesses = found->accesses;
  } else if (option.key == "relaxed") {
    options_.relaxed = existing_file(option);
  } else if (option.is("check-order")) {
    options_.check = true;
  } else {
    return false;
  }
  return true;
}

void OrderingWords::complete(std::string_view text) {
  if (!asked() && (options_.relaxed || options_.check)) {
    refuse_option(text, std::string(kOffered) + " together with relaxed or check-order");
  }
}

}  // namespace memgraft::hotspot
