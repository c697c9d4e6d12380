// What may be asked of the buffers graft.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "memgraft/allocation/hierarchy.h"
#include "options/declared.h"
#include "options/graft_options.h"
#include "zeroing/options.h"

namespace memgraft::hotspot {

// Which buffers stand between the heap and the TLABs.
struct BufferOptions {
  // How memory is taken from a buffer that is one CPU's alone.
  enum class Take : std::uint8_t { automatic, atomic, restartable };

  std::vector<allocation::Level> levels;  // lowest first
  bool automatic = false;                 // levels and sizes decide themselves
  bool zero_at_refill = false;            // instead of each TLAB when it is handed out
  bool numa_eden = false;                 // what they are filled with is bound to their node
  bool objects = false;                   // the JVM has no TLABs: each object is asked for by itself
  Take take = Take::automatic;

  friend bool operator==(const BufferOptions&, const BufferOptions&) = default;
};

class BufferWords : public GraftOptions {
 public:
  // Memory in buffers may be zeroed by the zeroing graft: what was asked of it, or null where this agent has
  // no such graft.
  explicit BufferWords(const ZeroingWords* zeroing) : zeroing_(zeroing) {}

  [[nodiscard]] std::span<const Declaration> declared() const override { return declared::kBuffersOptions; }
  bool take(const Option& option) override;
  void complete(std::string_view text) override;
  [[nodiscard]] bool asked() const override { return asked_; }

  // Once complete, where the graft is asked for.
  [[nodiscard]] const BufferOptions& options() const { return options_; }

 private:
  [[nodiscard]] bool whole_buffers_are_zeroed() const;

  const ZeroingWords* zeroing_;
  bool asked_ = false;
  bool anything_besides_ = false;
  BufferOptions options_;
};

}  // namespace memgraft::hotspot
