#include "join/availability.h"

#include <string>

#include "join/joints.h"
#include "join/refusal.h"

namespace memgraft::hotspot {

namespace {

using Json = nlohmann::ordered_json;

Json answer(bool available, const std::string& reason) {
  return {{"available", available}, {"reason", reason}};
}

}  // namespace

nlohmann::ordered_json availability(NeedsOf needs_of, const Stock& stock) {
  Json by_collector = Json::object();
  std::string joined;
  std::string refused;
  for (const CollectorClasses& collector : kCollectors) {
    if (!stock.has_collector(collector.collector)) {
      continue;
    }
    const std::string name(collector.name);
    try {
      (void)find_joints(needs_of(collector.collector), stock, collector.collector);
      by_collector[name] = answer(true, "every joint found");
      joined += (joined.empty() ? "" : ", ") + name;
    } catch (const Refusal& refusal) {
      by_collector[name] = answer(false, refusal.what());
      // Collectors come in the order of how likely a graft knows them: the first refusal says most.
      refused = refused.empty() ? refusal.what() : refused;
    }
  }
  Json check = answer(!joined.empty(), joined.empty() ? refused : "joins " + joined);
  check["collectors"] = std::move(by_collector);
  return check;
}

}  // namespace memgraft::hotspot
