// One option of the agent as it stands in `-agentpath:LIBRARY=KEY=VALUE,KEY=VALUE`, and kinds of values that
// several options have. docs/formats.md, section 1, lists all options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "options/declaration.h"

namespace memgraft::hotspot {

struct Option {
  std::string_view text;   // as it stands
  std::string_view key;    // what is before the first '=', if there is one
  std::string_view value;  // what is behind it

  // Whether it is the one so declared, whatever its value.
  [[nodiscard]] bool is(const Declaration& declared) const {
    return declared.alone ? text == declared.key : key == declared.key;
  }
};
Option read_option(std::string_view text);

// Throws a Refusal with exit code 2: `text` is one option, or several that do not fit together.
[[noreturn]] void refuse_option(std::string_view text, std::string_view expected);

// The value; each throws a Refusal with exit code 2 where it is not as declared. In paths `%` and two
// hexadecimal digits stand for a byte.
std::filesystem::path existing_file(const Option& option, const Declaration& declared);
std::filesystem::path existing_folder(const Option& option, const Declaration& declared);
std::uint64_t power_of_two(const Option& option, const Declaration& declared);
// Which of the declared words it is.
std::size_t word(const Option& option, const Declaration& declared);

}  // namespace memgraft::hotspot
