#include <cstdio>
#include <exception>

#include "options.h"
#include "run.h"

int main(int count, char** arguments) {
  using namespace memgraft::placement;
  try {
    const Parsed parsed = parse_options(count, arguments);
    return parsed.options ? place(*parsed.options) : parsed.exit_code;
  } catch (const std::exception& failed) {  // no memory left, for instance
    (void)std::fprintf(stderr, "%s%s\n", kSays, failed.what());
    return kCannot;
  }
}
