// One run of memgraft-place, from its options to its exit code.
#pragma once

#include "options.h"

namespace memgraft::placement {

int place(const Options& options);

}  // namespace memgraft::placement
