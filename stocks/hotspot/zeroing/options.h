// What may be asked of the zeroing graft.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>

#include "options/declared.h"
#include "options/graft_options.h"
#include "zeroing/strategy.h"

namespace memgraft::hotspot {

// How fresh memory becomes zero.
struct ZeroingOptions {
  ZeroingStrategy strategy = ZeroingStrategy::bulk;
  // The other side of a comparison within one process: the two alternate from collection to collection.
  std::optional<ZeroingStrategy> against;
  std::size_t window_bytes = declared::kWindow.by_default;
  std::optional<std::filesystem::path> table;  // what calibration found on this machine

  [[nodiscard]] bool uses(ZeroingStrategy wanted) const { return strategy == wanted || against == wanted; }

  friend bool operator==(const ZeroingOptions&, const ZeroingOptions&) = default;
};

class ZeroingWords : public GraftOptions {
 public:
  [[nodiscard]] std::span<const Declaration> declared() const override { return declared::kZeroingOptions; }
  bool take(const Option& option) override;
  void complete(std::string_view text) override;
  [[nodiscard]] bool asked() const override { return asked_; }

  // Once complete, where the graft is asked for.
  [[nodiscard]] const ZeroingOptions& options() const { return options_; }

 private:
  std::optional<ZeroingStrategy> strategy_;
  std::optional<ZeroingStrategy> against_;
  std::optional<std::size_t> window_bytes_;
  std::optional<std::filesystem::path> table_;
  bool asked_ = false;
  ZeroingOptions options_;
};

}  // namespace memgraft::hotspot
