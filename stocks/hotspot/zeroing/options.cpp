#include "zeroing/options.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

namespace memgraft::hotspot {

namespace {

// The strategies' names here and there are the same.
constexpr bool all_are_strategies(std::span<const std::string_view> words) {
  return std::ranges::all_of(words, [](std::string_view one) {
    return std::ranges::find(kStrategyNames, one, &StrategyName::name) != kStrategyNames.end();
  });
}
static_assert(declared::kZeroing.words.size() == kStrategyNames.size());
static_assert(all_are_strategies(declared::kZeroing.words) && all_are_strategies(declared::kAgainst.words));

ZeroingStrategy strategy(const Option& option, const Declaration& declared) {
  return std::ranges::find(kStrategyNames, declared.words[word(option, declared)], &StrategyName::name)
      ->strategy;
}

}  // namespace

bool ZeroingWords::take(const Option& option) {
  if (option.is(declared::kZeroing)) {
    strategy_ = strategy(option, declared::kZeroing);
  } else if (option.is(declared::kAgainst)) {
    against_ = strategy(option, declared::kAgainst);
  } else if (option.is(declared::kWindow)) {
    window_bytes_ = power_of_two(option, declared::kWindow);
  } else if (option.is(declared::kTable)) {
    table_ = existing_file(option, declared::kTable);
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
    if (!zeroing.uses(ZeroingStrategy::windows) && !zeroing.uses(ZeroingStrategy::adaptive) &&
        !zeroing.uses(ZeroingStrategy::mixed)) {
      refuse_option(text, "window=BYTES together with windows, adaptive or mixed");
    }
    zeroing.window_bytes = *window_bytes_;
  }
  options_ = std::move(zeroing);
  asked_ = true;
}

}  // namespace memgraft::hotspot
