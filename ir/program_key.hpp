// A cheap number for a program, for choices that must not depend on names.
#pragma once

#include <cstdint>

#include "ir/module.hpp"

namespace assay::ir {

/// A number that depends on the statements, operations and literals of a function, but not on any name. Equal programs
/// have equal numbers, on every platform; different programs rarely do. Use hash() to identify a program.
std::uint64_t program_key(const Function& function);

}  // namespace assay::ir
