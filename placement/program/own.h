// What this program itself uses, and the machine's own migrations.
#pragma once

#include <cstdint>
#include <string>

namespace memgraft::placement {

double own_cpu_seconds();
// The most memory that it had at once: not getrusage(2)'s, which begins with that of the program that started
// it.
std::uint64_t own_largest_bytes();
// numa_pages_migrated of /proc/vmstat: 0 where there is none.
std::uint64_t kernel_migrations(const std::string& root);
// The name of a process's program (comm), empty where it has ended.
std::string program_name(int process, const std::string& root);

}  // namespace memgraft::placement
