#include "small_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>

#include "memgraft/linux/owned_fd.h"

namespace memgraft::linux_os {

namespace {

constexpr std::size_t kSmallestBuffer = 4096;  // a page: what the kernel fills at least at one read(2)

// read(2) until the buffer is full or the file ends; -1 on an error.
ssize_t read_up_to(int fd, std::span<char> buffer) noexcept {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const ssize_t got = ::read(fd, buffer.data() + filled, buffer.size() - filled);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return -1;
    }
    if (got == 0) {
      break;
    }
    filled += static_cast<std::size_t>(got);
  }
  return static_cast<ssize_t>(filled);
}

}  // namespace

std::optional<std::string_view> read_small_file(int folder, const char* path,
                                                std::span<char> buffer) noexcept {
  const OwnedFd file(::openat(folder, path, O_RDONLY | O_CLOEXEC));
  const ssize_t size = file.get() < 0 ? -1 : read_up_to(file.get(), buffer);
  if (size < 0) {
    return std::nullopt;
  }
  return std::string_view(buffer.data(), static_cast<std::size_t>(size));
}

bool read_file(const std::string& path, std::string& content) {
  const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::size_t filled = 0;
  while (file.get() >= 0) {
    if (filled == content.size()) {
      const std::size_t grown = std::max(2 * filled, kSmallestBuffer);
      content.resize(filled < content.capacity() ? content.capacity() : grown);
    }
    const ssize_t got = read_up_to(file.get(), std::span(content).subspan(filled));
    if (got < 0) {
      break;
    }
    filled += static_cast<std::size_t>(got);
    if (filled < content.size()) {
      content.resize(filled);
      return true;
    }
  }
  content.clear();
  return false;
}

std::optional<std::string> read_line(const std::string& path) {
  std::string content;
  if (!read_file(path, content)) {
    return std::nullopt;
  }
  if (content.ends_with('\n')) {
    content.pop_back();
  }
  return content;
}

std::string_view cut_field(std::string_view& text, char separator) noexcept {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view field = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return field;
}

std::optional<std::uint64_t> to_number(std::string_view text) noexcept {
  constexpr int kDecimal = 10;
  constexpr int kHexadecimal = 16;
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) {
    text.remove_prefix(2);
  }
  const std::span<const char> digits(text);
  const char* const end = digits.data() + digits.size();
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(digits.data(), end, number, hexadecimal ? kHexadecimal : kDecimal);
  return parsed.ec == std::errc{} && parsed.ptr == end ? std::optional(number) : std::nullopt;
}

}  // namespace memgraft::linux_os
