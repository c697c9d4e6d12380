// The way in: HotSpot loads this library for -agentpath and calls Agent_OnLoad before its heap exists. Start
// here.
#include <jvmti.h>
#include <unistd.h>

#include <array>
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

#include "c1_check.h"
#include "c1_emission.h"
#include "graft_buffers.h"
#include "graft_ordering.h"
#include "graft_zeroing.h"
#include "interpreter_emission.h"
#include "joints.h"
#include "memgraft/linux/perf_counters.h"
#include "options.h"
#include "ordering_needs.h"
#include "patch.h"
#include "refusal.h"
#include "stock.h"
#include "summary.h"

namespace memgraft::hotspot {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array<const Needs*, 11> kAllNeeds{
    &kZeroingNeeds,        &kWindowNeeds,         &kAheadNeeds,          &kBufferNeeds,
    &kOrderingNeeds,       &kOrderingG1Needs,     &kOrderingNodes,       &kOrderingInstructions,
    &c1::kEmissionNeeds17, &c1::kEmissionNeeds21, &c1::kEmissionNeeds25,
};

// What lives from Agent_OnLoad to the end of the JVM.
struct Agent {
  std::string option_text;
  Options options;
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
    const std::lock_guard lock(last_word().mutex);
    const std::chrono::duration<double> wall = now - agent.started;
    if (!last_word().spoken &&
        !agent.summary->write(summarise_so_far(agent.options, agent.stock, wall.count()))) {
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
    const std::lock_guard lock(last_word().mutex);
    last_word().spoken = true;
    const std::chrono::duration<double> wall = Clock::now() - agent.started;
    (void)agent.summary->write(summarise_ended(agent.options, agent.stock, program, wall.count(),
                                               agent.counters ? &*agent.counters : nullptr));
  } catch (const std::exception& error) {
    (void)std::fprintf(stderr, "memgraft: no summary: %s\n", error.what());
  }
}

// JVM TI gives no JNIEnv with these two, because the world is stopped.
void JNICALL on_collection_start(jvmtiEnv* /*jvmti*/) {
  if (loaded_agent()->options.zeroing) {
    zeroing_collection_starts();
  }
  if (loaded_agent()->options.buffers) {
    buffers_collection_starts();
  }
}
void JNICALL on_collection_finish(jvmtiEnv* /*jvmti*/) {
  if (loaded_agent()->options.zeroing) {
    zeroing_collection_ended();
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

void watch(jvmtiEnv* jvmti, const Options& options) {
  const bool collections =
      options.live || options.buffers || (options.zeroing && zeroing_follows_collections(*options.zeroing));
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

[[noreturn]] void refuse(const Refusal& refusal, const Options& options, const Identity& identity) {
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

void graft(Agent& agent) {
  const Options& options = agent.options;
  const Stock& stock = agent.stock;
  // Before anything is changed: a slot that another graft has taken over holds something else.
  std::optional<Joints> for_buffers;
  if (options.buffers) {
    for_buffers = find_buffer_joints(stock, the_collector(kBufferNeeds, stock));
  }
  std::optional<Joints> for_c1_check;
  std::optional<Joints> for_interpreter_check;
  if (options.ordering && options.ordering->check && c1::kKnowsThisMachine) {
    const Collector collector = the_collector(kOrderingNeeds, stock);
    // First what the graft itself needs: its refusal says most.
    for_interpreter_check = find_joints(ordering_needs(collector), stock, collector);
    for_c1_check = find_joints(c1::emission_needs(stock), stock, collector);
  }
  Patch patch;
  if (options.zeroing) {
    install_zeroing(*options.zeroing, stock, the_collector(kZeroingNeeds, stock), patch);
  }
  if (options.buffers && for_buffers) {
    install_buffers(*options.buffers, stock, the_collector(kBufferNeeds, stock), *for_buffers,
                    options.zeroing.has_value(), refuse_late, patch);
  }
  if (options.ordering) {
    install_ordering(*options.ordering, stock, the_collector(kOrderingNeeds, stock), patch);
  }
  if (for_c1_check) {
    c1::install_emission(*for_c1_check, stock, patch);
  }
  if (for_interpreter_check) {
    install_interpreter_emission(*for_interpreter_check, patch);
  }
  patch.keep();
}

void load(JavaVM* vm, jvmtiEnv* jvmti, const std::string& option_text) {
  Options options;
  Identity identity;
  try {
    identity = identify(jvmti);
    options = parse_options(option_text);
    // The invocation interface's functions are libjvm's own, so their address tells which file that is.
    auto agent = std::make_unique<Agent>(
        Agent{.option_text = option_text,
              .options = options,
              .stock = Stock(identity, reinterpret_cast<const void*>(vm->functions->GetEnv), kAllNeeds),
              .counters = std::nullopt,
              .summary = std::nullopt,
              .started = Clock::now()});
    if (options.check && options.summary_folder) {
      const SummaryFile file(*options.summary_folder, "check");
      leave(file.write(check_stock(agent->stock)) ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    if (options.counters) {
      agent->counters.emplace();
    }
    watch(jvmti, options);
    graft(*agent);
    if (options.summary_folder) {
      const SummaryFile& summary = agent->summary.emplace(*options.summary_folder, "jvm");
      (void)summary.write(summarise_running(options, agent->stock));
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
