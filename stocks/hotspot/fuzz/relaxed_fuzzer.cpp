// Any file of --relaxed is either read or refused as wrong usage, with its line; and any method can be looked
// for in it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "join/refusal.h"
#include "ordering/relaxed.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace memgraft::hotspot;
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::istringstream lines(text);
  try {
    const Relaxed relaxed(lines, "fuzzed");
    std::istringstream again(text);
    for (std::string line; std::getline(again, line);) {
      // A line as it stands, without blanks or comments, is contained by itself.
      const bool plain = !line.empty() && line.find_first_of(" \t\v\f\r#") == std::string::npos;
      if (plain && !relaxed.contains(line)) {
        std::abort();
      }
    }
  } catch (const Refusal& refusal) {
    const std::string message = refusal.what();
    if (refusal.exit_code() != kExitWrongUsage || message.find("line ") == std::string::npos) {
      std::abort();
    }
  }
  return 0;
}
