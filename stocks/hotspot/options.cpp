#include "options.h"

#include <array>
#include <charconv>
#include <string>

#include "refusal.h"

namespace memgraft::hotspot {

namespace {

struct StrategyName {
  ZeroingStrategy strategy;
  std::string_view name;
};

constexpr std::array<StrategyName, 2> kStrategyNames{{
    {ZeroingStrategy::bulk, "bulk"},
    {ZeroingStrategy::non_temporal, "non-temporal"},
}};

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

ZeroingStrategy parse_strategy(std::string_view value, std::string_view option) {
  for (const StrategyName& known : kStrategyNames) {
    if (known.name == value) {
      return known.strategy;
    }
  }
  refuse(option, "zeroing=bulk or zeroing=non-temporal");
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

std::string_view name_of(ZeroingStrategy strategy) {
  return kStrategyNames.at(static_cast<std::size_t>(strategy)).name;
}

Options parse_options(std::string_view text) {
  Options options;
  for (std::size_t start = 0; start <= text.size();) {
    const std::string_view option = text.substr(start, text.find(',', start) - start);
    start += option.size() + 1;
    const std::size_t equals = option.find('=');
    const std::string_view key = option.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? "" : option.substr(equals + 1);
    if (key == "zeroing") {
      options.zeroing = parse_strategy(value, option);
    } else if (key == "summary") {
      options.summary_folder = parse_folder(value, option);
    } else if (option == "check") {
      options.check = true;
    } else {
      refuse(option, "zeroing=bulk|non-temporal, summary=FOLDER or check");
    }
  }
  if (!options.zeroing && !options.check) {
    refuse(text, "a graft (zeroing=bulk or zeroing=non-temporal) or check");
  }
  if (options.check && !options.summary_folder) {
    refuse("check", "check together with summary=FOLDER, where the check is written");
  }
  return options;
}

}  // namespace memgraft::hotspot
