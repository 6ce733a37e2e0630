// What a target cannot express yet.
#pragma once

#include "backends/device/backend.hpp"
#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::source {

/// Fails at the first variable, expression or atomic of `function`, or of a function that it calls, that the printer
/// has no text for.
Result<void> check_supported(const ir::Module& module, const ir::Function& function, backends::SourceTarget target);

}  // namespace assay::source
