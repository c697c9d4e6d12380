// The zeroing graft, as the agent knows it.
#pragma once

#include <memory>

#include "join/graft.h"
#include "zeroing/install.h"
#include "zeroing/options.h"

namespace memgraft::hotspot {

class ZeroingGraft : public Graft {
 public:
  [[nodiscard]] std::string_view name() const override { return "zeroing"; }
  [[nodiscard]] GraftOptions& options() override { return words_; }
  [[nodiscard]] const ZeroingWords& words() const { return words_; }
  [[nodiscard]] std::span<const Needs* const> needs() const override;
  [[nodiscard]] nlohmann::ordered_json check(const Stock& stock) const override;
  [[nodiscard]] bool follows_collections() const override;
  void prepare(const Stock& stock) override;
  void install(const Stock& stock, LateRefusal refuse_late, Patch& patch) override;
  void collection_starts() override { zeroing_collection_starts(); }
  void collection_ended() override { zeroing_collection_ended(); }
  [[nodiscard]] nlohmann::ordered_json describe_installed() const override;
  [[nodiscard]] nlohmann::ordered_json describe_work() const override;

 private:
  ZeroingWords words_;
  std::unique_ptr<const ZeroingJoints> joints_;
};

std::unique_ptr<Graft> make_zeroing_graft(const Grafts& before);

}  // namespace memgraft::hotspot
