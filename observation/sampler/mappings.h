// The lines of /proc/self/maps, read with nothing but the reader's own buffer: also in a signal's handler.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace memgraft::observation {

struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool readable = false;
  bool writable = false;
  bool executable = false;
  bool anonymous = false;  // private, of no file, and its name is not a special one
  bool brk = false;        // ... or the program break's
  bool jvm = false;        // of libjvm
};

using Read = ssize_t (*)(int, void*, size_t);

class Mappings {
 public:
  // Read: what reads a file, as `read` itself is interposed.
  Mappings(Read read, char* buffer, std::size_t bytes)
      : read_(read), buffer_(buffer), bytes_(bytes), fd_(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}
  ~Mappings() {
    if (fd_ >= 0) {
      close(fd_);
    }
  }
  Mappings(const Mappings&) = delete;
  Mappings& operator=(const Mappings&) = delete;
  Mappings(Mappings&&) = delete;
  Mappings& operator=(Mappings&&) = delete;

  // BEGIN-END rwxp OFFSET DEVICE INODE [NAME]
  bool next(Mapping& mapping) {
    char end_mark = 0;
    mapping = {};
    if (!number(16, mapping.begin, end_mark) || !number(16, mapping.end, end_mark)) {
      return false;
    }
    mapping.readable = take() == 'r';
    mapping.writable = take() == 'w';
    mapping.executable = take() == 'x';
    const bool is_private = take() == 'p';
    take();
    skip_word();
    skip_word();
    std::uintptr_t inode = 0;
    if (!number(10, inode, end_mark)) {
      return false;
    }
    name(end_mark, mapping, is_private && inode == 0);
    return true;
  }

 private:
  static constexpr std::size_t kTail = 10;

  char take() {
    if (at_ == filled_) {
      const ssize_t got = fd_ < 0 ? 0 : read_(fd_, buffer_, bytes_);
      if (got <= 0) {
        return 0;
      }
      at_ = 0;
      filled_ = static_cast<std::size_t>(got);
    }
    return buffer_[at_++];
  }
  bool number(unsigned base, std::uintptr_t& value, char& end_mark) {
    value = 0;
    for (unsigned digits = 0;; ++digits) {
      const char c = take();
      if (c >= '0' && c <= '9') {
        value = value * base + static_cast<unsigned>(c - '0');
      } else if (base == 16 && c >= 'a' && c <= 'f') {
        value = value * base + static_cast<unsigned>(c - 'a') + 10U;
      } else {
        end_mark = c;
        return digits != 0;
      }
    }
  }
  void skip_word() {
    char c = take();
    while (c != ' ' && c != '\n' && c != 0) {
      c = take();
    }
  }
  // The rest of the line; only its last letters matter.
  void name(char c, Mapping& mapping, bool private_memory) {
    char tail[kTail + 1] = {};
    bool any = false;
    while (c != '\n' && c != 0) {
      any = any || c != ' ';
      std::memmove(tail, tail + 1, kTail - 1);
      tail[kTail - 1] = c;
      c = take();
    }
    mapping.brk = private_memory && std::memcmp(tail + kTail - 6, "[heap]", 6) == 0;
    mapping.anonymous = private_memory && !any;
    mapping.jvm = std::memcmp(tail, "/libjvm.so", kTail) == 0;
  }

  Read read_;
  char* buffer_;
  std::size_t bytes_;
  int fd_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
};

}  // namespace memgraft::observation
