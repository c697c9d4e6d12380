// The names of the tables in which HotSpot describes its own data structures.
#pragma once

#include <array>
#include <string_view>

namespace memgraft::hotspot {

// The table, then where its columns are in each row and how long a row is: libjvm exports them for the
// serviceability agent (runtime/vmStructs.cpp), so that no layout need be assumed.
inline constexpr std::array<std::string_view, 7> kVmStructsSymbols{"gHotSpotVMStructs",
                                                                   "gHotSpotVMStructEntryTypeNameOffset",
                                                                   "gHotSpotVMStructEntryFieldNameOffset",
                                                                   "gHotSpotVMStructEntryIsStaticOffset",
                                                                   "gHotSpotVMStructEntryOffsetOffset",
                                                                   "gHotSpotVMStructEntryAddressOffset",
                                                                   "gHotSpotVMStructEntryArrayStride"};

// Two more tables of the same kind: of types and their sizes, and of constants (runtime/vmStructs.cpp).
inline constexpr std::array<std::string_view, 4> kVmTypesSymbols{
    "gHotSpotVMTypes", "gHotSpotVMTypeEntryTypeNameOffset", "gHotSpotVMTypeEntrySizeOffset",
    "gHotSpotVMTypeEntryArrayStride"};
inline constexpr std::array<std::string_view, 4> kVmConstantsSymbols{
    "gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntryNameOffset", "gHotSpotVMIntConstantEntryValueOffset",
    "gHotSpotVMIntConstantEntryArrayStride"};

}  // namespace memgraft::hotspot
