#include "agent_options.h"

#include <algorithm>
#include <string>

#include "options/declared.h"

namespace memgraft::hotspot {

namespace {

// False where the option is none of the agent's own.
bool take(AgentOptions& options, const Option& option) {
  if (option.is(declared::kSummary)) {
    options.summary_folder = existing_folder(option, declared::kSummary);
  } else if (option.is(declared::kCounters)) {
    options.counters = true;
  } else if (option.is(declared::kLive)) {
    options.live = true;
  } else if (option.is(declared::kCheck)) {
    options.check = true;
  } else {
    return false;
  }
  return true;
}

std::string all_options(std::span<GraftOptions* const> of_grafts) {
  std::string all;
  const auto add = [&all](const Declaration& one) {
    all += (all.empty() ? "" : ", ") + std::string(one.usage);
  };
  for (const GraftOptions* const graft : of_grafts) {
    std::ranges::for_each(graft->declared(), add);
  }
  std::ranges::for_each(declared::kAgentOptions, add);
  return all;
}

std::string all_that_ask(std::span<GraftOptions* const> of_grafts) {
  std::string all;
  for (const GraftOptions* const graft : of_grafts) {
    const Declaration& asking = graft->declared().front();
    // What levels must be takes a sentence.
    all += (all.empty() ? "" : "; ") + std::string(asking.kinds.empty() ? asking.expected : asking.usage);
  }
  return "a graft (" + all + ") or " + std::string(declared::kCheck.usage);
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
