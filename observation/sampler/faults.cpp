// The handler, and the program's own action for SIGSEGV, which is called for what is not ours. The program
// sees its own action and its own mask: sigaction and its kin are interposed.
#include <sched.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "retry.h"
#include "sampler.h"

namespace memgraft::observation {
namespace {

constexpr std::uint64_t kOwnHandlerNanoseconds = 10'000'000'000;

#ifdef __x86_64__
constexpr bool kKnowsStore = true;
bool is_store(const ucontext_t& context) {
  // Bit 1 of a page fault's error code (Intel SDM, volume 3, 4.7).
  return (static_cast<std::uint64_t>(context.uc_mcontext.gregs[REG_ERR]) & 2U) != 0;
}
#else
constexpr bool kKnowsStore = false;
bool is_store(const ucontext_t& /*context*/) { return false; }
#endif

// And when it was guarded.
Released let_pass(std::uintptr_t page, std::uint64_t& guarded_at) {
  g_state.lock.lock();
  const Released released{.ours = g_state.guarded.has(page), .guardings = g_state.guardings};
  if (released.ours) {
    guarded_at = g_state.guarded_at[g_state.guarded.number_of(page) % kRoundsKnown];
    release({.begin = page, .end = page + 1});
    g_state.touched += page == g_state.trial ? 0U : 1U;
  }
  g_state.lock.unlock();
  return released;
}

void record(std::uintptr_t address, bool store, std::uint64_t guarded_at) {
  Shared* const shared = g_state.shared.load(std::memory_order_relaxed);
  if (shared == nullptr || getpid() != g_state.process) {
    return;
  }
  const int cpu = sched_getcpu();
  const std::uint64_t now = now_nanoseconds();
  shared->touches.put({.address = address,
                       .nanoseconds = now,
                       .who = touched_by({.thread = static_cast<std::uint32_t>(gettid()),
                                          .cpu = cpu < 0 ? 0 : static_cast<std::uint32_t>(cpu),
                                          .knows_store = kKnowsStore,
                                          .store = store,
                                          .watched_nanoseconds = now - std::min(now, guarded_at)})});
}

bool may_retry(std::uintptr_t address, bool store) {
  std::uint64_t guarded_at = 0;
  const Retry answer = retry([&, page = page_of(address)] { return let_pass(page, guarded_at); },
                             [=] { return retry_would_do(address, store); });
  if (answer == Retry::ours) {
    record(address, store, guarded_at);
  }
  return answer != Retry::no;
}

// As without us: the same access faults again, and the kernel ends the process where it did.
void default_action(const siginfo_t& info) {
  if (Shared* const shared = g_state.shared.load(std::memory_order_relaxed); active() && shared != nullptr) {
    shared->fault_code.store(info.si_code, std::memory_order_relaxed);
    shared->fault_address.store(address_of(info.si_addr), std::memory_order_relaxed);
  }
  stop(Standing::fault);  // should it not fault again, the program goes on
  struct sigaction plain{};
  plain.sa_handler = SIG_DFL;
  g_state.sigaction(SIGSEGV, &plain, nullptr);
  if (info.si_code <= 0) {
    static_cast<void>(raise(SIGSEGV));  // was sent: comes when this handler returns
  }
}

// The program's own handler, with the mask that the kernel would have called it with.
void programs_action(int signal, siginfo_t* info, void* context) {
  g_state.lock.lock();
  const struct sigaction action = g_state.program;
  const bool by_cpu = info->si_code > 0;
  const bool is_default =
      action.sa_handler == SIG_DFL || (by_cpu && (action.sa_handler == SIG_IGN || t_segv_blocked));
  if (!is_default && (static_cast<unsigned>(action.sa_flags) & SA_RESETHAND) != 0) {
    g_state.program.sa_handler = SIG_DFL;
  }
  if (!is_default) {
    g_state.program_handlers.fetch_add(1, std::memory_order_relaxed);
    g_state.program_handlers_until.store(now_nanoseconds() + kOwnHandlerNanoseconds,
                                         std::memory_order_relaxed);
    release_all();  // SIGSEGV may be blocked now in earnest
  }
  g_state.lock.unlock();
  if (is_default) {
    default_action(*info);
    return;
  }
  if (action.sa_handler != SIG_IGN) {
    sigset_t mask = static_cast<ucontext_t*>(context)->uc_sigmask;
    sigorset(&mask, &mask, &action.sa_mask);
    if ((static_cast<unsigned>(action.sa_flags) & SA_NODEFER) == 0) {
      sigaddset(&mask, signal);
    }
    g_state.change_mask(SIG_SETMASK, &mask, nullptr);
    if ((static_cast<unsigned>(action.sa_flags) & SA_SIGINFO) != 0) {
      action.sa_sigaction(signal, info, context);
    } else {
      action.sa_handler(signal);
    }
  }
  g_state.program_handlers.fetch_sub(1, std::memory_order_relaxed);
}

void handle(int signal, siginfo_t* info, void* context) {
  const int kept = errno;
  const std::uintptr_t address = address_of(info->si_addr);
  const bool store = is_store(*static_cast<const ucontext_t*>(context));
  const std::uintptr_t page = page_of(address);
  if (page == g_state.trial && info->si_code == SEGV_ACCERR) {
    std::uint64_t guarded_at = 0;
    (void)let_pass(page, guarded_at);  // or another thread has released it meanwhile
  } else if (info->si_code != SEGV_ACCERR || !may_retry(address, store)) {
    errno = kept;
    programs_action(signal, info, context);
    return;
  }
  errno = kept;
}

void install(const struct sigaction& program) {
  struct sigaction ours{};
  ours.sa_sigaction = handle;
  // All blocked: whatever interrupted the handler could touch a page and find SIGSEGV blocked.
  sigfillset(&ours.sa_mask);
  ours.sa_flags =
      static_cast<int>(SA_SIGINFO | (static_cast<unsigned>(program.sa_flags) & (SA_ONSTACK | SA_RESTART)));
  g_state.sigaction(SIGSEGV, &ours, nullptr);
}

}  // namespace

bool handler_is_ours() {
  struct sigaction now{};
  return g_state.sigaction(SIGSEGV, nullptr, &now) == 0 && now.sa_sigaction == handle;
}

void install_handler() {
  g_state.sigaction(SIGSEGV, nullptr, &g_state.program);
  install(g_state.program);
  g_state.virtual_signals = true;
}

namespace {

bool virtual_signals() { return g_state.virtual_signals.load(std::memory_order_relaxed); }

// A mask in which SIGSEGV is not: with it blocked, the kernel ends the process at a guarded page.
sigset_t without_segv(const sigset_t& mask) {
  sigset_t most = mask;
  if (virtual_signals()) {
    sigdelset(&most, SIGSEGV);
  }
  return most;
}

template <typename Real>
int change_mask(Real real, int how, const sigset_t* set, sigset_t* before) {
  if (!virtual_signals()) {
    return real(how, set, before);
  }
  const bool was_blocked = t_segv_blocked;
  sigset_t old;
  int result = 0;
  if (set == nullptr) {
    result = real(how, nullptr, &old);
  } else {
    const bool names_it = sigismember(set, SIGSEGV) == 1;
    const sigset_t most = without_segv(*set);
    result = real(how, &most, &old);
    if (result == 0 && (how == SIG_SETMASK || names_it)) {
      t_segv_blocked = names_it && how != SIG_UNBLOCK;
    }
  }
  if (result == 0 && before != nullptr) {
    *before = old;
    if (was_blocked) {
      sigaddset(before, SIGSEGV);
    }
  }
  return result;
}

int change_action(int signal, const struct sigaction* action, struct sigaction* before) {
  static const auto real = next(&::sigaction, "sigaction");
  if (!virtual_signals()) {
    return real(signal, action, before);
  }
  if (signal != SIGSEGV) {
    if (action == nullptr) {
      return real(signal, nullptr, before);
    }
    struct sigaction most = *action;
    most.sa_mask = without_segv(most.sa_mask);
    return real(signal, &most, before);
  }
  // The program's memory is accessed only outside of the lock.
  struct sigaction wanted{};
  if (action != nullptr) {
    wanted = *action;
  }
  struct sigaction old{};
  {
    const Locked locked;
    old = g_state.program;
    if (action != nullptr) {
      g_state.program = wanted;
      install(wanted);
    }
  }
  if (before != nullptr) {
    *before = old;
  }
  return 0;
}

sighandler_t change_handler(int signal, sighandler_t handler, unsigned flags) {
  struct sigaction action{};
  struct sigaction before{};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(flags);
  sigemptyset(&action.sa_mask);
  if ((flags & SA_NODEFER) == 0) {
    sigaddset(&action.sa_mask, signal);
  }
  return change_action(signal, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

}  // namespace
}  // namespace memgraft::observation

namespace ours = memgraft::observation;

MEMGRAFT_EXPORT int sigaction(int signal, const struct sigaction* action, struct sigaction* before) {
  return ours::change_action(signal, action, before);
}
MEMGRAFT_EXPORT sighandler_t signal(int signal, sighandler_t handler) {
  return ours::change_handler(signal, handler, SA_RESTART);
}
MEMGRAFT_EXPORT sighandler_t __sysv_signal(int signal, sighandler_t handler) {
  return ours::change_handler(signal, handler, SA_RESETHAND | SA_NODEFER);
}
MEMGRAFT_EXPORT int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) {
  static const auto real = ours::next(&::pthread_sigmask, "pthread_sigmask");
  return ours::change_mask(real, how, set, before);
}
MEMGRAFT_EXPORT int sigprocmask(int how, const sigset_t* set, sigset_t* before) {
  static const auto real = ours::next(&::sigprocmask, "sigprocmask");
  return ours::change_mask(real, how, set, before);
}
MEMGRAFT_EXPORT int sigsuspend(const sigset_t* set) {
  static const auto real = ours::next(&::sigsuspend, "sigsuspend");
  const sigset_t most = ours::without_segv(*set);
  return real(&most);
}
MEMGRAFT_EXPORT int sigaltstack(const stack_t* stack, stack_t* before) {
  static const auto real = ours::next(&::sigaltstack, "sigaltstack");
  if (stack != nullptr && (static_cast<unsigned>(stack->ss_flags) & SS_DISABLE) == 0) {
    ours::never_guard(
        {.begin = ours::address_of(stack->ss_sp), .end = ours::address_of(stack->ss_sp) + stack->ss_size});
  }
  return real(stack, before);
}
