#include "ordering/c2.h"

#include <array>
#include <atomic>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ordering/annotations.h"
#include "ordering/c2_check.h"
#include "ordering/c2_exits.h"
#include "ordering/c2_fences.h"
#include "ordering/c2_private.h"
#include "ordering/machine.h"
#include "ordering/method_names.h"
#include "ordering/needs.h"
#include "ordering/parts.h"
#include "ordering/relaxed.h"
#include "ordering/unsafe_methods.h"

namespace memgraft::hotspot::c2 {

namespace {

struct Originals {
  void* (*begin)(const void*, void*) = nullptr;
  void* (*store_at)(const void*, Access*, void*) = nullptr;
  void* (*load_at)(const void*, Access*, const void*) = nullptr;
  void* (*compare_value_at)(const void*, Access*, void*, void*, const void*) = nullptr;
  void* (*compare_bool_at)(const void*, Access*, void*, void*, const void*) = nullptr;
  void* (*exchange_at)(const void*, Access*, void*, const void*) = nullptr;
  void* (*add_at)(const void*, Access*, void*, const void*) = nullptr;
  void (*after_parsing)(const void*, NodeList*, void*) = nullptr;
  bool (*expand_barriers)(const void*, void*, void*) = nullptr;
  void (*fence)(const void*, void*, void*) = nullptr;
  void (*call_leaf)(const void*, void*, void*) = nullptr;
  void (*call_leaf_no_fp)(const void*, void*, void*) = nullptr;
  void (*compile)(void*, void*, void*, int, bool, void*) = nullptr;
  void (*epilog)(const void*, void*, void*) = nullptr;
};

struct Counters {
  Counter methods{0};
  Counter loads{0};
  Counter stores{0};
  Counter relaxed{0};
  Counter annotated{0};
  Counter final_loads{0};
  Counter private_stores{0};
  Counter private_loads{0};
  Counter private_later{0};
  std::array<Counter, kBehind> fences_by{};  // in the order of Behind
  Counter ends{0};
  Counter atomics{0};
  Counter fences{0};
  Counter checked_methods{0};
  Counter checked_accesses{0};
  Counter excused_accesses{0};
  Counter unsafe_accesses{0};
};

struct State {
  OrderingOptions options;
  Originals original;
  Counters counts;
  Relaxed relaxed;
  Graph graph;
  AliasTypes alias_types;
  Layout layout{};
  MethodNames names;
  RelaxedAnnotation annotation;
  UnsafeMethods unsafe_methods;
  std::uintptr_t* largest_vector_copy = nullptr;  // in bytes
  // What the first word of an access of the parser holds.
  std::uintptr_t parse_access = 0;
  std::uintptr_t atomic_access = 0;
};

State the_state;

State& graft() { return the_state; }

// Accesses made while optimising (copies of small arrays, say) carry no barriers; whoever makes them has
// some.
bool is_parsed(const Access& access) {
  return access.vtable == graft().parse_access || access.vtable == graft().atomic_access;
}

// `Thread.currentThread()` is two loads: where the carrier keeps its current thread, and that thread. C2
// takes both to be the same throughout a method. If only the second were ordered, the first could move above
// a call in which a virtual thread changes its carrier, and the second would find what the former carrier
// runs then.
bool is_immutable(const Access& access) {
  return (access.decorators & graft().layout.immutable_memory()) != 0;
}

// The outermost method of the compilation, of which the others are inlined.
const void* outermost_method(const JvmState* state) {
  while (state->caller != nullptr) {
    state = state->caller;
  }
  return state->method;
}

// No other thread can have got hold of the object yet, so that none can see in which order it is written.
bool is_private(const Access& access) {
  const State& mine = graft();
  const auto* const base = field_at<const Node*>(&access, mine.layout.access_base);
  const auto* const kit = field_at<const GraphKit*>(&access, mine.layout.access_kit);
  if (!mine.options.savings.private_objects || base == nullptr || kit == nullptr) {
    return false;
  }
  const SafePoint* const map = kit->map;
  if (map == nullptr || mine.graph.kind(&map->node) != Kind::poll || map->state == nullptr) {
    return false;
  }
  Privacy privacy(mine.graph, false);
  return privacy.is_private(map->node.in[kControl], base,
                            [&] { return mine.names.is_constructor(outermost_method(map->state)); });
}

// Who asked for the plain Java memory model.
enum class RelaxedBy : std::uint8_t { nobody, file, annotation };

// What is known of the compilation that this thread is in.
struct Compilation {
  bool parsed = false;              // its graph was seen as it was parsed
  bool fence_at_end = false;        // before each return to the caller
  Node* root = nullptr;             // of its graph, from then on
  const void* outermost = nullptr;  // the method it is of
  const void* last_method = nullptr;
  RelaxedBy last_relaxed_by = RelaxedBy::nobody;
  std::unordered_set<const void*> fenced_calls;
  std::unordered_set<const void*> excused_nodes;  // by the parser; only where they are checked
};
thread_local Compilation compilation;

RelaxedBy relaxed_by(const void* method) {
  const State& mine = graft();
  if (!mine.relaxed.empty() && mine.relaxed.contains(mine.names.text(method))) {
    return RelaxedBy::file;
  }
  return mine.annotation.is_on(MethodNames::metadata(method)) ? RelaxedBy::annotation : RelaxedBy::nobody;
}

bool is_relaxed(const Access& access) {
  const State& mine = graft();
  const auto* const kit = field_at<const GraphKit*>(&access, mine.layout.access_kit);
  if (kit == nullptr || kit->map == nullptr || kit->map->state == nullptr) {
    return false;
  }
  const void* const method = kit->map->state->method;
  if (method != compilation.last_method) {
    compilation.last_method = method;
    compilation.last_relaxed_by = relaxed_by(method);
  }
  return compilation.last_relaxed_by != RelaxedBy::nobody;
}

void count_relaxed() {
  count(graft().counts.relaxed);
  if (compilation.last_relaxed_by == RelaxedBy::annotation) {
    count(graft().counts.annotated);
  }
}

// A final field is written before anybody else has the object, and never again.
bool is_final(const Access& access) {
  const State& mine = graft();
  const auto* const kit = field_at<const GraphKit*>(&access, mine.layout.access_kit);
  const auto* const address = field_at<const std::byte*>(&access, mine.layout.access_address);
  if (!mine.options.savings.final_loads || kit == nullptr || address == nullptr) {
    return false;
  }
  const auto* const type = field_at<const void*>(address, kTypeOfValue);
  return memory_of(mine.alias_types, kit->compile, type).final;
}

void remember_excused(void* node) {
  if (graft().options.check && node != nullptr) {
    compilation.excused_nodes.insert(node);
    const auto* const decoded = static_cast<const Node*>(node);
    if (graft().graph.kind(decoded) == Kind::decode) {
      compilation.excused_nodes.insert(decoded->in[1]);
    }
  }
}

void* store_at(const void* self, Access* access, void* value) {
  State& mine = graft();
  if (!is_parsed(*access)) {
    return mine.original.store_at(self, access, value);
  }
  count(mine.counts.stores);
  const bool relaxed = is_relaxed(*access);
  if (relaxed || is_private(*access)) {
    if (relaxed) {
      count_relaxed();
    } else {
      count(mine.counts.private_stores);
    }
    void* const store = mine.original.store_at(self, access, value);
    remember_excused(store);
    return store;
  }
  if (machine::must_stay_plain(*access, mine.layout)) {
    const auto* const kit = field_at<const GraphKit*>(access, mine.layout.access_kit);
    machine::insert_c2_fence(kit, nullptr);
    void* const store = mine.original.store_at(self, access, value);
    machine::insert_c2_fence(kit, store);
    return store;
  }
  make_sequentially_consistent(access->decorators);
  return mine.original.store_at(self, access, value);
}

void* load_at(const void* self, Access* access, const void* type) {
  State& mine = graft();
  if (!is_parsed(*access) || is_immutable(*access)) {
    return mine.original.load_at(self, access, type);
  }
  count(mine.counts.loads);
  const auto* const kit = field_at<const GraphKit*>(access, mine.layout.access_kit);
  bool as_it_is = true;
  bool plain = false;
  if (is_relaxed(*access)) {
    count_relaxed();
  } else if (is_final(*access)) {
    count(mine.counts.final_loads);
  } else if (is_private(*access)) {
    count(mine.counts.private_loads);
  } else {
    as_it_is = false;
    plain = machine::must_stay_plain(*access, mine.layout);
    if (plain) {
      machine::insert_c2_fence(kit, nullptr);
    } else {
      make_sequentially_consistent(access->decorators);
    }
    // A load has no barrier before it, and an array copy in front of it none behind it: without this the load
    // might be moved above the copy, which C2 knows to write to other memory.
    access->decorators |= mine.layout.control_dependent_load();
  }
  void* const load = mine.original.load_at(self, access, type);
  if (plain) {
    machine::insert_c2_fence(kit, load);
  }
  // G1 up to JDK 23, where it may be a Reference's referent: the barrier is there, and not linked to the
  // load.
  const bool not_linked = field_at<void*>(access, mine.layout.access_raw) == nullptr;
  if (as_it_is || not_linked) {
    remember_excused(load);
  }
  return load;
}

// C2 compiles a method again where it was too daring: another graph, of the same method.
void* begin(const void* self, void* arena) {
  const void* const outermost = compilation.outermost;
  compilation = {};
  compilation.outermost = outermost;
  return graft().original.begin(self, arena);
}

void compile(void* self, void* environment, void* method, int bci, bool install, void* directive) {
  compilation = {};
  compilation.outermost = method;
  count(graft().counts.methods);
  // Copies up to this size would become masked vector loads and stores without a fence, where the CPU has
  // them (opto/macroArrayCopy.cpp). HotSpot sets it after it has loaded the agent.
  std::atomic_ref(*graft().largest_vector_copy).store(0, std::memory_order_relaxed);
  graft().original.compile(self, environment, method, bci, install, directive);
  compilation = {};
}

void check_graph(const NodeList& useful, std::uint32_t size, void* compile) {
  State& mine = graft();
  const Checked checked =
      check_order(mine.graph, mine.alias_types, compile, useful.nodes, size, [&](const Node* access) {
        if (compilation.excused_nodes.contains(access)) {
          return true;
        }
        // Intrinsics make such loads themselves.
        const auto* const type = mine.alias_types.address_type(access);
        return mine.graph.kind(access) == Kind::load && memory_of(mine.alias_types, compile, type).final;
      });
  count(mine.counts.checked_methods);
  mine.counts.checked_accesses.fetch_add(checked.accesses, std::memory_order_relaxed);
  mine.counts.excused_accesses.fetch_add(checked.excused, std::memory_order_relaxed);
  if (checked.unsafe > 0) {
    mine.counts.unsafe_accesses.fetch_add(checked.unsafe, std::memory_order_relaxed);
    mine.unsafe_methods.add(mine.names.text(compilation.outermost));
  }
}

void after_parsing(const void* self, NodeList* useful, void* compile) {
  graft().original.after_parsing(self, useful, compile);
  // Only then is every use where the program has it: optimising moves them.
  if (std::exchange(compilation.parsed, true)) {
    return;
  }
  State& mine = graft();
  const auto size = field_at<std::uint32_t>(useful, mine.layout.list_size);
  if (mine.options.check) {
    check_graph(*useful, size, compile);
  }
  if (mine.graph.cpu_order_vtable() == 0) {
    return;
  }
  if (mine.options.savings.private_objects && machine::stores_have_own_fences()) {
    mine.counts.private_later.fetch_add(drop_private_fences(mine.graph, std::span(useful->nodes, size)),
                                        std::memory_order_relaxed);
  }
  if (size > 0 && mine.graph.kind(useful->nodes[0]) == Kind::root) {
    compilation.root = useful->nodes[0];
  }
}

// The last that the collectors' barriers do before code is chosen: from here on no fence goes away because of
// what its object turns out to be, on which another one may have relied.
bool expand_barriers(const void* self, void* compile, void* gvn) {
  State& mine = graft();
  const bool failed = mine.original.expand_barriers(self, compile, gvn);
  if (failed || compilation.root == nullptr || !mine.options.savings.last_fences) {
    return failed;
  }
  const Joined joined = join_fences(mine.graph, compilation.root);
  for (std::size_t i = 0; i < joined.fences.size(); ++i) {
    mine.counts.fences_by.at(i).fetch_add(joined.fences.at(i), std::memory_order_relaxed);
  }
  compilation.fence_at_end = joined.at_end;
  mine.counts.ends.fetch_add(joined.at_end ? 1 : 0, std::memory_order_relaxed);
  return failed;
}

// C2 puts one before everything that leaves a method, but for traps.
void epilog(const void* node, void* assembler, void* registers) {
  if (compilation.fence_at_end) {
    graft().original.fence(node, assembler, registers);
  }
  graft().original.epilog(node, assembler, registers);
}

// To measure what remains without them.
void no_fence(const void* /*node*/, void* /*assembler*/, void* /*registers*/) {}

void order_atomic(Access& access) {
  make_sequentially_consistent(access.decorators);
  count(graft().counts.atomics);
}

void* compare_value_at(const void* self, Access* access, void* expected, void* value, const void* type) {
  order_atomic(*access);
  return graft().original.compare_value_at(self, access, expected, value, type);
}

void* compare_bool_at(const void* self, Access* access, void* expected, void* value, const void* type) {
  order_atomic(*access);
  return graft().original.compare_bool_at(self, access, expected, value, type);
}

void* exchange_at(const void* self, Access* access, void* value, const void* type) {
  order_atomic(*access);
  return graft().original.exchange_at(self, access, value, type);
}

void* add_at(const void* self, Access* access, void* value, const void* type) {
  order_atomic(*access);
  return graft().original.add_at(self, access, value, type);
}

void emit_fence_before(const void* node, void* assembler, void* registers) {
  if (machine::stubs_may_be_early()) {
    emit_fence(node, assembler, registers);
  }
}

// Leaf calls are those of stubs, which may write to memory of the program: array copies above all.
void call_leaf(const void* node, void* assembler, void* registers) {
  emit_fence_before(node, assembler, registers);
  graft().original.call_leaf(node, assembler, registers);
  emit_fence(node, assembler, registers);
}

void call_leaf_no_fp(const void* node, void* assembler, void* registers) {
  emit_fence_before(node, assembler, registers);
  graft().original.call_leaf_no_fp(node, assembler, registers);
  emit_fence(node, assembler, registers);
}

}  // namespace

// What a fence emits does not depend on the node, so any node's place will do.
void emit_fence(const void* node, void* assembler, void* registers) {
  graft().original.fence(node, assembler, registers);
  // C2 emits a node once to learn its size, and again for good.
  if (compilation.fenced_calls.insert(node).second) {
    count(graft().counts.fences);
  }
}

void install(const OrderingOptions& options, const Joints& joints, const Stock& stock, Patch& patch) {
  State& mine = graft();
  mine.options = options;
  Originals& original = mine.original;

  const auto function = [&joints](std::string_view name, auto& pointer) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(joints.at(name).original);
  };
  // A vtable's address is that of its first slot, behind two words (Itanium C++ ABI, 2.5.2).
  const auto vtable = [&joints](std::string_view name) {
    return reinterpret_cast<std::uintptr_t>(joints.at(name).cell + 2);
  };
  mine.parse_access = vtable(ordering::kParseAccessVtable);
  mine.atomic_access = vtable(ordering::kAtomicAccessVtable);
  function(ordering::kC2Fence, original.fence);

  mine.largest_vector_copy = joints.at(ordering::kLargestVectorCopy).cell;
  mine.graph = Graph(stock);
  mine.layout = Layout::of(stock.identity().feature);
  function(ordering::kAddressType, mine.alias_types.address_type);
  function(ordering::kFindAliasType, mine.alias_types.find);
  if (options.relaxed) {
    mine.relaxed = Relaxed(*options.relaxed);
  }
  MethodNames::Describe describe = nullptr;
  function(kMethodText, describe);
  mine.names = MethodNames(describe);
  RelaxedAnnotation::MethodAnnotations method_annotations = nullptr;
  function(kMethodAnnotations, method_annotations);
  mine.annotation = RelaxedAnnotation(joints.annotations(), method_annotations);

  const auto take = [&](std::string_view name, auto& pointer, auto replacement) {
    take_over(patch, joints.at(name), pointer, replacement);
  };
  take(ordering::kC2Begin, original.begin, &begin);
  take(ordering::kC2StoreAt, original.store_at, &store_at);
  take(ordering::kC2LoadAt, original.load_at, &load_at);
  take(ordering::kC2CompareValueAt, original.compare_value_at, &compare_value_at);
  take(ordering::kC2CompareBoolAt, original.compare_bool_at, &compare_bool_at);
  take(ordering::kC2ExchangeAt, original.exchange_at, &exchange_at);
  take(ordering::kC2AddAt, original.add_at, &add_at);
  take(ordering::kC2AfterParsing, original.after_parsing, &after_parsing);
  take(ordering::kC2CallLeaf, original.call_leaf, &call_leaf);
  take(ordering::kC2CallLeafNoFp, original.call_leaf_no_fp, &call_leaf_no_fp);
  take(ordering::kC2Compile, original.compile, &compile);
  if (options.savings.last_fences) {
    take(ordering::kC2ExpandBarriers, original.expand_barriers, &expand_barriers);
    fence_exits(stock, patch);
    take(ordering::kC2Epilog, original.epilog, &epilog);
  }
  if (options.savings.all_fences) {
    take(ordering::kC2Fence, original.fence, &no_fence);
    original.fence = &no_fence;
  }
}

const Graph& graph() { return graft().graph; }

void add_counts(OrderingCounts& counts) {
  const Counters& mine = graft().counts;
  counts.c2_methods = value(mine.methods);
  counts.c2_loads = value(mine.loads);
  counts.c2_stores = value(mine.stores);
  counts.c2_relaxed = value(mine.relaxed);
  counts.c2_annotated = value(mine.annotated);
  counts.c2_final_loads = value(mine.final_loads);
  counts.c2_private_stores = value(mine.private_stores);
  counts.c2_private_loads = value(mine.private_loads);
  counts.c2_private_later = value(mine.private_later);
  const auto fences_before = [&mine](Behind behind) {
    return value(mine.fences_by.at(static_cast<std::size_t>(behind)));
  };
  counts.c2_joined_fences = fences_before(Behind::nothing);
  counts.c2_fences_before = {.loads = fences_before(Behind::load),
                             .unknown = fences_before(Behind::unknown),
                             .calls = fences_before(Behind::call),
                             .ends = fences_before(Behind::end)};
  counts.c2_ends = value(mine.ends);
  counts.c2_atomics = value(mine.atomics);
  counts.c2_fences = value(mine.fences);
  counts.checked_methods = value(mine.checked_methods);
  counts.checked_accesses = value(mine.checked_accesses);
  counts.excused_accesses = value(mine.excused_accesses);
  counts.unsafe_accesses = value(mine.unsafe_accesses);
  counts.unsafe_methods = graft().unsafe_methods.some();
}

}  // namespace memgraft::hotspot::c2
