// How an option of the agent is declared. declared.h has all of them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace memgraft::hotspot {

struct Declaration {
  std::string_view key;
  bool alone = false;                       // it has no value
  std::string_view usage;                   // as lists of options have it: "window=BYTES"
  std::string_view expected;                // as refusals have it, with what its value must be
  std::span<const std::string_view> words;  // that it takes, where these are its values
  std::span<const std::string_view> kinds;  // of buffers, the nearest to a thread first
  // Where its value is a number of bytes, or has some.
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::uint64_t multiple = 0;    // of which each number is one
  std::uint64_t by_default = 0;  // without the option
};

}  // namespace memgraft::hotspot
