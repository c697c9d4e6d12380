// An ordering graft that does nothing, in the place of the agent's own: everything keeps the Java memory
// model.
#include "ordering/install.h"

namespace memgraft::hotspot {

void install_ordering(const OrderingOptions& /*options*/, const Joints& /*joints*/, const Stock& /*stock*/,
                      Patch& /*patch*/) {}

OrderingCounts ordering_counts() { return {}; }

}  // namespace memgraft::hotspot
