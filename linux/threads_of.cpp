#include "memgraft/linux/threads_of.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "small_file.h"

namespace memgraft::linux_os {

std::vector<pid_t> threads_of(pid_t process, const std::string& root) {
  std::vector<pid_t> threads;
  std::error_code ended;
  const std::string folder = root + "/proc/" + std::to_string(process) + "/task";
  for (std::filesystem::directory_iterator entry(folder, ended), end; !ended && entry != end;
       entry.increment(ended)) {
    if (const auto number = to_number(entry->path().filename().string())) {
      threads.push_back(static_cast<pid_t>(*number));
    }
  }
  std::ranges::sort(threads);
  return threads;
}

}  // namespace memgraft::linux_os
