// Where the control groups of this process keep their CPU quotas (cgroups(7)).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace memgraft::linux_os {

// The files of one group. Version 2 writes both numbers into one file, cpu.max: `period` is empty then.
struct QuotaFiles {
  std::string quota;
  std::string period;

  friend bool operator==(const QuotaFiles&, const QuotaFiles&) = default;
};

// The quota files of every group from the process's own up to the highest that it can see, in each hierarchy
// that may have them: version 2's, and version 1's with the controller `cpu` (hybrid machines mount both).
//
// `groups` is the content of /proc/self/cgroup, `mounts` that of /proc/self/mountinfo; what they name is
// looked for below `root` (empty: the real one). Lines that make no sense are passed over; whether the files
// exist is left to their reader, because groups get controllers at run time.
//
// In a container with its own view of the groups (cgroup_namespaces(7)) the groups above it cannot be seen.
// What starts containers puts the quota on the highest group that they do see.
std::vector<QuotaFiles> quota_files(std::string_view groups, std::string_view mounts,
                                    const std::string& root);

}  // namespace memgraft::linux_os
