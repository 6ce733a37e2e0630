// An array element that only one thread accesses, always by the same indices, can be kept in a variable of that thread.
// A loop may then change and read it: the reverse sweep can restore variables, but not memory.
#pragma once

#include <optional>

#include "ir/module.hpp"

namespace assay::transforms {

/// The kernel with a variable for each array of which it reads and changes only one thread-private element, in a loop:
/// all accesses use the same indices, which include all thread indices and are otherwise constants. The variable is
/// loaded before the first statement if the element is inside the array, and every change is stored. Empty if there is
/// no such array.
std::optional<ir::Function> promote_private_elements(const ir::Module& module, const ir::Function& kernel);

}  // namespace assay::transforms
