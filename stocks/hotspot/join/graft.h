// A graft as the agent knows it. Everything that the agent does with grafts it does through this and the
// table in grafts.cpp; nothing else outside of a graft's folder names one.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "join/needs.h"
#include "join/patch.h"
#include "join/refusal.h"
#include "join/stock.h"

namespace memgraft::hotspot {

class GraftOptions;

class Graft {
 public:
  Graft() = default;
  virtual ~Graft() = default;
  Graft(const Graft&) = delete;
  Graft& operator=(const Graft&) = delete;
  Graft(Graft&&) = delete;
  Graft& operator=(Graft&&) = delete;

  // As in the summary and in messages.
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual GraftOptions& options() = 0;
  // All tables of needs that it has, for any collector and any version: libjvm is searched once for all names
  // in them.
  [[nodiscard]] virtual std::span<const Needs* const> needs() const = 0;
  // Which collectors it can join in this JVM, and why not the others (docs/formats.md, section 3). Changes
  // nothing.
  [[nodiscard]] virtual nlohmann::ordered_json check(const Stock& stock) const = 0;

  // From here on only where its options ask for it.

  // Whether the JVM must tell of its collections.
  [[nodiscard]] virtual bool follows_collections() const { return false; }
  // Finds every joint and throws a Refusal where one is missing. Changes nothing: other grafts will look at
  // the same JVM after it.
  virtual void prepare(const Stock& stock) = 0;
  // Puts its replacements into `patch`, which the caller keeps or undoes. Those before it in the table have
  // done so.
  virtual void install(const Stock& stock, LateRefusal refuse_late, Patch& patch) = 0;
  // What the JVM tells, with the world stopped.
  virtual void collection_starts() {}
  virtual void collection_ended() {}
  // Of the summary: what can be said as soon as it is installed (null: nothing), and what it has done so far.
  [[nodiscard]] virtual nlohmann::ordered_json describe_installed() const { return nullptr; }
  [[nodiscard]] virtual nlohmann::ordered_json describe_work() const = 0;
};

using Grafts = std::vector<std::unique_ptr<Graft>>;

// The graft of that type, or null.
template <typename One>
const One* find_graft(const Grafts& grafts) {
  for (const auto& graft : grafts) {
    if (const auto* const found = dynamic_cast<const One*>(graft.get())) {
      return found;
    }
  }
  return nullptr;
}

}  // namespace memgraft::hotspot
