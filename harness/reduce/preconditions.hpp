// Edits the preconditions in comments above a kernel, as text (parsed by harness/judge/inputs/preconditions.hpp).
#pragma once

#include <string>
#include <string_view>

#include "ir/module.hpp"

namespace assay::reduce {

/// Removes all preconditions that name a parameter.
void drop_preconditions_about(ir::Function& kernel, std::string_view parameter);
/// Removes the launch annotation.
void drop_launch_annotation(ir::Function& kernel);

}  // namespace assay::reduce
