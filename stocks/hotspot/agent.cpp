// The way in: HotSpot loads this library for -agentpath and calls Agent_OnLoad before its heap exists. Start
// here.
#include <jvmti.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent_options.h"
#include "grafts.h"
#include "join/patch.h"
#include "join/refusal.h"
#include "join/stock.h"
#include "memgraft/linux/perf_counters.h"
#include "summary.h"

namespace memgraft::hotspot {

namespace {

using Clock = std::chrono::steady_clock;

// What lives from Agent_OnLoad to the end of the JVM.
struct Agent {
  std::string option_text;
  AgentOptions options;
  Grafts all;
  std::vector<Graft*> asked;  // of these, in the same order
  Stock stock;
  // Opened before the JVM has other threads, so that it counts for all of them.
  std::optional<linux_os::PerfCounters> counters;
  std::optional<SummaryFile> summary;
  Clock::time_point started;
};

std::unique_ptr<Agent>& loaded_agent() {
  static std::unique_ptr<Agent> agent;
  return agent;
}

std::string system_property(jvmtiEnv* jvmti, const char* name) {
  char* value = nullptr;
  if (jvmti->GetSystemProperty(name, &value) != JVMTI_ERROR_NONE || value == nullptr) {
    return "";
  }
  std::string copy(value);
  // JVM TI strings are given back to the JVM (JVM TI specification, "Deallocate"), as bytes.
  (void)jvmti->Deallocate(reinterpret_cast<unsigned char*>(value));
  return copy;
}

Identity identify(jvmtiEnv* jvmti) {
  Identity identity{.version = system_property(jvmti, "java.vm.version"),
                    .vendor = system_property(jvmti, "java.vm.vendor"),
                    .name = system_property(jvmti, "java.vm.name")};
  // "17", but "1.8" for JDK 8.
  std::string feature = system_property(jvmti, "java.vm.specification.version");
  if (feature.starts_with("1.")) {
    feature.erase(0, 2);
  }
  (void)std::from_chars(feature.data(), feature.data() + feature.size(), identity.feature);
  return identity;
}

constexpr std::chrono::seconds kBetweenLiveSummaries{1};

// A collection may still end while the JVM does, and the last word must be that it has ended.
struct LastWord {
  std::mutex mutex;
  bool spoken = false;
};

LastWord& last_word() {
  static LastWord word;
  return word;
}

// Within a pause, and so seldom. Called by one thread at a time: collections do not overlap.
void write_so_far() {
  static Clock::time_point next;
  const Agent& agent = *loaded_agent();
  const Clock::time_point now = Clock::now();
  if (!agent.summary || now < next) {
    return;
  }
  next = now + kBetweenLiveSummaries;
  try {
    const std::scoped_lock lock(last_word().mutex);
    const std::chrono::duration<double> wall = now - agent.started;
    if (!last_word().spoken &&
        !agent.summary->write(summarise_so_far(agent.asked, agent.stock, wall.count()))) {
      next = Clock::time_point::max();  // said once is enough
    }
  } catch (const std::exception& error) {
    next = Clock::time_point::max();
    (void)std::fprintf(stderr, "memgraft: no summary while it runs: %s\n", error.what());
  }
}

void JNICALL on_vm_death(jvmtiEnv* jvmti, JNIEnv* /*jni*/) {
  const Agent& agent = *loaded_agent();
  if (!agent.summary) {
    return;
  }
  try {
    const std::string program = system_property(jvmti, "sun.java.command");
    const std::scoped_lock lock(last_word().mutex);
    last_word().spoken = true;
    const std::chrono::duration<double> wall = Clock::now() - agent.started;
    (void)agent.summary->write(summarise_ended(agent.asked, agent.stock, program, wall.count(),
                                               agent.counters ? &*agent.counters : nullptr));
  } catch (const std::exception& error) {
    (void)std::fprintf(stderr, "memgraft: no summary: %s\n", error.what());
  }
}

// JVM TI gives no JNIEnv with these two, because the world is stopped.
void JNICALL on_collection_start(jvmtiEnv* /*jvmti*/) {
  for (Graft* const graft : loaded_agent()->asked) {
    graft->collection_starts();
  }
}
void JNICALL on_collection_finish(jvmtiEnv* /*jvmti*/) {
  for (Graft* const graft : loaded_agent()->asked) {
    graft->collection_ended();
  }
  if (loaded_agent()->options.live) {
    write_so_far();
  }
}

void require(jvmtiError error, const char* what) {
  if (error != JVMTI_ERROR_NONE) {
    throw Refusal("no graft can join this JVM",
                  {.looked_for = std::string("the JVM TI event ") + what,
                   .found = "a JVM that does not send it (JVM TI error " + std::to_string(error) + ")",
                   .advice = "use a HotSpot JVM"},
                  kExitCannotTakeGraft);
  }
}

void watch(jvmtiEnv* jvmti, const Agent& agent) {
  const bool collections =
      agent.options.live || std::ranges::any_of(agent.asked, &Graft::follows_collections);
  jvmtiEventCallbacks callbacks{};
  callbacks.VMDeath = on_vm_death;
  if (collections) {
    jvmtiCapabilities capabilities{};
    capabilities.can_generate_garbage_collection_events = 1;
    require(jvmti->AddCapabilities(&capabilities), "GarbageCollectionStart");
    callbacks.GarbageCollectionStart = on_collection_start;
    callbacks.GarbageCollectionFinish = on_collection_finish;
  }
  require(jvmti->SetEventCallbacks(&callbacks, sizeof callbacks), "VMDeath");
  const auto enable = [jvmti](jvmtiEvent event, const char* name) {
    require(jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr), name);
  };
  enable(JVMTI_EVENT_VM_DEATH, "VMDeath");
  if (collections) {
    enable(JVMTI_EVENT_GARBAGE_COLLECTION_START, "GarbageCollectionStart");
    enable(JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, "GarbageCollectionFinish");
  }
}

// Ends the process before anything of the program ran. Not by returning an error to the JVM, which would bury
// the one line that matters under its own and always exit with 1.
[[noreturn]] void leave(int exit_code) {
  (void)std::fflush(nullptr);
  _exit(exit_code);
}

[[noreturn]] void refuse(const Refusal& refusal, const AgentOptions& options, const Identity& identity) {
  // The command line reads the refusal from its folder and prints it once, however many JVMs refuse.
  if (!options.summary_folder ||
      !SummaryFile(*options.summary_folder, "jvm").write(summarise_refusal(refusal, identity))) {
    (void)std::fprintf(stderr, "memgraft: %s\n", refusal.what());
  }
  leave(refusal.exit_code());
}

[[noreturn]] void refuse_late(const Refusal& refusal) {
  const Agent& agent = *loaded_agent();
  refuse(refusal, agent.options, agent.stock.identity());
}

void join(const Agent& agent) {
  // Before anything is changed: a slot that another graft has taken over holds something else.
  for (Graft* const graft : agent.asked) {
    graft->prepare(agent.stock);
  }
  Patch patch;
  for (Graft* const graft : agent.asked) {
    graft->install(agent.stock, refuse_late, patch);
  }
  patch.keep();
}

// All that any graft may look for in libjvm.
std::vector<const Needs*> all_needs(const Grafts& grafts) {
  std::vector<const Needs*> needs;
  for (const auto& graft : grafts) {
    needs.insert(needs.end(), graft->needs().begin(), graft->needs().end());
  }
  return needs;
}

AgentOptions read_options(const std::string& text, const Grafts& grafts) {
  std::vector<GraftOptions*> of_grafts;
  for (const auto& graft : grafts) {
    of_grafts.push_back(&graft->options());
  }
  return parse_options(text, of_grafts);
}

std::vector<Graft*> asked_of(const Grafts& grafts) {
  std::vector<Graft*> asked;
  for (const auto& graft : grafts) {
    if (graft->options().asked()) {
      asked.push_back(graft.get());
    }
  }
  return asked;
}

void load(JavaVM* vm, jvmtiEnv* jvmti, const std::string& option_text) {
  AgentOptions options;
  Identity identity;
  try {
    identity = identify(jvmti);
    Grafts grafts = all_grafts();
    options = read_options(option_text, grafts);
    // The invocation interface's functions are libjvm's own, so their address tells which file that is.
    Stock stock(identity, reinterpret_cast<const void*>(vm->functions->GetEnv), all_needs(grafts));
    std::vector<Graft*> asked = asked_of(grafts);
    auto agent = std::make_unique<Agent>(Agent{.option_text = option_text,
                                               .options = options,
                                               .all = std::move(grafts),
                                               .asked = std::move(asked),
                                               .stock = std::move(stock),
                                               .counters = std::nullopt,
                                               .summary = std::nullopt,
                                               .started = Clock::now()});
    if (options.check && options.summary_folder) {
      const SummaryFile file(*options.summary_folder, "check");
      leave(file.write(check_stock(agent->all, agent->stock)) ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    if (options.counters) {
      agent->counters.emplace();
    }
    watch(jvmti, *agent);
    join(*agent);
    if (options.summary_folder) {
      const SummaryFile& summary = agent->summary.emplace(*options.summary_folder, "jvm");
      (void)summary.write(summarise_running(agent->asked, agent->stock));
    }
    loaded_agent() = std::move(agent);
  } catch (const Refusal& refusal) {
    refuse(refusal, options, identity);
  } catch (const std::exception& error) {
    refuse(Refusal("no graft can join this process",
                   {.looked_for = "a way to join it", .found = error.what(), .advice = "report this"},
                   kExitCannotTakeGraft),
           options, identity);
  }
}

}  // namespace

}  // namespace memgraft::hotspot

// The name and the signature are JVM TI's ("Agent Start-Up"). No Agent_OnAttach: a joint must be in place
// before the first TLAB, so the agent cannot be attached to a running JVM.
// NOLINTNEXTLINE(readability-non-const-parameter): the type is JVM TI's.
extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void* /*reserved*/) {
  using namespace memgraft::hotspot;
  const std::string option_text = options == nullptr ? "" : options;
  if (const auto& agent = loaded_agent()) {
    // Both JAVA_TOOL_OPTIONS and JDK_JAVA_OPTIONS may name the agent; once is enough, but not two different
    // ways.
    if (agent->option_text == option_text) {
      return JNI_OK;
    }
    (void)std::fprintf(stderr, "memgraft: the agent is loaded twice, with '%s' and with '%s'; name it once\n",
                       agent->option_text.c_str(), option_text.c_str());
    leave(kExitWrongUsage);
  }
  void* jvmti = nullptr;
  if (vm->GetEnv(&jvmti, JVMTI_VERSION_1_2) != JNI_OK) {
    (void)std::fprintf(stderr, "memgraft: this JVM has no JVM TI; use a HotSpot JVM\n");
    leave(kExitCannotTakeGraft);
  }
  load(vm, static_cast<jvmtiEnv*>(jvmti), option_text);
  return JNI_OK;
}
