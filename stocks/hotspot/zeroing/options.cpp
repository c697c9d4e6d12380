#include "zeroing/options.h"

#include <string>

namespace memgraft::hotspot {

namespace {

constexpr std::size_t kLeastWindowBytes = 4096;
constexpr std::size_t kMostWindowBytes = std::size_t{1} << 20U;

// "a, b or c": the strategies' names, without `adaptive` where that makes no sense.
std::string strategy_names(bool with_adaptive) {
  std::string names;
  const std::size_t count = kStrategyNames.size() - (with_adaptive ? 0 : 1);
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) {
      names += i + 1 == count ? " or " : ", ";
    }
    names += kStrategyNames.at(i).name;
  }
  return names;
}

ZeroingStrategy parse_strategy(const Option& option, bool with_adaptive) {
  const auto strategy = strategy_named(option.value);
  if (!strategy || (strategy == ZeroingStrategy::adaptive && !with_adaptive)) {
    refuse_option(option.text, strategy_names(with_adaptive));
  }
  return *strategy;
}

}  // namespace

std::string_view ZeroingWords::all() const {
  return "zeroing=STRATEGY, against=STRATEGY, window=BYTES, table=FILE";
}

std::string ZeroingWords::asking() const { return "zeroing=" + strategy_names(true); }

bool ZeroingWords::take(const Option& option) {
  if (option.key == "zeroing") {
    strategy_ = parse_strategy(option, true);
  } else if (option.key == "against") {
    against_ = parse_strategy(option, false);
  } else if (option.key == "window") {
    window_bytes_ = power_of_two(option, kLeastWindowBytes, kMostWindowBytes);
  } else if (option.key == "table") {
    table_ = existing_file(option);
  } else {
    return false;
  }
  return true;
}

void ZeroingWords::complete(std::string_view text) {
  if (!strategy_ && !against_ && !window_bytes_ && !table_) {
    return;
  }
  if (!strategy_) {
    refuse_option(text, "zeroing=STRATEGY together with against, window and table");
  }
  ZeroingOptions zeroing{.strategy = *strategy_, .against = against_, .table = table_};
  if (zeroing.against == zeroing.strategy) {
    refuse_option(text, "against=STRATEGY with another one than zeroing=STRATEGY");
  }
  if (zeroing.against && zeroing.strategy == ZeroingStrategy::adaptive) {
    refuse_option(text,
                  "against=STRATEGY with a zeroing=STRATEGY other than adaptive, which chooses for itself");
  }
  if (window_bytes_) {
    if (!zeroing.uses(ZeroingStrategy::windows) && !zeroing.uses(ZeroingStrategy::adaptive)) {
      refuse_option(text, "window=BYTES together with windows or adaptive");
    }
    zeroing.window_bytes = *window_bytes_;
  }
  options_ = zeroing;
  asked_ = true;
}

}  // namespace memgraft::hotspot
