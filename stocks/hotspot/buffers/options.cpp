#include "buffers/options.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "memgraft/units.h"

namespace memgraft::hotspot {

namespace {

// `core:1048576+processor:16777216`
std::vector<allocation::Level> parse_levels(const Option& option) {
  constexpr std::string_view kExpected =
      "buffers=KIND:BYTES+KIND:BYTES with kinds of cpu, core, processor and node in this order, each once, "
      "and sizes that are multiples of 8 and of the one before, below 32 GiB";
  std::vector<allocation::Level> levels;
  const std::string_view value = option.value;
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
      refuse_option(option.text, kExpected);
    }
    const auto level = allocation::Level{
        .kind = static_cast<allocation::Kind>(kind - allocation::kKindNames.begin()), .words = words};
    if (!levels.empty() && (level.kind <= levels.back().kind || words % levels.back().words != 0)) {
      refuse_option(option.text, kExpected);
    }
    levels.push_back(level);
  }
  return levels;
}

bool parse_zero_at(const Option& option) {
  if (option.value != "refill" && option.value != "tlab") {
    refuse_option(option.text, "zero-at=refill or zero-at=tlab");
  }
  return option.value == "refill";
}

BufferOptions::Take parse_take(const Option& option) {
  if (option.value != "atomic" && option.value != "restartable") {
    refuse_option(option.text, "take=atomic or take=restartable");
  }
  return option.value == "atomic" ? BufferOptions::Take::atomic : BufferOptions::Take::restartable;
}

}  // namespace

std::string_view BufferWords::all() const { return "buffers=KIND:BYTES, take=HOW, zero-at=WHEN, numa-eden"; }

std::string BufferWords::asking() const { return "buffers=KIND:BYTES"; }

bool BufferWords::take(const Option& option) {
  if (option.key == "buffers") {
    asked_ = true;
    options_.automatic = option.value == "auto";
    options_.levels = options_.automatic ? std::vector<allocation::Level>() : parse_levels(option);
    return true;
  }
  if (option.key == "take") {
    options_.take = parse_take(option);
  } else if (option.key == "zero-at") {
    options_.zero_at_refill = parse_zero_at(option);
  } else if (option.is("numa-eden")) {
    options_.numa_eden = true;
  } else {
    return false;
  }
  anything_besides_ = true;
  return true;
}

// Windows are zeroed just before they are used; adaptive may decide for them.
bool BufferWords::whole_buffers_are_zeroed() const {
  return zeroing_ != nullptr && zeroing_->asked() && !zeroing_->options().uses(ZeroingStrategy::windows) &&
         !zeroing_->options().uses(ZeroingStrategy::adaptive);
}

void BufferWords::complete(std::string_view text) {
  if (!asked_ && anything_besides_) {
    refuse_option(text, "buffers=KIND:BYTES together with take, zero-at or numa-eden");
  }
  const bool some_level = !options_.levels.empty() || options_.automatic;
  if (options_.zero_at_refill && !(whole_buffers_are_zeroed() && some_level)) {
    refuse_option(
        text,
        "zero-at=refill together with buffers of some level and zeroing=bulk, non-temporal or concurrent");
  }
}

}  // namespace memgraft::hotspot
