// What may be asked of the ordering graft.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "options/declared.h"
#include "options/graft_options.h"

namespace memgraft::hotspot {

// In which order other threads see accesses.
struct OrderingOptions {
  // What spares C2 fences and barriers. None of it is the dissertation's placement: a fence behind every
  // store.
  struct Savings {
    bool private_objects = false;  // none for what nobody else can have yet
    bool final_loads = false;      // none for what never changes
    bool last_fences = false;      // one for a run of stores
    bool all_fences = false;       // none at all: not sequentially consistent, to measure what fences cost

    friend bool operator==(const Savings&, const Savings&) = default;
  };

  std::string placement;
  Savings savings;
  // False: what would pass ordered accesses by is switched off, and no access is ordered. To measure what
  // that costs.
  bool accesses = true;
  // Check of every compiled method that nothing in it passed the graft by.
  bool check = false;
  std::optional<std::filesystem::path> relaxed;  // names what keeps the Java memory model

  friend bool operator==(const OrderingOptions&, const OrderingOptions&) = default;
};

class OrderingWords : public GraftOptions {
 public:
  [[nodiscard]] std::span<const Declaration> declared() const override { return declared::kOrderingOptions; }
  bool take(const Option& option) override;
  void complete(std::string_view text) override;
  // Where there is a placement.
  [[nodiscard]] bool asked() const override { return !options_.placement.empty(); }

  // Once complete, where the graft is asked for.
  [[nodiscard]] const OrderingOptions& options() const { return options_; }

 private:
  OrderingOptions options_;
};

}  // namespace memgraft::hotspot
