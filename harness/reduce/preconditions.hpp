// The comments above a kernel that say where it is defined, as text (harness/judge/inputs/preconditions.hpp reads
// them).
#pragma once

#include <string>
#include <string_view>

#include "ir/module.hpp"

namespace assay::reduce {

/// Removes what is said about a parameter, and whatever else names it.
void drop_preconditions_about(ir::Function& kernel, std::string_view parameter);
/// Removes what is said about the launch.
void drop_launch_annotation(ir::Function& kernel);

}  // namespace assay::reduce
