#include "memgraft/placement/mappings.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "memgraft/placement/profile.h"

namespace memgraft::placement {

namespace {

constexpr std::uint64_t kBytesPerKibibyte = 1024;

std::string_view cut(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t");
  return start == std::string_view::npos ? std::string_view() : text.substr(start);
}

std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// `7f0000000000-7f0000200000 rw-p 00000000 00:00 0      [heap]`
std::optional<Mapping> parse_head(std::string_view line) {
  const auto start = hexadecimal(cut(line, '-'));
  const auto end = hexadecimal(cut(line, ' '));
  const std::string_view rights = cut(line, ' ');
  if (!start || !end || *end <= *start || rights.size() != 4) {
    return std::nullopt;
  }
  for (int field = 0; field < 3; ++field) {  // offset, device, inode
    line = without_blanks(line);
    cut(line, ' ');
  }
  Mapping mapping;
  mapping.start = *start;
  mapping.end = *end;
  mapping.name = without_blanks(line);
  mapping.data = rights.starts_with("rw") && !mapping.name.starts_with("[v");  // not [vvar], [vsyscall]
  if (mapping.name.empty()) {
    mapping.name = "[anon]";
  }
  return mapping;
}

// `AnonHugePages:      2048 kB`, in bytes.
std::uint64_t bytes_of(std::string_view line, std::string_view field) {
  line = without_blanks(line.substr(field.size()));
  std::uint64_t kibibytes = 0;
  std::from_chars(line.data(), line.data() + line.size(), kibibytes);
  return kibibytes * kBytesPerKibibyte;
}

Huge kind_of(const Mapping& mapping, std::uint64_t huge_page_bytes) {
  if (mapping.huge_bytes == 0 || huge_page_bytes == 0) {
    return Huge::none;
  }
  const std::uint64_t first = (mapping.start + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
  const std::uint64_t last = mapping.end / huge_page_bytes * huge_page_bytes;
  return last > first && mapping.huge_bytes == last - first ? Huge::all : Huge::some;
}

std::uint64_t number_in(const std::string& file) {
  std::uint64_t number = 0;
  std::ifstream(file) >> number;
  return number;
}

std::optional<std::uint64_t> word_at(int fd, std::uint64_t index) {
  std::uint64_t word = 0;
  const auto place = static_cast<off_t>(index * sizeof word);
  return fd >= 0 && pread(fd, &word, sizeof word, place) == static_cast<ssize_t>(sizeof word)
             ? std::optional(word)
             : std::nullopt;
}

}  // namespace

std::vector<Mapping> parse_mappings(std::string_view smaps, std::uint64_t huge_page_bytes) {
  constexpr std::string_view kHuge = "AnonHugePages:";
  constexpr std::string_view kPage = "KernelPageSize:";
  std::vector<Mapping> found;
  while (!smaps.empty()) {
    const std::string_view line = cut(smaps, '\n');
    if (auto mapping = parse_head(line)) {
      found.push_back(std::move(*mapping));
    } else if (found.empty()) {
      continue;
    } else if (line.starts_with(kHuge)) {
      found.back().huge_bytes = bytes_of(line, kHuge);
      found.back().huge = kind_of(found.back(), huge_page_bytes);
    } else if (line.starts_with(kPage)) {
      found.back().page_bytes = std::max(bytes_of(line, kPage), kPageBytes);
    }
  }
  return found;
}

Mappings::Mappings(pid_t process, const std::string& root)
    : folder_(root + "/proc/" + std::to_string(process)),
      huge_page_bytes_(number_in(root + "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")),
      pagemap_(::open((folder_ + "/pagemap").c_str(), O_RDONLY | O_CLOEXEC)),
      flags_(::open((root + "/proc/kpageflags").c_str(), O_RDONLY | O_CLOEXEC)) {
  refresh();
}

bool Mappings::refresh() {
  std::ifstream smaps(folder_ + "/smaps");
  std::string text{std::istreambuf_iterator<char>(smaps), {}};
  if (text.empty()) {
    std::ifstream maps(folder_ + "/maps");
    text.assign(std::istreambuf_iterator<char>(maps), {});
  }
  std::vector<Mapping> now = parse_mappings(text, huge_page_bytes_);
  if (now.empty() || now == mappings_) {
    return false;
  }
  mappings_ = std::move(now);
  regions_.clear();
  return true;
}

const Mapping* Mappings::of(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(mappings_, address, {}, &Mapping::start);
  if (after == mappings_.begin()) {
    return nullptr;
  }
  const Mapping& mapping = *std::prev(after);
  return address < mapping.end ? &mapping : nullptr;
}

// Whether its first page is one of a huge page (Documentation/admin-guide/mm/pagemap.rst).
bool Mappings::is_huge(std::uint64_t region) {
  constexpr std::uint64_t kFrame = (std::uint64_t{1} << 55U) - 1;
  constexpr std::uint64_t kTransparentHuge = std::uint64_t{1} << 22U;
  const auto known = regions_.find(region);
  if (known != regions_.end()) {
    return known->second;
  }
  const std::uint64_t frame = word_at(pagemap_.get(), region / kPageBytes).value_or(0) & kFrame;
  const bool huge = frame != 0 && (word_at(flags_.get(), frame).value_or(0) & kTransparentHuge) != 0;
  regions_.emplace(region, huge);
  return huge;
}

Block Mappings::part_of(std::uint64_t address) const {
  const Mapping* const mapping = of(address);
  const std::uint64_t bytes = mapping == nullptr ? kPageBytes : mapping->page_bytes;
  return {.address = address / bytes * bytes, .pages = static_cast<std::uint32_t>(bytes / kPageBytes)};
}

Block Mappings::block_of(std::uint64_t address) {
  const Mapping* const mapping = of(address);
  if (mapping != nullptr && mapping->huge != Huge::none && huge_page_bytes_ != 0) {
    const std::uint64_t region = address / huge_page_bytes_ * huge_page_bytes_;
    if (region >= mapping->start && region + huge_page_bytes_ <= mapping->end &&
        (mapping->huge == Huge::all || is_huge(region))) {
      return {.address = region, .pages = static_cast<std::uint32_t>(huge_page_bytes_ / kPageBytes)};
    }
  }
  return part_of(address);
}

}  // namespace memgraft::placement
