#include "ordering/graft.h"

#include <array>

#include "join/availability.h"
#include "join/joints.h"
#include "ordering/c1_check.h"
#include "ordering/c1_emission.h"
#include "ordering/install.h"
#include "ordering/interpreter_emission.h"
#include "ordering/needs.h"
#include "ordering/options.h"

namespace memgraft::hotspot {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const Needs*, 7> kNeeds{
    &kOrderingNeeds,       &kOrderingG1Needs,     &kOrderingNodes,       &kOrderingInstructions,
    &c1::kEmissionNeeds17, &c1::kEmissionNeeds21, &c1::kEmissionNeeds25,
};

Json describe(const OrderingOptions& options) {
  const OrderingCounts counts = ordering_counts();
  const FencesBefore& before = counts.c2_fences_before;
  Json json{{"placement", options.placement},
            {"c2",
             {{"methods", counts.c2_methods},
              {"loads", counts.c2_loads},
              {"stores", counts.c2_stores},
              {"relaxed", counts.c2_relaxed},
              {"annotated", counts.c2_annotated},
              {"final_loads", counts.c2_final_loads},
              {"private_loads", counts.c2_private_loads},
              {"private_stores", counts.c2_private_stores},
              {"private_later", counts.c2_private_later},
              {"joined_fences", counts.c2_joined_fences},
              {"fences_before",
               {{"loads", before.loads},
                {"unknown", before.unknown},
                {"calls", before.calls},
                {"ends", before.ends}}},
              {"fences_at_ends", counts.c2_ends},
              {"atomics", counts.c2_atomics},
              {"fences_behind_calls", counts.c2_fences}}},
            {"c1",
             {{"methods", counts.c1_methods},
              {"loads", counts.c1_loads},
              {"stores", counts.c1_stores},
              {"fences_behind_calls", counts.c1_fences}}},
            {"interpreter", {{"loads", counts.interpreter_loads}, {"stores", counts.interpreter_stores}}}};
  if (options.check) {
    json["check"] = {{"methods", counts.checked_methods},
                     {"accesses", counts.checked_accesses},
                     {"excused", counts.excused_accesses},
                     {"unsafe", counts.unsafe_accesses},
                     {"unsafe_methods", counts.unsafe_methods}};
    if (c1::kKnowsThisMachine) {
      const c1::EmissionCounts emission = c1::emission_counts();
      json["check"]["c1"] = {{"methods", emission.methods},
                             {"stores", emission.stores},
                             {"own", emission.own},
                             {"unsafe", emission.unsafe},
                             {"unsafe_methods", emission.unsafe_methods}};
      const InterpreterEmissionCounts templates = interpreter_emission_counts();
      json["check"]["interpreter"] = {{"stores", templates.stores}, {"unsafe", templates.unsafe}};
    }
  }
  return json;
}

class OrderingGraft : public Graft {
 public:
  [[nodiscard]] std::string_view name() const override { return "ordering"; }
  [[nodiscard]] GraftOptions& options() override { return words_; }
  [[nodiscard]] std::span<const Needs* const> needs() const override { return kNeeds; }
  [[nodiscard]] Json check(const Stock& stock) const override { return availability(ordering_needs, stock); }

  void prepare(const Stock& stock) override {
    const Collector collector = the_collector(kOrderingNeeds, stock);
    // First what the graft itself needs: its refusal says most.
    joints_ = std::make_unique<const Joints>(find_joints(ordering_needs(collector), stock, collector));
    if (words_.options().check && c1::kKnowsThisMachine) {
      for_c1_check_ =
          std::make_unique<const Joints>(find_joints(c1::emission_needs(stock), stock, collector));
    }
  }

  void install(const Stock& stock, LateRefusal /*refuse_late*/, Patch& patch) override {
    install_ordering(words_.options(), *joints_, stock, patch);
    if (for_c1_check_ != nullptr) {
      c1::install_emission(*for_c1_check_, stock, patch);
      install_interpreter_emission(*joints_, patch);
    }
  }

  [[nodiscard]] Json describe_work() const override { return describe(words_.options()); }

 private:
  OrderingWords words_;
  std::unique_ptr<const Joints> joints_;
  std::unique_ptr<const Joints> for_c1_check_;  // null: not checked
};

}  // namespace

std::unique_ptr<Graft> make_ordering_graft(const Grafts& /*before*/) {
  return std::make_unique<OrderingGraft>();
}

}  // namespace memgraft::hotspot
