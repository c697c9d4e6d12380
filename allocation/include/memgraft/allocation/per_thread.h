// One object of a kind for each thread that asks for it; a thread that ends leaves it to another one. For
// counts: written by one thread at a time, read by any. Made for one at a time per T in a process: a thread
// that turns to another one leaves its object in the first behind, and gets a new one when it comes back.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace memgraft::allocation {

template <typename T>
class PerThread {
 public:
  PerThread() {
    static pthread_once_t made = PTHREAD_ONCE_INIT;
    (void)pthread_once(&made, [] { (void)pthread_key_create(&thread_end, let_go); });
  }
  // No thread that used it may end afterwards without having used another of the same T.
  ~PerThread() {
    for (Node* node = nodes_.load(std::memory_order_acquire); node != nullptr;) {
      Node* const next = node->next;
      delete node;
      node = next;
    }
  }
  PerThread(const PerThread&) = delete;
  PerThread& operator=(const PerThread&) = delete;
  PerThread(PerThread&&) = delete;
  PerThread& operator=(PerThread&&) = delete;

  // The calling thread's. Allocates at its first call.
  T& mine() {
    if (known.owner != id_) {
      known = {.owner = id_, .node = find_or_make()};
      (void)pthread_setspecific(thread_end, known.node);
    }
    return known.node->value;
  }

  template <typename Use>
  void each(Use use) const {
    // Acquire: the node as its maker left it.
    for (const Node* node = nodes_.load(std::memory_order_acquire); node != nullptr; node = node->next) {
      use(node->value);
    }
  }

 private:
  struct Node {
    T value;
    Node* next = nullptr;
    std::atomic<bool> free{false};
  };
  // Not the address, at which another may be made later.
  using Id = std::uint64_t;
  struct Known {
    Id owner = 0;
    Node* node = nullptr;
  };

  Node* find_or_make() {
    // Acquire, here and at the exchange: what its maker or last owner wrote.
    for (Node* node = nodes_.load(std::memory_order_acquire); node != nullptr; node = node->next) {
      bool free = true;
      if (node->free.compare_exchange_strong(free, false, std::memory_order_acquire)) {
        return node;
      }
    }
    auto* const node = new Node;
    node->next = nodes_.load(std::memory_order_relaxed);
    // Release: whoever finds it in the list finds it made.
    while (!nodes_.compare_exchange_weak(node->next, node, std::memory_order_release,
                                         std::memory_order_relaxed)) {
    }
    return node;
  }

  static void let_go(void* node) {
    known = {};
    // Release: the next one goes on from what this thread has written.
    static_cast<Node*>(node)->free.store(true, std::memory_order_release);
  }

  // initial-exec: found by one load, without the allocation that other models may do at a thread's first
  // access.
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local Known known{};
  static inline pthread_key_t thread_end{};
  static inline std::atomic<Id> last_id{0};

  Id id_ = last_id.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: need only differ
  std::atomic<Node*> nodes_{nullptr};
};

// A count with one writer at a time: no atomic addition, as nobody else writes.
class Count {
 public:
  void add(std::uint64_t more) {
    // Relaxed: a statistic that orders nothing.
    value_.store(value_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace memgraft::allocation
