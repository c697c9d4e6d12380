// Where a test finds other things of its build.
#pragma once

#include <string>

namespace memgraft {

// The file or folder at `path` in the build folder, absolute. Only built.cpp is compiled with that folder's
// name: what others say is the same in every clone, so that the compiler's cache knows it.
[[nodiscard]] std::string built(const std::string& path);

}  // namespace memgraft
