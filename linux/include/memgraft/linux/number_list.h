// Sets of CPUs and of nodes, as Linux writes them. There is no source, so that who uses it links nothing of
// Linux.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

namespace memgraft::linux_os {

// `0-3,8,10-11` (Documentation/admin-guide/cputopology.rst); what is no such list is empty.
inline std::vector<unsigned> numbers_of_list(std::string_view list) {
  constexpr unsigned kMost = 1U << 16U;
  const auto number = [](std::string_view text) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
  };
  std::vector<unsigned> found;
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(','));
    list.remove_prefix(std::min(part.size() + 1, list.size()));
    const std::size_t dash = part.find('-');
    const auto first = number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= kMost) {
      return {};
    }
    for (unsigned value = *first; value <= *last; ++value) {
      found.push_back(value);
    }
  }
  return found;
}

}  // namespace memgraft::linux_os
