// The mappings of a process, and which of its addresses move together.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "memgraft/linux/owned_fd.h"

namespace memgraft::placement {

// Transparent huge pages of a mapping.
enum class Huge : std::uint8_t {
  none,
  some,
  all  // wherever one fits
};

struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t page_bytes = 4096;  // more where it is of hugetlbfs
  Huge huge = Huge::none;
  std::uint64_t huge_bytes = 0;  // AnonHugePages
  bool data = false;             // readable and writable: worth showing and moving
  std::string name;              // as in maps; [anon] where there is none

  friend bool operator==(const Mapping&, const Mapping&) = default;
};

// Of /proc/PID/smaps (proc(5)) or, with less in it, /proc/PID/maps. Lines that make no sense are passed over.
// `huge_page_bytes`: of a transparent one; 0 where there are none.
std::vector<Mapping> parse_mappings(std::string_view smaps, std::uint64_t huge_page_bytes);

struct Block {
  std::uint64_t address = 0;
  std::uint32_t pages = 1;  // of 4096 bytes

  friend bool operator==(const Block&, const Block&) = default;
};

// Reads anew when told so. smaps walks the page tables: some 50 us for 1000 pages of 4 KiB.
class Mappings {
 public:
  // `root` is what /proc and /sys are looked for in; tests fake it.
  explicit Mappings(pid_t process, const std::string& root = "");

  // False where nothing changed, or nothing can be read.
  bool refresh();

  [[nodiscard]] const std::vector<Mapping>& all() const { return mappings_; }
  [[nodiscard]] const Mapping* of(std::uint64_t address) const;  // nullptr: none of them
  // Of a transparent huge page; 0 where there are none.
  [[nodiscard]] std::uint64_t huge_page_bytes() const { return huge_page_bytes_; }
  // What moves along with the address. Where a mapping has some huge pages, which are those is known only
  // with CAP_SYS_ADMIN (/proc/kpageflags); else they are taken for small ones: the kernel moves the huge page
  // to which a small one belongs.
  [[nodiscard]] Block block_of(std::uint64_t address);
  // The same where transparent huge pages are split before they are moved.
  [[nodiscard]] Block part_of(std::uint64_t address) const;

 private:
  bool is_huge(std::uint64_t region);

  std::string folder_;
  std::uint64_t huge_page_bytes_ = 0;
  std::vector<Mapping> mappings_;
  std::unordered_map<std::uint64_t, bool> regions_;  // of mappings with some huge pages
  linux_os::OwnedFd pagemap_;
  linux_os::OwnedFd flags_;
};

}  // namespace memgraft::placement
