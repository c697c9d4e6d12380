// The options of one graft, while the agent's are read.
#pragma once

#include <span>
#include <string_view>

#include "options/option.h"

namespace memgraft::hotspot {

class GraftOptions {
 public:
  GraftOptions() = default;
  virtual ~GraftOptions() = default;
  GraftOptions(const GraftOptions&) = delete;
  GraftOptions& operator=(const GraftOptions&) = delete;
  GraftOptions(GraftOptions&&) = delete;
  GraftOptions& operator=(GraftOptions&&) = delete;

  // All of them; the first one asks for the graft.
  [[nodiscard]] virtual std::span<const Declaration> declared() const = 0;

  // False where the option is none of its own. Throws a Refusal with exit code 2 where its value is wrong.
  virtual bool take(const Option& option) = 0;
  // All were taken; `text` is all there was. Throws a Refusal with exit code 2 where they do not fit
  // together, or not with those of a graft before this one in the table of grafts.
  virtual void complete(std::string_view text) = 0;
  // Whether the graft is asked for; once complete.
  [[nodiscard]] virtual bool asked() const = 0;
};

}  // namespace memgraft::hotspot
