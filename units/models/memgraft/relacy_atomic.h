// Relacy's atomic with the standard's names, for models of code that is a template over its words. To be
// included after all of the standard library, as Relacy has macros of the names of its memory orders and
// more.
#pragma once

#include <atomic>
#include <relacy/relacy.hpp>
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst

namespace memgraft {

inline rl::memory_order model_order(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return rl::mo_relaxed;
    case std::memory_order_acquire:
      return rl::mo_acquire;
    case std::memory_order_release:
      return rl::mo_release;
    case std::memory_order_acq_rel:
      return rl::mo_acq_rel;
    default:
      return rl::mo_seq_cst;
  }
}

template <typename Value>
class RelacyAtomic {
 public:
  explicit RelacyAtomic(Value value = {}) { word_.store(value, rl::mo_relaxed, $); }
  Value load(std::memory_order order) const { return word_.load(model_order(order), $); }
  void store(Value value, std::memory_order order) { word_.store(value, model_order(order), $); }
  Value fetch_add(Value more, std::memory_order order) {
    return word_.fetch_add(more, model_order(order), $);
  }
  bool compare_exchange_strong(Value& expected, Value value, std::memory_order success,
                               std::memory_order failure) {
    return word_.compare_exchange_strong(expected, value, model_order(success), $, model_order(failure), $);
  }

 private:
  rl::atomic<Value> word_;
};

}  // namespace memgraft
