// A graft that joins and does nothing but count collections: the least that a graft is made of
// (CONTRIBUTING.md, "Adding a graft to HotSpot"). tests/test_adding_a_graft.py runs it.
#pragma once

#include <memory>

#include "join/graft.h"

namespace memgraft::hotspot {

std::unique_ptr<Graft> make_idle_graft(const Grafts& before);

}  // namespace memgraft::hotspot
