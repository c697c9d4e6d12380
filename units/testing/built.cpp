#include "memgraft/built.h"

namespace memgraft {

std::string built(const std::string& path) { return std::string(MEMGRAFT_BUILD_FOLDER) + "/" + path; }

}  // namespace memgraft
