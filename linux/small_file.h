// Small files of /proc and /sys, which the kernel writes anew at every reading.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace memgraft::linux_os {

// What stands in the file, as far as the buffer holds it; nullopt when it cannot be read. Neither allocates
// nor throws: for use inside a pause of a JVM. `folder` and `path` as in openat(2).
std::optional<std::string_view> read_small_file(int folder, const char* path,
                                                std::span<char> buffer) noexcept;

// The whole file, however long (mountinfo is, on machines with many containers). `content` keeps its
// capacity, so that reading the same file again does not allocate. False, and an empty `content`, when it
// cannot be read.
bool read_file(const std::string& path, std::string& content);

// The same for a file that holds one line: without the newline at its end.
std::optional<std::string> read_line(const std::string& path);

// The first field of `text` up to `separator`, which is cut off `text` with it.
std::string_view cut_field(std::string_view& text, char separator) noexcept;

// All of `text` as one decimal number, or, after 0x, a hexadecimal one; nullopt when it is anything else.
std::optional<std::uint64_t> to_number(std::string_view text) noexcept;

}  // namespace memgraft::linux_os
