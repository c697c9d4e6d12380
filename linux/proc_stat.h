// What /proc/stat says of CPUs.
#pragma once

#include <optional>
#include <string_view>

#include "affinity.h"

namespace memgraft::linux_os {

// For how long the CPUs of `wanted` have been idle since the system started, all together, from the text of
// /proc/stat. nullopt where it does not have each of them.
std::optional<double> idle_seconds(std::string_view text, const Affinity& wanted) noexcept;

}  // namespace memgraft::linux_os
