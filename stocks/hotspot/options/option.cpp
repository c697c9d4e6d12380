#include "options/option.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <system_error>

#include "join/refusal.h"

namespace memgraft::hotspot {

namespace {

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
      refuse_option(option, "two hexadecimal digits after '%'");
    }
    decoded.push_back(static_cast<char>(byte));
    i += 2;
  }
  return decoded;
}

}  // namespace

Option read_option(std::string_view text) {
  const std::size_t equals = text.find('=');
  return {.text = text,
          .key = text.substr(0, equals),
          .value = equals == std::string_view::npos ? "" : text.substr(equals + 1)};
}

void refuse_option(std::string_view text, std::string_view expected) {
  throw Refusal("wrong agent option '" + std::string(text) + "'",
                {.looked_for = std::string(expected),
                 .found = "'" + std::string(text) + "'",
                 .advice = "correct the text after '=' of -agentpath"},
                kExitWrongUsage);
}

std::filesystem::path existing_file(const Option& option, const Declaration& declared) {
  std::filesystem::path file = percent_decoded(option.value, option.text);
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    refuse_option(option.text, declared.expected);
  }
  return file;
}

std::filesystem::path existing_folder(const Option& option, const Declaration& declared) {
  std::filesystem::path folder = percent_decoded(option.value, option.text);
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    refuse_option(option.text, declared.expected);
  }
  return folder;
}

std::uint64_t power_of_two(const Option& option, const Declaration& declared) {
  std::uint64_t bytes = 0;
  const std::string_view value = option.value;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), bytes);
  if (error != std::errc() || end != value.data() + value.size() || !std::has_single_bit(bytes) ||
      bytes < declared.least || bytes > declared.most) {
    refuse_option(option.text, declared.expected);
  }
  return bytes;
}

std::size_t word(const Option& option, const Declaration& declared) {
  const auto found = std::ranges::find(declared.words, option.value);
  if (found == declared.words.end()) {
    refuse_option(option.text, declared.expected);
  }
  return static_cast<std::size_t>(found - declared.words.begin());
}

}  // namespace memgraft::hotspot
