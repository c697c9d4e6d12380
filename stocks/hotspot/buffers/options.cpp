#include "buffers/options.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "memgraft/units.h"

namespace memgraft::hotspot {

namespace {

constexpr const Declaration& kBuffers = declared::kBuffers;
static_assert(std::ranges::equal(kBuffers.kinds, allocation::kKindNames));
static_assert(kBuffers.multiple == kBytesPerWord && to_words(Bytes(kBuffers.most)) <= allocation::kMostWords);

// `core:1048576+processor:16777216`
std::vector<allocation::Level> parse_levels(const Option& option) {
  std::vector<allocation::Level> levels;
  const std::string_view value = option.value;
  for (std::size_t start = 0; start <= value.size();) {
    const std::string_view part = value.substr(start, value.find('+', start) - start);
    start += part.size() + 1;
    const std::size_t colon = std::min(part.find(':'), part.size());
    const auto kind = std::ranges::find(kBuffers.kinds, part.substr(0, colon));
    const std::string_view digits = part.substr(std::min(colon + 1, part.size()));
    std::uint64_t bytes = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
    const bool right = kind != kBuffers.kinds.end() && error == std::errc() &&
                       end == digits.data() + digits.size() && bytes % kBuffers.multiple == 0 && bytes > 0 &&
                       bytes <= kBuffers.most;
    if (!right) {
      refuse_option(option.text, kBuffers.expected);
    }
    const auto level = allocation::Level{.kind = static_cast<allocation::Kind>(kind - kBuffers.kinds.begin()),
                                         .words = to_words(Bytes(bytes))};
    // One as large as the level below would be emptied by each refill of that one.
    if (!levels.empty() && (level.kind <= levels.back().kind || level.words <= levels.back().words ||
                            level.words % levels.back().words != 0_words)) {
      refuse_option(option.text, kBuffers.expected);
    }
    levels.push_back(level);
  }
  return levels;
}

constexpr std::size_t kAuto = 0;
constexpr std::size_t kAtomic = 0;
constexpr std::size_t kRefill = 1;
static_assert(kBuffers.words[kAuto] == "auto" && kBuffers.words.size() == 2);
static_assert(declared::kTake.words[kAtomic] == "atomic" && declared::kTake.words.size() == 2);
static_assert(declared::kZeroAt.words[kRefill] == "refill" && declared::kZeroAt.words.size() == 2);

}  // namespace

bool BufferWords::take(const Option& option) {
  if (option.is(kBuffers)) {
    asked_ = true;
    const bool in_a_word = std::ranges::find(kBuffers.words, option.value) != kBuffers.words.end();
    options_.automatic = in_a_word && word(option, kBuffers) == kAuto;
    options_.levels = in_a_word ? std::vector<allocation::Level>() : parse_levels(option);
    return true;
  }
  if (option.is(declared::kTake)) {
    options_.take = word(option, declared::kTake) == kAtomic ? BufferOptions::Take::atomic
                                                             : BufferOptions::Take::restartable;
  } else if (option.is(declared::kZeroAt)) {
    options_.zero_at_refill = word(option, declared::kZeroAt) == kRefill;
  } else if (option.is(declared::kNumaEden)) {
    options_.numa_eden = true;
  } else if (option.is(declared::kObjects)) {
    options_.objects = true;
  } else {
    return false;
  }
  anything_besides_ = true;
  return true;
}

// Windows are zeroed just before they are used, and so is the first of a mixed TLAB; adaptive may decide for
// them.
bool BufferWords::whole_buffers_are_zeroed() const {
  return zeroing_ != nullptr && zeroing_->asked() && !zeroing_->options().uses(ZeroingStrategy::windows) &&
         !zeroing_->options().uses(ZeroingStrategy::mixed) &&
         !zeroing_->options().uses(ZeroingStrategy::adaptive);
}

void BufferWords::complete(std::string_view text) {
  if (!asked_ && anything_besides_) {
    refuse_option(text, "buffers=KIND:BYTES together with take, zero-at, numa-eden or objects");
  }
  // Automatic sizes are those of TLABs too, and zeroing works by the TLAB.
  if (options_.objects && (options_.automatic || (zeroing_ != nullptr && zeroing_->asked()))) {
    refuse_option(text, "objects without buffers=auto and without zeroing");
  }
  const bool some_level = !options_.levels.empty() || options_.automatic;
  if (options_.zero_at_refill && !(whole_buffers_are_zeroed() && some_level)) {
    refuse_option(
        text,
        "zero-at=refill together with buffers of some level and zeroing=bulk, non-temporal or concurrent");
  }
}

}  // namespace memgraft::hotspot
