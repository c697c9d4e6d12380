#include "options.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string>
#include <system_error>

#include "memgraft/units.h"
#include "refusal.h"

namespace memgraft::hotspot {

namespace {

constexpr std::size_t kLeastWindowBytes = 4096;
constexpr std::size_t kMostWindowBytes = std::size_t{1} << 20U;

[[noreturn]] void refuse(std::string_view option, std::string_view expected) {
  throw Refusal("wrong agent option '" + std::string(option) + "'",
                {.looked_for = std::string(expected),
                 .found = "'" + std::string(option) + "'",
                 .advice = "correct the text after '=' of -agentpath"},
                kExitWrongUsage);
}

std::string percent_decoded(std::string_view text, std::string_view option) {
  constexpr int kHexadecimal = 16;
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded.push_back(text[i]);
      continue;
    }
    unsigned char byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), byte, kHexadecimal);
    if (error != std::errc() || end != digits.data() + 2 || byte == 0) {
      refuse(option, "two hexadecimal digits after '%'");
    }
    decoded.push_back(static_cast<char>(byte));
    i += 2;
  }
  return decoded;
}

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

ZeroingStrategy parse_strategy(std::string_view value, std::string_view option, bool with_adaptive) {
  const auto strategy = strategy_named(value);
  if (!strategy || (strategy == ZeroingStrategy::adaptive && !with_adaptive)) {
    refuse(option, strategy_names(with_adaptive));
  }
  return *strategy;
}

std::size_t parse_window(std::string_view value, std::string_view option) {
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), bytes);
  if (error != std::errc() || end != value.data() + value.size() || !std::has_single_bit(bytes) ||
      bytes < kLeastWindowBytes || bytes > kMostWindowBytes) {
    refuse(option, "window=BYTES with a power of two from 4096 to 1048576");
  }
  return bytes;
}

// `core:1048576+processor:16777216`
std::vector<allocation::Level> parse_levels(std::string_view value, std::string_view option) {
  constexpr std::string_view kExpected =
      "buffers=KIND:BYTES+KIND:BYTES with kinds of cpu, core, processor and node in this order, each once, "
      "and sizes "
      "that are multiples of 8 and of the one before, below 32 GiB";
  std::vector<allocation::Level> levels;
  if (value == "none") {
    return levels;  // nothing but the counts: TLABs come from the heap
  }
  for (std::size_t start = 0; start <= value.size();) {
    const std::string_view part = value.substr(start, value.find('+', start) - start);
    start += part.size() + 1;
    const std::size_t colon = std::min(part.find(':'), part.size());
    const auto* const kind = std::ranges::find(allocation::kKindNames, part.substr(0, colon));
    const std::string_view digits = part.substr(std::min(colon + 1, part.size()));
    std::uint64_t bytes = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
    const std::uint64_t words = bytes / kBytesPerWord;
    const bool right = kind != allocation::kKindNames.end() && error == std::errc() &&
                       bytes % kBytesPerWord == 0 && end == digits.data() + digits.size() && words > 0 &&
                       words <= allocation::kMostWords;
    if (!right) {
      refuse(option, kExpected);
    }
    const auto level = allocation::Level{
        .kind = static_cast<allocation::Kind>(kind - allocation::kKindNames.begin()), .words = words};
    if (!levels.empty() && (level.kind <= levels.back().kind || words % levels.back().words != 0)) {
      refuse(option, kExpected);
    }
    levels.push_back(level);
  }
  return levels;
}

bool parse_zero_at(std::string_view value, std::string_view option) {
  if (value != "refill" && value != "tlab") {
    refuse(option, "zero-at=refill or zero-at=tlab");
  }
  return value == "refill";
}

BufferOptions::Take parse_take(std::string_view value, std::string_view option) {
  if (value != "atomic" && value != "restartable") {
    refuse(option, "take=atomic or take=restartable");
  }
  return value == "atomic" ? BufferOptions::Take::atomic : BufferOptions::Take::restartable;
}

std::filesystem::path parse_file(std::string_view value, std::string_view option) {
  std::filesystem::path file = percent_decoded(value, option);
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    refuse(option, std::string(option.substr(0, option.find('='))) + "=FILE with a file that exists");
  }
  return file;
}

std::filesystem::path parse_folder(std::string_view value, std::string_view option) {
  std::filesystem::path folder = percent_decoded(value, option);
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    refuse(option, "summary=FOLDER with a folder that exists");
  }
  return folder;
}

}  // namespace

namespace {

// What was said of zeroing, in any order.
struct ZeroingWords {
  std::optional<ZeroingStrategy> strategy;
  std::optional<ZeroingStrategy> against;
  std::optional<std::size_t> window_bytes;
  std::optional<std::filesystem::path> table;

  [[nodiscard]] bool any() const { return strategy || against || window_bytes || table; }
};

ZeroingOptions together(const ZeroingWords& words, std::string_view text) {
  if (!words.strategy) {
    refuse(text, "zeroing=STRATEGY together with against, window and table");
  }
  ZeroingOptions zeroing{.strategy = *words.strategy, .against = words.against, .table = words.table};
  if (zeroing.against == zeroing.strategy) {
    refuse(text, "against=STRATEGY with another one than zeroing=STRATEGY");
  }
  if (zeroing.against && zeroing.strategy == ZeroingStrategy::adaptive) {
    refuse(text, "against=STRATEGY with a zeroing=STRATEGY other than adaptive, which chooses for itself");
  }
  if (words.window_bytes) {
    if (!zeroing.uses(ZeroingStrategy::windows) && !zeroing.uses(ZeroingStrategy::adaptive)) {
      refuse(text, "window=BYTES together with windows or adaptive");
    }
    zeroing.window_bytes = *words.window_bytes;
  }
  return zeroing;
}

// The same of buffers.
struct BufferWords {
  std::optional<std::string_view> levels;
  std::string_view option;  // that named them
  std::optional<BufferOptions::Take> take;
  std::optional<bool> zero_at_refill;
  bool numa_eden = false;

  [[nodiscard]] bool any() const { return levels || take || zero_at_refill || numa_eden; }
  // False where the key is none of theirs.
  bool read(std::string_view key, std::string_view value, std::string_view text) {
    if (key == "buffers") {
      levels = value;
      option = text;
    } else if (key == "take") {
      take = parse_take(value, text);
    } else if (key == "zero-at") {
      zero_at_refill = parse_zero_at(value, text);
    } else if (text == "numa-eden") {
      numa_eden = true;
    } else {
      return false;
    }
    return true;
  }
};

BufferOptions together(const BufferWords& words, const std::optional<ZeroingOptions>& zeroing,
                       std::string_view text) {
  if (!words.levels) {
    refuse(text, "buffers=KIND:BYTES together with take, zero-at or numa-eden");
  }
  BufferOptions options{.levels = {},
                        .automatic = *words.levels == "auto",
                        .zero_at_refill = words.zero_at_refill.value_or(false),
                        .numa_eden = words.numa_eden,
                        .take = words.take.value_or(BufferOptions::Take::automatic)};
  if (!options.automatic) {
    options.levels = parse_levels(*words.levels, words.option);
  }
  // Windows are zeroed just before they are used; adaptive may decide for them.
  const bool whole =
      zeroing && !zeroing->uses(ZeroingStrategy::windows) && !zeroing->uses(ZeroingStrategy::adaptive);
  const bool some_level = !options.levels.empty() || options.automatic;
  if (options.zero_at_refill && !(whole && some_level)) {
    refuse(text,
           "zero-at=refill together with buffers of some level and zeroing=bulk, non-temporal or concurrent");
  }
  return options;
}

struct Placement {
  std::string_view name;
  OrderingOptions::Savings savings;
  bool accesses = true;
};
constexpr std::array kPlacements{
    Placement{.name = "sc", .savings = {.private_objects = true, .final_loads = true, .last_fences = true}},
    Placement{.name = "sc-seed", .savings = {}},
    // Each saving alone, and the bounds: to measure what they are worth.
    Placement{.name = "sc-private-objects", .savings = {.private_objects = true}},
    Placement{.name = "sc-final-loads", .savings = {.final_loads = true}},
    Placement{.name = "sc-last-fences", .savings = {.last_fences = true}},
    Placement{.name = "no-fences",
              .savings = {.private_objects = true, .final_loads = true, .all_fences = true}},
    Placement{.name = "switches", .savings = {}, .accesses = false},
};

// The same of ordering.
struct OrderingWords {
  const Placement* placement = nullptr;
  std::optional<std::filesystem::path> relaxed;
  bool check = false;

  [[nodiscard]] bool any() const { return placement != nullptr || relaxed || check; }
  // False where the key is none of theirs.
  bool read(std::string_view key, std::string_view value, std::string_view text) {
    if (key == "ordering") {
      const auto* const found = std::ranges::find(kPlacements, value, &Placement::name);
      if (found == kPlacements.end()) {
        refuse(text, "ordering=sc or ordering=sc-seed");
      }
      placement = found;
    } else if (key == "relaxed") {
      relaxed = parse_file(value, text);
    } else if (text == "check-order") {
      check = true;
    } else {
      return false;
    }
    return true;
  }
};

OrderingOptions together(const OrderingWords& words, std::string_view text) {
  if (words.placement == nullptr) {
    refuse(text, "ordering=sc or ordering=sc-seed together with relaxed or check-order");
  }
  return {.placement = std::string(words.placement->name),
          .savings = words.placement->savings,
          .accesses = words.placement->accesses,
          .check = words.check,
          .relaxed = words.relaxed};
}

}  // namespace

Options parse_options(std::string_view text) {
  Options options;
  ZeroingWords words;
  BufferWords buffers;
  OrderingWords ordering;
  for (std::size_t start = 0; start <= text.size();) {
    const std::string_view option = text.substr(start, text.find(',', start) - start);
    start += option.size() + 1;
    const std::size_t equals = option.find('=');
    const std::string_view key = option.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? "" : option.substr(equals + 1);
    if (key == "zeroing") {
      words.strategy = parse_strategy(value, option, true);
    } else if (key == "against") {
      words.against = parse_strategy(value, option, false);
    } else if (key == "window") {
      words.window_bytes = parse_window(value, option);
    } else if (key == "table") {
      words.table = parse_file(value, option);
    } else if (key == "summary") {
      options.summary_folder = parse_folder(value, option);
    } else if (option == "counters") {
      options.counters = true;
    } else if (option == "live") {
      options.live = true;
    } else if (option == "check") {
      options.check = true;
    } else if (!buffers.read(key, value, option) && !ordering.read(key, value, option)) {
      refuse(option,
             "zeroing=STRATEGY, against=STRATEGY, window=BYTES, table=FILE, buffers=KIND:BYTES, take=HOW, "
             "zero-at=WHEN, numa-eden, ordering=PLACEMENT, relaxed=FILE, check-order, summary=FOLDER, "
             "live, counters or check");
    }
  }
  if (words.any()) {
    options.zeroing = together(words, text);
  }
  if (buffers.any()) {
    options.buffers = together(buffers, options.zeroing, text);
  }
  if (ordering.any()) {
    options.ordering = together(ordering, text);
  }
  if (!options.zeroing && !options.buffers && !options.ordering && !options.check) {
    refuse(text, "a graft (zeroing=" + strategy_names(true) +
                     "; buffers=KIND:BYTES; ordering=sc or sc-seed) or check");
  }
  if (options.check && !options.summary_folder) {
    refuse("check", "check together with summary=FOLDER, where the check is written");
  }
  if (options.live && !options.summary_folder) {
    refuse("live", "live together with summary=FOLDER, where the summary is written again and again");
  }
  return options;
}

}  // namespace memgraft::hotspot
