// The ordering graft at work: every access to a field or an array element is sequentially consistent, in all
// three executors of HotSpot (Liu, Millstein and Musuvathi, "A Volatile-by-Default JVM for Server
// Applications", OOPSLA 2017).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "join/joints.h"
#include "join/patch.h"
#include "ordering/options.h"

namespace memgraft::hotspot {

// Puts the replacements into `patch`; the caller keeps or undoes them. The joints are those of
// `ordering_needs`. Throws a Refusal.
void install_ordering(const OrderingOptions& asked, const Joints& joints, const Stock& stock, Patch& patch);

// Fences that no other one behind stores makes unnecessary, by what can come next; of several, the first one
// here is told.
struct FencesBefore {
  std::uint64_t loads = 0;
  std::uint64_t unknown = 0;
  std::uint64_t calls = 0;
  std::uint64_t ends = 0;  // of methods
};

// What was done, of the accesses that compilers and the interpreter's generator were asked for.
struct OrderingCounts {
  std::uint64_t c2_methods = 0;  // compilations, not methods
  std::uint64_t c2_loads = 0;
  std::uint64_t c2_stores = 0;
  std::uint64_t c2_relaxed = 0;      // of these, left to the Java memory model because somebody asked for it
  std::uint64_t c2_annotated = 0;    // of these, because of an annotation
  std::uint64_t c2_final_loads = 0;  // of these, of final fields, which do not change
  std::uint64_t c2_private_stores = 0;  // of these, needed none: nobody else can have the object yet
  std::uint64_t c2_private_loads = 0;
  std::uint64_t c2_private_later = 0;  // fences behind stores that turned out so when all was parsed
  std::uint64_t c2_joined_fences = 0;  // that another one behind them makes unnecessary
  FencesBefore c2_fences_before;
  std::uint64_t c2_ends = 0;  // methods with one fence at their end in place of those before it
  std::uint64_t c2_atomics = 0;
  std::uint64_t c2_fences = 0;  // put behind calls of stubs that may write
  std::uint64_t c1_methods = 0;
  std::uint64_t c1_loads = 0;
  std::uint64_t c1_stores = 0;
  std::uint64_t c1_fences = 0;
  std::uint64_t interpreter_loads = 0;  // places in the interpreter's templates
  std::uint64_t interpreter_stores = 0;
  // Only where they are checked: what C2's graphs show, whatever the graft believes to have done.
  std::uint64_t checked_methods = 0;
  std::uint64_t checked_accesses = 0;
  std::uint64_t excused_accesses = 0;
  std::uint64_t unsafe_accesses = 0;
  std::vector<std::string> unsafe_methods;  // the first of them
};
OrderingCounts ordering_counts();

}  // namespace memgraft::hotspot
