// For a graft that comes between the zeroing graft and HotSpot, and hands out memory in HotSpot's place. Only
// once the zeroing graft is installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace memgraft::hotspot {

// The pointer through which the zeroing graft calls what it replaced; null where it did not replace that.
std::uintptr_t* zeroing_calls(std::string_view method);
// Free memory that is about to be written to, as by a filler object: nobody zeroes it from now on.
void zeroing_leaves_alone(std::byte* start, std::size_t bytes);
// Memory of which TLABs will be handed out is made zero now, in the way that is in force.
void zeroing_clears(std::byte* start, std::size_t bytes);
// The TLAB that is being handed out to the calling thread was cleared in this way.
void zeroing_was_done();

}  // namespace memgraft::hotspot
