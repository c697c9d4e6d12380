// The ordering graft, as the agent knows it.
#pragma once

#include <memory>

#include "join/graft.h"

namespace memgraft::hotspot {

std::unique_ptr<Graft> make_ordering_graft(const Grafts& before);

}  // namespace memgraft::hotspot
