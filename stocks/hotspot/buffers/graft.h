// The buffers graft, as the agent knows it.
#pragma once

#include <memory>

#include "join/graft.h"

namespace memgraft::hotspot {

// Under the zeroing graft, if that is among those before.
std::unique_ptr<Graft> make_buffers_graft(const Grafts& before);

}  // namespace memgraft::hotspot
