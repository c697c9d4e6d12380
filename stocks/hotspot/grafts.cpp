#include "grafts.h"

#include <array>
#include <memory>

#include "buffers/graft.h"
#include "ordering/graft.h"
#include "zeroing/graft.h"

namespace memgraft::hotspot {

namespace {

// Makes a graft; it may look at those before it.
using Make = std::unique_ptr<Graft> (*)(const Grafts& before);

// One row for each graft. One that comes between another graft and HotSpot stands behind that other.
constexpr std::array kTable = std::to_array<Make>({
    make_zeroing_graft,
    make_buffers_graft,
    make_ordering_graft,
});

}  // namespace

Grafts all_grafts() {
  Grafts grafts;
  for (const Make make : kTable) {
    grafts.push_back(make(grafts));
  }
  return grafts;
}

}  // namespace memgraft::hotspot
