// Any text after the '=' of -agentpath is either understood or refused as wrong usage, in one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "options.h"
#include "refusal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace memgraft::hotspot;
  // The fuzzer's bytes are the option's characters; the JVM ends them with a zero byte.
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const Options options = parse_options(text.c_str());
    if (!options.zeroing && !options.buffers && !options.ordering && !options.check) {
      std::abort();
    }
  } catch (const Refusal& refusal) {
    if (refusal.exit_code() != kExitWrongUsage || refusal.reason().advice.empty()) {
      std::abort();
    }
  }
  return 0;
}
