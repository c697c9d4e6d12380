#include "memgraft/observation/replay.h"

#include <ctime>
#include <optional>
#include <utility>

#include "memgraft/observation/touch_file.h"

namespace memgraft::observation {
namespace {

std::uint64_t now_nanoseconds() {
  timespec now{};
  static_cast<void>(clock_gettime(CLOCK_MONOTONIC, &now));
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

class Replay : public Monitor {
 public:
  Replay(TouchReader reader, const std::string& file, Pace pace) : reader_(std::move(reader)), pace_(pace) {
    const TouchFileHeader& header = reader_.header();
    sees_ = {.name = "replay:" + file,
             .what = "what another monitor had recorded",
             .thread = header.knows_thread,
             .cpu = header.knows_cpu,
             .every_access = header.every_access};
    read_ahead();
    if (ahead_.has_value()) {
      first_ = ahead_->nanoseconds;
      sees_.store = ahead_->store.has_value();
      sees_.latency = ahead_->latency_cycles.has_value();
    }
  }

  [[nodiscard]] const Sees& sees() const override { return sees_; }
  [[nodiscard]] std::uint64_t lost() const override { return 0; }

  void drain(const Sink& sink) override {
    const std::uint64_t now = now_nanoseconds();
    const std::uint64_t begun = begun_.value_or(now);
    begun_ = begun;
    for (; ahead_.has_value(); read_ahead()) {
      Touch touch = *ahead_;
      if (pace_ == Pace::recorded) {
        // One thread's touches may lie before another's that are older.
        const std::uint64_t after = touch.nanoseconds < first_ ? 0 : touch.nanoseconds - first_;
        if (after > now - begun) {
          return;
        }
        touch.nanoseconds = begun + after;
      }
      sink(touch);
    }
  }

 private:
  void read_ahead() {
    Touch touch;
    ahead_ = reader_.next(touch) ? std::optional(touch) : std::nullopt;
  }

  TouchReader reader_;
  Pace pace_;
  Sees sees_;
  std::optional<Touch> ahead_;
  std::uint64_t first_ = 0;
  std::optional<std::uint64_t> begun_;
};

}  // namespace

std::variant<std::unique_ptr<Monitor>, Refusal> replay_touches(const std::string& file, Pace pace) {
  auto opened = TouchReader::open(file);
  if (auto* const refusal = std::get_if<Refusal>(&opened)) {
    return std::move(*refusal);
  }
  return std::make_unique<Replay>(std::move(std::get<TouchReader>(opened)), file, pace);
}

}  // namespace memgraft::observation
