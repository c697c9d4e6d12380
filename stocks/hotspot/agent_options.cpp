#include "agent_options.h"

#include <algorithm>
#include <string>

namespace memgraft::hotspot {

namespace {

// False where the option is none of the agent's own.
bool take(AgentOptions& options, const Option& option) {
  if (option.key == "summary") {
    options.summary_folder = existing_folder(option);
  } else if (option.is("counters")) {
    options.counters = true;
  } else if (option.is("live")) {
    options.live = true;
  } else if (option.is("check")) {
    options.check = true;
  } else {
    return false;
  }
  return true;
}

std::string all_options(std::span<GraftOptions* const> of_grafts) {
  std::string all;
  for (const GraftOptions* const graft : of_grafts) {
    all += std::string(graft->all()) + ", ";
  }
  return all + "summary=FOLDER, live, counters or check";
}

std::string all_that_ask(std::span<GraftOptions* const> of_grafts) {
  std::string all;
  for (const GraftOptions* const graft : of_grafts) {
    all += (all.empty() ? "" : "; ") + graft->asking();
  }
  return "a graft (" + all + ") or check";
}

}  // namespace

AgentOptions parse_options(std::string_view text, std::span<GraftOptions* const> of_grafts) {
  AgentOptions options;
  for (std::size_t start = 0; start <= text.size();) {
    const Option option = read_option(text.substr(start, text.find(',', start) - start));
    start += option.text.size() + 1;
    const bool known = take(options, option) || std::ranges::any_of(of_grafts, [&](GraftOptions* graft) {
                         return graft->take(option);
                       });
    if (!known) {
      refuse_option(option.text, all_options(of_grafts));
    }
  }
  for (GraftOptions* const graft : of_grafts) {
    graft->complete(text);
  }
  if (!options.check && std::ranges::none_of(of_grafts, &GraftOptions::asked)) {
    refuse_option(text, all_that_ask(of_grafts));
  }
  if (options.check && !options.summary_folder) {
    refuse_option("check", "check together with summary=FOLDER, where the check is written");
  }
  if (options.live && !options.summary_folder) {
    refuse_option("live", "live together with summary=FOLDER, where the summary is written again and again");
  }
  return options;
}

}  // namespace memgraft::hotspot
