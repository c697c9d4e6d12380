#include "options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace memgraft::placement {

namespace {

// CLI::Range lets NaN pass. What follows the number is for CLI11 to refuse.
CLI::Validator between(double least, double most) {
  std::ostringstream range;
  range << '[' << least << " - " << most << ']';
  return {[=, expected = range.str()](const std::string& text) {
            const double value = std::strtod(text.c_str(), nullptr);
            const bool within = value >= least && value <= most;
            return within ? std::string() : "'" + text + "': expected a number in " + expected;
          },
          "FLOAT in " + range.str()};
}

void declare(CLI::App& app, Options& options) {
  app.add_option("--pid", options.pid, "attach to this process")->check(CLI::PositiveNumber);
  app.add_option("--monitor", options.monitor,
                 "how touches are seen: auto, hint-faults, pmu, faults-in-process or replay:FILE")
      ->check([](const std::string& name) {
        static constexpr std::array<std::string_view, 4> kKnown{"auto", "hint-faults", "pmu",
                                                                "faults-in-process"};
        const bool known = std::ranges::find(kKnown, name) != kKnown.end() ||
                           (name.starts_with("replay:") && name.size() > std::string_view("replay:").size());
        return known ? std::string()
                     : "'" + name + "': expected auto, hint-faults, pmu, faults-in-process or replay:FILE";
      })
      ->capture_default_str();
  app.add_option("--interval", options.interval_seconds, "seconds between decisions")
      ->check(between(0.1, 3600.0))
      ->capture_default_str();
  app.add_option("--drain", options.drain_milliseconds, "milliseconds between looks at the monitor")
      ->check(CLI::Range(10, 10000))
      ->capture_default_str();
  app.add_option("--duration", options.duration_seconds, "with --pid: detach after so many seconds")
      ->check(between(0.001, 1e9));
  app.add_flag("--dry-run", options.dry_run, "only say who touches what, and what would be moved");
  app.add_option("--record", options.record, "write what happens to this file, one JSON object a line");
  app.add_flag("--map", options.map, "put where each page lies into the record");
  app.add_option("--summary", options.summary, "write the summary to this file, as JSON");
  app.add_option("--freeze-after", options.freeze_after, "moves after which a page is frozen")
      ->check(CLI::Range(1, 200))
      ->capture_default_str();
  app.add_option("--freeze-for", options.freeze_for, "intervals for which it is")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--least-share", options.least_share,
                 "of a page's distance-weighted accesses, what a move must save at least")
      ->check(between(0.0, 1.0))
      ->capture_default_str();
  app.add_flag("--ignore-move-cost", options.ignore_move_cost,
               "move pages even if the rest of the run would not pay for it");
  app.add_flag("--ignore-neighbours", options.ignore_neighbours,
               "judge each page by its own touches only, not by those of the pages around it");
  app.add_option("--pages-per-second", options.pages_per_second, "pages of 4 KiB that are moved at most")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40U))
      ->capture_default_str();
  app.add_option("--sampling-rate", options.sampling.pages_per_second,
                 "pages a second that faults-in-process samples at most")
      ->check(CLI::Range(1U, 1000000U))
      ->capture_default_str();
  app.add_option("--sampling-cpu", options.sampling.cpu_share,
                 "CPUs that it takes for that at most, in all threads")
      ->check(between(0.0001, 1000.0))
      ->capture_default_str();
  app.add_option("--sampling-least", options.sampling.least_mapping_bytes,
                 "bytes in a row below which it samples nothing: the C library's small objects")
      ->check(CLI::Range(std::uint64_t{1} << 16U, std::uint64_t{1} << 40U))
      ->capture_default_str();
  app.add_option("--observing-cpu", options.observing_cpu,
                 "CPUs that it takes at most to read touches and where pages lie; what is beyond is lost")
      ->check(between(0.0001, 1000.0))
      ->capture_default_str();
  app.add_flag("--bind-threads", options.bind_threads, "bind threads to CPUs, round robin over the nodes");
  app.add_flag("--numa-balancing", options.numa_balancing,
               "turn kernel.numa_balancing on for the run, which hint faults need");
  app.add_option("--root", options.root, "")->group("");  // tests: where /sys and /proc are looked for
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string_view what_is_wrong(const Options& options, bool command_given) {
  if (options.pid == 0 && options.command.empty()) {
    return command_given ? "nothing after `--`: expected COMMAND" : "expected --pid N, or -- COMMAND";
  }
  if (options.pid != 0 && !options.command.empty()) {
    return "--pid and a command: expected one of them";
  }
  if (options.duration_seconds > 0 && options.pid == 0) {
    return "--duration: only with --pid";
  }
  if (options.pid != 0 && options.monitor == "faults-in-process") {
    return "--monitor faults-in-process: only with -- COMMAND, which it is loaded into";
  }
  return "";
}

}  // namespace

Parsed parse_options(int count, const char* const* arguments) {
  Options options;
  std::vector<std::string> own(arguments + 1, arguments + count);
  const auto separator = std::ranges::find(own, "--");
  const bool command_given = separator != own.end();
  if (command_given) {
    options.command.assign(separator + 1, own.end());
    own.erase(separator, own.end());
  }
  CLI::App app(
      "Moves the pages of a running program to the NUMA nodes that use them:\n"
      "memgraft-place [OPTIONS] (--pid N | -- COMMAND...)");
  declare(app, options);
  std::ranges::reverse(own);  // as CLI11 takes them
  std::string wrong;
  try {
    app.parse(own);
    wrong = what_is_wrong(options, command_given);
  } catch (const CLI::CallForHelp&) {
    (void)std::fputs(app.help().c_str(), stdout);
    return {.options = std::nullopt, .exit_code = kDone};
  } catch (const CLI::ParseError& error) {
    wrong = first_line(error.what());
  }
  if (!wrong.empty()) {
    (void)std::fprintf(stderr, "%s%s (--help lists the options)\n", kSays, wrong.c_str());
    return {.options = std::nullopt, .exit_code = kWrongUsage};
  }
  return {.options = std::move(options), .exit_code = kDone};
}

}  // namespace memgraft::placement
