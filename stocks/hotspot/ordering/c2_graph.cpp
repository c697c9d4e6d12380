#include "ordering/c2_graph.h"

#include <array>

namespace memgraft::hotspot::c2 {

namespace {

struct NodeClass {
  std::string_view vtable;
  Kind kind;
};

// Those that no version has all of: CallLeafPure and CallLeafVector are new, CallNative is gone.
constexpr std::array kClasses = std::to_array<NodeClass>({
    {.vtable = "_ZTV8AddPNode", .kind = Kind::add_p},
    {.vtable = "_ZTV15CheckCastPPNode", .kind = Kind::cast},
    {.vtable = "_ZTV10CastPPNode", .kind = Kind::cast},
    {.vtable = "_ZTV11CastP2XNode", .kind = Kind::to_integer},
    {.vtable = "_ZTV8CmpPNode", .kind = Kind::compare},
    {.vtable = "_ZTV8CmpNNode", .kind = Kind::compare},
    {.vtable = "_ZTV16SubTypeCheckNode", .kind = Kind::compare},
    {.vtable = "_ZTV11EncodePNode", .kind = Kind::encode},
    {.vtable = "_ZTV11DecodeNNode", .kind = Kind::decode},
    {.vtable = "_ZTV7PhiNode", .kind = Kind::phi},
    {.vtable = "_ZTV8ProjNode", .kind = Kind::projection},
    {.vtable = "_ZTV8ParmNode", .kind = Kind::parameter},
    {.vtable = "_ZTV12AllocateNode", .kind = Kind::allocation},
    {.vtable = "_ZTV17AllocateArrayNode", .kind = Kind::allocation},
    {.vtable = "_ZTV14InitializeNode", .kind = Kind::initialize},
    {.vtable = "_ZTV10RegionNode", .kind = Kind::region},
    {.vtable = "_ZTV8LoopNode", .kind = Kind::region},
    {.vtable = "_ZTV15CountedLoopNode", .kind = Kind::region},
    {.vtable = "_ZTV19LongCountedLoopNode", .kind = Kind::region},
    {.vtable = "_ZTV23OuterStripMinedLoopNode", .kind = Kind::region},
    {.vtable = "_ZTV6IfNode", .kind = Kind::branch},
    {.vtable = "_ZTV14RangeCheckNode", .kind = Kind::branch},
    {.vtable = "_ZTV18CountedLoopEndNode", .kind = Kind::branch},
    {.vtable = "_ZTV22LongCountedLoopEndNode", .kind = Kind::branch},
    {.vtable = "_ZTV26OuterStripMinedLoopEndNode", .kind = Kind::branch},
    {.vtable = "_ZTV10IfTrueNode", .kind = Kind::way},
    {.vtable = "_ZTV11IfFalseNode", .kind = Kind::way},
    {.vtable = "_ZTV8HaltNode", .kind = Kind::halt},
    {.vtable = "_ZTV8RootNode", .kind = Kind::root},
    {.vtable = "_ZTV9StartNode", .kind = Kind::start},
    {.vtable = "_ZTV9LoadBNode", .kind = Kind::load},
    {.vtable = "_ZTV10LoadUBNode", .kind = Kind::load},
    {.vtable = "_ZTV9LoadSNode", .kind = Kind::load},
    {.vtable = "_ZTV10LoadUSNode", .kind = Kind::load},
    {.vtable = "_ZTV9LoadINode", .kind = Kind::load},
    {.vtable = "_ZTV9LoadLNode", .kind = Kind::load},
    {.vtable = "_ZTV9LoadFNode", .kind = Kind::load},
    {.vtable = "_ZTV9LoadDNode", .kind = Kind::load},
    {.vtable = "_ZTV9LoadPNode", .kind = Kind::load},
    {.vtable = "_ZTV9LoadNNode", .kind = Kind::load},
    {.vtable = "_ZTV13LoadKlassNode", .kind = Kind::immutable_load},
    {.vtable = "_ZTV14LoadNKlassNode", .kind = Kind::immutable_load},
    {.vtable = "_ZTV13LoadRangeNode", .kind = Kind::immutable_load},
    {.vtable = "_ZTV10StoreBNode", .kind = Kind::store},
    {.vtable = "_ZTV10StoreCNode", .kind = Kind::store},
    {.vtable = "_ZTV10StoreINode", .kind = Kind::store},
    {.vtable = "_ZTV10StoreLNode", .kind = Kind::store},
    {.vtable = "_ZTV10StoreFNode", .kind = Kind::store},
    {.vtable = "_ZTV10StoreDNode", .kind = Kind::store},
    {.vtable = "_ZTV10StorePNode", .kind = Kind::store},
    {.vtable = "_ZTV10StoreNNode", .kind = Kind::store},
    {.vtable = "_ZTV19CompareAndSwapBNode", .kind = Kind::load_store},
    {.vtable = "_ZTV19CompareAndSwapSNode", .kind = Kind::load_store},
    {.vtable = "_ZTV19CompareAndSwapINode", .kind = Kind::load_store},
    {.vtable = "_ZTV19CompareAndSwapLNode", .kind = Kind::load_store},
    {.vtable = "_ZTV19CompareAndSwapPNode", .kind = Kind::load_store},
    {.vtable = "_ZTV19CompareAndSwapNNode", .kind = Kind::load_store},
    {.vtable = "_ZTV23WeakCompareAndSwapBNode", .kind = Kind::load_store},
    {.vtable = "_ZTV23WeakCompareAndSwapSNode", .kind = Kind::load_store},
    {.vtable = "_ZTV23WeakCompareAndSwapINode", .kind = Kind::load_store},
    {.vtable = "_ZTV23WeakCompareAndSwapLNode", .kind = Kind::load_store},
    {.vtable = "_ZTV23WeakCompareAndSwapPNode", .kind = Kind::load_store},
    {.vtable = "_ZTV23WeakCompareAndSwapNNode", .kind = Kind::load_store},
    {.vtable = "_ZTV23CompareAndExchangeBNode", .kind = Kind::load_store},
    {.vtable = "_ZTV23CompareAndExchangeSNode", .kind = Kind::load_store},
    {.vtable = "_ZTV23CompareAndExchangeINode", .kind = Kind::load_store},
    {.vtable = "_ZTV23CompareAndExchangeLNode", .kind = Kind::load_store},
    {.vtable = "_ZTV23CompareAndExchangePNode", .kind = Kind::load_store},
    {.vtable = "_ZTV23CompareAndExchangeNNode", .kind = Kind::load_store},
    {.vtable = "_ZTV14GetAndSetBNode", .kind = Kind::load_store},
    {.vtable = "_ZTV14GetAndSetSNode", .kind = Kind::load_store},
    {.vtable = "_ZTV14GetAndSetINode", .kind = Kind::load_store},
    {.vtable = "_ZTV14GetAndSetLNode", .kind = Kind::load_store},
    {.vtable = "_ZTV14GetAndSetPNode", .kind = Kind::load_store},
    {.vtable = "_ZTV14GetAndSetNNode", .kind = Kind::load_store},
    {.vtable = "_ZTV14GetAndAddBNode", .kind = Kind::load_store},
    {.vtable = "_ZTV14GetAndAddSNode", .kind = Kind::load_store},
    {.vtable = "_ZTV14GetAndAddINode", .kind = Kind::load_store},
    {.vtable = "_ZTV14GetAndAddLNode", .kind = Kind::load_store},
    {.vtable = "_ZTV13SafePointNode", .kind = Kind::poll},
    {.vtable = "_ZTV18CallStaticJavaNode", .kind = Kind::call},
    {.vtable = "_ZTV19CallDynamicJavaNode", .kind = Kind::call},
    {.vtable = "_ZTV15CallRuntimeNode", .kind = Kind::call},
    {.vtable = "_ZTV12CallLeafNode", .kind = Kind::call},
    {.vtable = "_ZTV16CallLeafNoFPNode", .kind = Kind::call},
    {.vtable = "_ZTV16CallLeafPureNode", .kind = Kind::call},
    {.vtable = "_ZTV18CallLeafVectorNode", .kind = Kind::call},
    {.vtable = "_ZTV14CallNativeNode", .kind = Kind::call},
    {.vtable = "_ZTV13ArrayCopyNode", .kind = Kind::call},
    {.vtable = "_ZTV8LockNode", .kind = Kind::call},
    {.vtable = "_ZTV10UnlockNode", .kind = Kind::call},
    {.vtable = "_ZTV7ConNode", .kind = Kind::nothing},
    {.vtable = "_ZTV10ReturnNode", .kind = Kind::exit},
    {.vtable = "_ZTV11RethrowNode", .kind = Kind::exit},
    {.vtable = "_ZTV18MemBarVolatileNode", .kind = Kind::fence},
    {.vtable = "_ZTV17MemBarAcquireNode", .kind = Kind::acquire},
    {.vtable = "_ZTV17MemBarReleaseNode", .kind = Kind::barrier},
    {.vtable = "_ZTV18MemBarCPUOrderNode", .kind = Kind::barrier},
    {.vtable = "_ZTV20MemBarStoreStoreNode", .kind = Kind::barrier},
    {.vtable = "_ZTV21MemBarAcquireLockNode", .kind = Kind::acquire},
    {.vtable = "_ZTV21MemBarReleaseLockNode", .kind = Kind::barrier},
    {.vtable = "_ZTV13LoadFenceNode", .kind = Kind::acquire},
    {.vtable = "_ZTV14StoreFenceNode", .kind = Kind::barrier},
    {.vtable = "_ZTV19StoreStoreFenceNode", .kind = Kind::barrier},
    {.vtable = "_ZTV19MemBarStoreLoadNode", .kind = Kind::barrier},
    {.vtable = "_ZTV14MemBarFullNode", .kind = Kind::barrier},
});

constexpr auto kSymbols = [] {
  std::array<std::string_view, kClasses.size()> symbols;
  for (std::size_t i = 0; i < kClasses.size(); ++i) {
    symbols.at(i) = kClasses.at(i).vtable;
  }
  return symbols;
}();

constexpr std::string_view kCpuOrder = "_ZTV18MemBarCPUOrderNode";
// Behind the offset to the top and the type information (Itanium C++ ABI, 2.5.2).
constexpr std::size_t kFirstSlot = 2 * sizeof(std::uintptr_t);

}  // namespace

Graph::Graph(const Stock& stock) {
  for (const NodeClass& node_class : kClasses) {
    if (const auto vtable = stock.symbol(node_class.vtable)) {
      kinds_[vtable->address + kFirstSlot] = node_class.kind;
      if (node_class.vtable == kCpuOrder) {
        cpu_order_ = vtable->address + kFirstSlot;
      }
    }
  }
}

Layout Layout::of(int feature) {
  // Since then the access's type is a byte behind its object, and an empty member stands before a list's
  // size.
  constexpr int kFirstOfNew = 25;
  // Of the versions that are joined, JDK 21 alone has IN_NMETHOD among the decorators before them.
  constexpr int kWithOneMore = 21;
  Layout layout{.access_base = 24,
                .access_address = 32,
                .access_raw = 40,
                .access_kit = 56,
                .list_size = 24,
                .first_decorator = feature == kWithOneMore ? 31U : 30U};
  if (feature >= kFirstOfNew) {
    layout.access_base = 16;
    layout.access_address = 24;
    layout.access_raw = 32;
    layout.access_kit = 48;
    layout.list_size = 28;
  }
  return layout;
}

std::span<const std::string_view> node_vtables() { return kSymbols; }

}  // namespace memgraft::hotspot::c2
