// Any text after the '=' of -agentpath is either understood or refused as wrong usage, in one line.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "agent_options.h"
#include "buffers/options.h"
#include "join/refusal.h"
#include "ordering/options.h"
#include "zeroing/options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace memgraft::hotspot;
  // The fuzzer's bytes are the option's characters; the JVM ends them with a zero byte.
  const std::string text(reinterpret_cast<const char*>(data), size);
  ZeroingWords zeroing;
  BufferWords buffers(&zeroing);
  OrderingWords ordering;
  const std::array<GraftOptions*, 3> of_grafts{&zeroing, &buffers, &ordering};
  try {
    const AgentOptions options = parse_options(text.c_str(), of_grafts);
    if (std::ranges::none_of(of_grafts, &GraftOptions::asked) && !options.check) {
      std::abort();
    }
  } catch (const Refusal& refusal) {
    if (refusal.exit_code() != kExitWrongUsage || refusal.reason().advice.empty()) {
      std::abort();
    }
  }
  return 0;
}
