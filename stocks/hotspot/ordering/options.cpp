#include "ordering/options.h"

#include <algorithm>
#include <array>
#include <string_view>

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

static_assert(std::ranges::equal(declared::kOrdering.words, kPlacements, {}, {}, &Placement::name));

}  // namespace

bool OrderingWords::take(const Option& option) {
  if (option.is(declared::kOrdering)) {
    const Placement* const found = &kPlacements.at(word(option, declared::kOrdering));
    options_.placement = found->name;
    options_.savings = found->savings;
    options_.accesses = found->accesses;
  } else if (option.is(declared::kRelaxed)) {
    options_.relaxed = existing_file(option, declared::kRelaxed);
  } else if (option.is(declared::kCheckOrder)) {
    options_.check = true;
  } else {
    return false;
  }
  return true;
}

void OrderingWords::complete(std::string_view text) {
  if (!asked() && (options_.relaxed || options_.check)) {
    refuse_option(text, std::string(declared::kOrdering.expected) + " together with relaxed or check-order");
  }
}

}  // namespace memgraft::hotspot
