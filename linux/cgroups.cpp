#include "memgraft/linux/cgroups.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "small_file.h"

namespace memgraft::linux_os {

namespace {

constexpr std::string_view kCpuController = "cpu";

bool lists(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    if (cut_field(words, ',') == word) {
      return true;
    }
  }
  return false;
}

bool has_parent_component(std::string_view path) {
  while (!path.empty()) {
    if (cut_field(path, '/') == "..") {
      return true;
    }
  }
  return false;
}

// proc(5): space, tab, newline and backslash are written as a backslash and three octal digits.
std::string unescape(std::string_view field) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string plain;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const std::string_view digits = field.substr(i + 1, 3);
    if (field[i] == '\\' && digits.size() == 3 && std::ranges::all_of(digits, is_octal)) {
      const int code = ((digits[0] - '0') * 64) + ((digits[1] - '0') * 8) + (digits[2] - '0');
      plain += static_cast<char>(code);
      i += digits.size();
    } else {
      plain += field[i];
    }
  }
  return plain;
}

// A mounted hierarchy of groups: `root` is the group that is seen at `point`.
struct Mount {
  std::string root;
  std::string point;
};

// What a line of mountinfo mounts, if that is the hierarchy that is asked for:
// 36 35 98:0 /root /point rw,noatime master:1 - cgroup cgroup rw,cpu,cpuacct
std::optional<Mount> mount_of(std::string_view line, bool version2) {
  constexpr int kFieldsBeforeRoot = 3;
  for (int i = 0; i < kFieldsBeforeRoot; ++i) {
    cut_field(line, ' ');
  }
  const std::string_view root = cut_field(line, ' ');
  const std::string_view point = cut_field(line, ' ');
  while (!line.empty() && cut_field(line, ' ') != "-") {
  }
  const std::string_view type = cut_field(line, ' ');
  cut_field(line, ' ');
  const bool wanted = version2 ? type == "cgroup2" : type == "cgroup" && lists(line, kCpuController);
  if (!wanted || !root.starts_with('/') || !point.starts_with('/')) {
    return std::nullopt;
  }
  return Mount{.root = unescape(root), .point = unescape(point)};
}

// The part of `group` below the group that the mount shows; nullopt when it lies elsewhere or unknown.
std::optional<std::string> below(std::string_view group, std::string_view mount_root) {
  if (has_parent_component(group) || has_parent_component(mount_root)) {
    return std::nullopt;
  }
  if (mount_root == "/") {
    return std::string(group == "/" ? "" : group);
  }
  if (!group.starts_with(mount_root)) {
    return std::nullopt;
  }
  group.remove_prefix(mount_root.size());
  return group.empty() || group.starts_with('/') ? std::optional<std::string>(group) : std::nullopt;
}

void add_files(const std::string& point, std::string group, bool version2, std::vector<QuotaFiles>& files) {
  while (true) {
    const std::string folder = point + group;
    files.push_back(version2 ? QuotaFiles{.quota = folder + "/cpu.max", .period = {}}
                             : QuotaFiles{.quota = folder + "/cpu.cfs_quota_us",
                                          .period = folder + "/cpu.cfs_period_us"});
    if (group.empty()) {
      return;
    }
    group.erase(group.rfind('/'));
  }
}

void add_hierarchy(std::string_view group, std::string_view mounts, bool version2, const std::string& root,
                   std::vector<QuotaFiles>& files) {
  std::optional<Mount> any;
  while (!mounts.empty()) {
    const std::optional<Mount> mount = mount_of(cut_field(mounts, '\n'), version2);
    if (!mount) {
      continue;
    }
    if (const std::optional<std::string> path = below(group, mount->root)) {
      add_files(root + mount->point, *path, version2, files);
      return;
    }
    any = any ? any : mount;
  }
  // The process is in no group that a mount shows by its name: what a mount shows at its point is then the
  // group that a container was given, or one above it.
  if (any) {
    add_files(root + any->point, "", version2, files);
  }
}

}  // namespace

std::vector<QuotaFiles> quota_files(std::string_view groups, std::string_view mounts,
                                    const std::string& root) {
  std::vector<QuotaFiles> files;
  while (!groups.empty()) {
    // 4:cpu,cpuacct:/group of version 1, 0::/group of version 2. A group's name may contain colons.
    std::string_view group = cut_field(groups, '\n');
    const std::string_view hierarchy = cut_field(group, ':');
    const std::string_view controllers = cut_field(group, ':');
    const bool version2 = hierarchy == "0" && controllers.empty();
    if (group.starts_with('/') && (version2 || lists(controllers, kCpuController))) {
      add_hierarchy(group, mounts, version2, root, files);
    }
  }
  return files;
}

}  // namespace memgraft::linux_os
