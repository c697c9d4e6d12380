// Calls in which the kernel reads or writes the program's memory: at a guarded page they would fail with
// EFAULT, or end short of it. None is guarded there while they run. The names with _chk are what a program
// calls that was compiled with _FORTIFY_SOURCE. stdio's own buffers are small, and so never guarded, but it
// passes large blocks straight to the kernel.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "sampler.h"

namespace memgraft::observation {
namespace {

constexpr std::size_t kMostParts = 16;

// The parts of a vector; where there are many, everything.
class HeldParts {
 public:
  HeldParts(const iovec* parts, std::size_t count) {
    if (!active()) {
      return;
    }
    vector_.emplace(parts, count * sizeof(iovec));
    if (parts == nullptr) {
      return;
    }
    if (count > kMostParts) {
      calm_.emplace();
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      parts_[i].emplace(parts[i].iov_base, parts[i].iov_len);
    }
  }

 private:
  std::optional<Held> vector_;
  std::optional<Held> parts_[kMostParts];
  std::optional<Calm> calm_;
};

class HeldMessage {
 public:
  explicit HeldMessage(const msghdr* message)
      : itself_(message, sizeof(msghdr)),
        name_(message->msg_name, message->msg_namelen),
        control_(message->msg_control, message->msg_controllen),
        parts_(message->msg_iov, message->msg_iovlen) {}

 private:
  Held itself_;
  Held name_;
  Held control_;
  HeldParts parts_;
};

}  // namespace
}  // namespace memgraft::observation

using memgraft::observation::Held;
using memgraft::observation::HeldMessage;
using memgraft::observation::HeldParts;
using memgraft::observation::next;

// The first argument that is memory, and how long it is, around a call of the next function of that name.
#define MEMGRAFT_HOLDING(function, memory, bytes, ...)      \
  static const auto real = next(&::function, #function);    \
  const Held held(memory, static_cast<std::size_t>(bytes)); \
  return real(__VA_ARGS__)

extern "C" {
ssize_t __read_chk(int fd, void* to, size_t bytes, size_t most);
ssize_t __pread_chk(int fd, void* to, size_t bytes, off_t offset, size_t most);
ssize_t __pread64_chk(int fd, void* to, size_t bytes, off64_t offset, size_t most);
ssize_t __recv_chk(int fd, void* to, size_t bytes, size_t most, int flags);
ssize_t __recvfrom_chk(int fd, void* to, size_t bytes, size_t most, int flags, sockaddr* from,
                       socklen_t* length);
size_t __fread_chk(void* to, size_t most, size_t size, size_t count, FILE* file);
size_t __fread_unlocked_chk(void* to, size_t most, size_t size, size_t count, FILE* file);
int __poll_chk(pollfd* fds, nfds_t count, int timeout, size_t most);
}

MEMGRAFT_EXPORT ssize_t read(int fd, void* to, size_t bytes) {
  MEMGRAFT_HOLDING(read, to, bytes, fd, to, bytes);
}
MEMGRAFT_EXPORT ssize_t __read_chk(int fd, void* to, size_t bytes, size_t most) {
  MEMGRAFT_HOLDING(__read_chk, to, bytes, fd, to, bytes, most);
}
MEMGRAFT_EXPORT ssize_t write(int fd, const void* from, size_t bytes) {
  MEMGRAFT_HOLDING(write, from, bytes, fd, from, bytes);
}
MEMGRAFT_EXPORT ssize_t pread(int fd, void* to, size_t bytes, off_t offset) {
  MEMGRAFT_HOLDING(pread, to, bytes, fd, to, bytes, offset);
}
MEMGRAFT_EXPORT ssize_t pread64(int fd, void* to, size_t bytes, off64_t offset) {
  MEMGRAFT_HOLDING(pread64, to, bytes, fd, to, bytes, offset);
}
MEMGRAFT_EXPORT ssize_t __pread_chk(int fd, void* to, size_t bytes, off_t offset, size_t most) {
  MEMGRAFT_HOLDING(__pread_chk, to, bytes, fd, to, bytes, offset, most);
}
MEMGRAFT_EXPORT ssize_t __pread64_chk(int fd, void* to, size_t bytes, off64_t offset, size_t most) {
  MEMGRAFT_HOLDING(__pread64_chk, to, bytes, fd, to, bytes, offset, most);
}
MEMGRAFT_EXPORT ssize_t pwrite(int fd, const void* from, size_t bytes, off_t offset) {
  MEMGRAFT_HOLDING(pwrite, from, bytes, fd, from, bytes, offset);
}
MEMGRAFT_EXPORT ssize_t pwrite64(int fd, const void* from, size_t bytes, off64_t offset) {
  MEMGRAFT_HOLDING(pwrite64, from, bytes, fd, from, bytes, offset);
}
MEMGRAFT_EXPORT ssize_t recv(int fd, void* to, size_t bytes, int flags) {
  MEMGRAFT_HOLDING(recv, to, bytes, fd, to, bytes, flags);
}
MEMGRAFT_EXPORT ssize_t __recv_chk(int fd, void* to, size_t bytes, size_t most, int flags) {
  MEMGRAFT_HOLDING(__recv_chk, to, bytes, fd, to, bytes, most, flags);
}
MEMGRAFT_EXPORT ssize_t send(int fd, const void* from, size_t bytes, int flags) {
  MEMGRAFT_HOLDING(send, from, bytes, fd, from, bytes, flags);
}
MEMGRAFT_EXPORT ssize_t recvfrom(int fd, void* to, size_t bytes, int flags, sockaddr* from,
                                 socklen_t* length) {
  const Held address(from, sizeof(sockaddr_storage));
  const Held its_length(length, sizeof(socklen_t));
  MEMGRAFT_HOLDING(recvfrom, to, bytes, fd, to, bytes, flags, from, length);
}
MEMGRAFT_EXPORT ssize_t __recvfrom_chk(int fd, void* to, size_t bytes, size_t most, int flags, sockaddr* from,
                                       socklen_t* length) {
  const Held address(from, sizeof(sockaddr_storage));
  const Held its_length(length, sizeof(socklen_t));
  MEMGRAFT_HOLDING(__recvfrom_chk, to, bytes, fd, to, bytes, most, flags, from, length);
}
MEMGRAFT_EXPORT ssize_t sendto(int fd, const void* from, size_t bytes, int flags, const sockaddr* to,
                               socklen_t length) {
  const Held address(to, length);
  MEMGRAFT_HOLDING(sendto, from, bytes, fd, from, bytes, flags, to, length);
}
MEMGRAFT_EXPORT ssize_t recvmsg(int fd, msghdr* message, int flags) {
  static const auto real = next(&::recvmsg, "recvmsg");
  const HeldMessage held(message);
  return real(fd, message, flags);
}
MEMGRAFT_EXPORT ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  static const auto real = next(&::sendmsg, "sendmsg");
  const HeldMessage held(message);
  return real(fd, message, flags);
}
MEMGRAFT_EXPORT ssize_t getrandom(void* to, size_t bytes, unsigned flags) {
  MEMGRAFT_HOLDING(getrandom, to, bytes, to, bytes, flags);
}

MEMGRAFT_EXPORT ssize_t readv(int fd, const iovec* parts, int count) {
  static const auto real = next(&::readv, "readv");
  const HeldParts held(parts, static_cast<std::size_t>(std::max(count, 0)));
  return real(fd, parts, count);
}
MEMGRAFT_EXPORT ssize_t writev(int fd, const iovec* parts, int count) {
  static const auto real = next(&::writev, "writev");
  const HeldParts held(parts, static_cast<std::size_t>(std::max(count, 0)));
  return real(fd, parts, count);
}
MEMGRAFT_EXPORT ssize_t preadv(int fd, const iovec* parts, int count, off_t offset) {
  static const auto real = next(&::preadv, "preadv");
  const HeldParts held(parts, static_cast<std::size_t>(std::max(count, 0)));
  return real(fd, parts, count, offset);
}
MEMGRAFT_EXPORT ssize_t pwritev(int fd, const iovec* parts, int count, off_t offset) {
  static const auto real = next(&::pwritev, "pwritev");
  const HeldParts held(parts, static_cast<std::size_t>(std::max(count, 0)));
  return real(fd, parts, count, offset);
}

MEMGRAFT_EXPORT size_t fread(void* to, size_t size, size_t count, FILE* file) {
  MEMGRAFT_HOLDING(fread, to, size * count, to, size, count, file);
}
MEMGRAFT_EXPORT size_t fread_unlocked(void* to, size_t size, size_t count, FILE* file) {
  MEMGRAFT_HOLDING(fread_unlocked, to, size * count, to, size, count, file);
}
MEMGRAFT_EXPORT size_t __fread_chk(void* to, size_t most, size_t size, size_t count, FILE* file) {
  MEMGRAFT_HOLDING(__fread_chk, to, size * count, to, most, size, count, file);
}
MEMGRAFT_EXPORT size_t __fread_unlocked_chk(void* to, size_t most, size_t size, size_t count, FILE* file) {
  MEMGRAFT_HOLDING(__fread_unlocked_chk, to, size * count, to, most, size, count, file);
}
MEMGRAFT_EXPORT size_t fwrite(const void* from, size_t size, size_t count, FILE* file) {
  MEMGRAFT_HOLDING(fwrite, from, size * count, from, size, count, file);
}
MEMGRAFT_EXPORT size_t fwrite_unlocked(const void* from, size_t size, size_t count, FILE* file) {
  MEMGRAFT_HOLDING(fwrite_unlocked, from, size * count, from, size, count, file);
}

MEMGRAFT_EXPORT int poll(pollfd* fds, nfds_t count, int timeout) {
  MEMGRAFT_HOLDING(poll, fds, count * sizeof(pollfd), fds, count, timeout);
}
MEMGRAFT_EXPORT int __poll_chk(pollfd* fds, nfds_t count, int timeout, size_t most) {
  MEMGRAFT_HOLDING(__poll_chk, fds, count * sizeof(pollfd), fds, count, timeout, most);
}
MEMGRAFT_EXPORT int epoll_wait(int fd, epoll_event* events, int count, int timeout) {
  MEMGRAFT_HOLDING(epoll_wait, events, static_cast<std::size_t>(std::max(count, 0)) * sizeof(epoll_event), fd,
                   events, count, timeout);
}
