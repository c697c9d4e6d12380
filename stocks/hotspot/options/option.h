// One option of the agent as it stands in `-agentpath:LIBRARY=KEY=VALUE,KEY=VALUE`, and kinds of values that
// several options have. docs/formats.md, section 1, lists all options.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace memgraft::hotspot {

struct Option {
  std::string_view text;   // as it stands
  std::string_view key;    // what is before the first '=', if there is one
  std::string_view value;  // what is behind it

  // Whether it is this word, by itself.
  [[nodiscard]] bool is(std::string_view word) const { return text == word; }
};
Option read_option(std::string_view text);

// Throws a Refusal with exit code 2: `text` is one option, or several that do not fit together.
[[noreturn]] void refuse_option(std::string_view text, std::string_view expected);

// Each throws a Refusal with exit code 2 where the value is not of that kind. In paths `%` and two
// hexadecimal digits stand for a byte.
std::filesystem::path existing_file(const Option& option);
std::filesystem::path existing_folder(const Option& option);
std::size_t power_of_two(const Option& option, std::size_t least, std::size_t most);

}  // namespace memgraft::hotspot
