#include "join/patch.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <system_error>
#include <utility>

namespace memgraft::hotspot {

namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { (void)std::fclose(file); }
};

// The protection of the page at `address`, from /proc/self/maps (proc_pid_maps(5)): the kernel has no call
// for it.
int protection_at(std::uintptr_t address) {
  const std::unique_ptr<std::FILE, CloseFile> maps(std::fopen("/proc/self/maps", "re"));
  if (!maps) {
    throw std::system_error(errno, std::generic_category(), "cannot open /proc/self/maps");
  }
  std::array<char, 8192> line{};
  while (std::fgets(line.data(), static_cast<int>(line.size()), maps.get()) != nullptr) {
    std::uintptr_t start = 0;
    std::uintptr_t end = 0;
    std::array<char, 5> access{};
    // The kernel writes these lines. NOLINTNEXTLINE(cert-err34-c,bugprone-unchecked-string-to-number-*)
    if (std::sscanf(line.data(), "%lx-%lx %4s", &start, &end, access.data()) == 3 && start <= address &&
        address < end) {
      return (access[0] == 'r' ? PROT_READ : 0) | (access[1] == 'w' ? PROT_WRITE : 0) |
             (access[2] == 'x' ? PROT_EXEC : 0);
    }
  }
  throw std::system_error(EFAULT, std::generic_category(), "no mapping holds the pointer to be replaced");
}

void protect(void* page, std::size_t size_bytes, int protection) {
  // NOLINTNEXTLINE(clang-analyzer-security.MmapWriteExec): threads may be running what lies there.
  if (mprotect(page, size_bytes, protection) != 0) {
    throw std::system_error(errno, std::generic_category(), "mprotect");
  }
}

void store(std::uintptr_t* cell, std::uintptr_t value) {
  // An aligned pointer never straddles two pages.
  const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(cell);
  // mprotect takes the start of the page.
  auto* const page = reinterpret_cast<void*>(address & ~(page_bytes - 1));
  const int before = protection_at(address);
  if ((before & PROT_WRITE) == 0) {
    protect(page, page_bytes, before | PROT_READ | PROT_WRITE);
  }
  // Another thread of the process may be calling through this very pointer: it must see the old or the new
  // one whole, and with the new one everything that was prepared for it.
  std::atomic_ref<std::uintptr_t>(*cell).store(value, std::memory_order_release);
  if ((before & PROT_WRITE) == 0) {
    protect(page, page_bytes, before);
  }
}

void store_code(std::uintptr_t address, std::span<const std::byte> code) {
  const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t start = address & ~(page_bytes - 1);
  const std::size_t bytes = address + code.size() - start;
  const int before = protection_at(address);
  // mprotect takes the start of the page.
  auto* const page = reinterpret_cast<void*>(start);
  protect(page, bytes, before | PROT_READ | PROT_WRITE);
  std::memcpy(reinterpret_cast<void*>(address), code.data(), code.size());
  protect(page, bytes, before);
  auto* const text = reinterpret_cast<char*>(address);
  __builtin___clear_cache(text, text + code.size());
}

}  // namespace

Patch::Patch(Patch&& other) noexcept
    : replacements_(std::move(other.replacements_)),
      code_replacements_(std::move(other.code_replacements_)),
      kept_(std::exchange(other.kept_, true)) {
  other.replacements_.clear();
  other.code_replacements_.clear();
}

Patch::~Patch() {
  if (!kept_) {
    undo();
  }
}

void Patch::replace(std::uintptr_t* cell, std::uintptr_t value) {
  replacements_.push_back({.cell = cell, .before = *cell});
  try {
    store(cell, value);
  } catch (...) {
    replacements_.pop_back();
    throw;
  }
}

void Patch::replace_code(std::uintptr_t address, std::span<const std::byte> code) {
  const auto* const now = reinterpret_cast<const std::byte*>(address);
  code_replacements_.push_back({.address = address, .before = {now, now + code.size()}});
  try {
    store_code(address, code);
  } catch (...) {
    code_replacements_.pop_back();
    throw;
  }
}

void Patch::undo() noexcept {
  while (!code_replacements_.empty()) {
    const CodeReplacement last = std::move(code_replacements_.back());
    code_replacements_.pop_back();
    try {
      store_code(last.address, last.before);
    } catch (const std::exception& error) {
      (void)std::fprintf(stderr, "memgraft: cannot undo a graft: %s\n", error.what());
      std::terminate();
    }
  }
  while (!replacements_.empty()) {
    const Replacement last = replacements_.back();
    replacements_.pop_back();
    try {
      store(last.cell, last.before);
    } catch (const std::exception& error) {
      // The page could be written a moment ago, so this should not happen; half a graft must not live on.
      (void)std::fprintf(stderr, "memgraft: cannot undo a graft: %s\n", error.what());
      std::terminate();
    }
  }
}

}  // namespace memgraft::hotspot
