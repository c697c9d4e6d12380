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
#include <optional>
#include <string>
#include <utility>

#include "graft_buffers.h"
#include "graft_zeroing.h"
#include "joints.h"
#include "memgraft/linux/perf_counters.h"
#include "options.h"
#include "patch.h"
#include "refusal.h"
#include "stock.h"
#include "summary.h"

namespace memgraft::hotspot {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array<const Needs*, 4> kAllNeeds{&kZeroingNeeds, &kWindowNeeds, &kAheadNeeds, &kBufferNeeds};

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

void JNICALL on_vm_death(jvmtiEnv* jvmti, JNIEnv* /*jni*/) {
  const Agent& agent = *loaded_agent();
  if (!agent.summary) {
    return;
  }
  try {
    const std::chrono::duration<double> wall = Clock::now() - agent.started;
    (void)agent.summary->write(summarise_ended(agent.options, agent.stock,
                                               system_property(jvmti, "sun.java.command"), wall.count(),
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
      options.buffers || (options.zeroing && zeroing_follows_collections(*options.zeroing));
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
  Patch patch;
  if (options.zeroing) {
    install_zeroing(*options.zeroing, stock, the_collector(kZeroingNeeds, stock), patch);
  }
  if (options.buffers && for_buffers) {
    install_buffers(*options.buffers, stock, the_collector(kBufferNeeds, stock), *for_buffers,
                    options.zeroing.has_value(), refuse_late, patch);
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
