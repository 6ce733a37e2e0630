// Checks whether a target supports a kernel.
#pragma once

#include "backends/device/backend.hpp"
#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::source {

/// Fails at the first unsupported variable, expression or atomic of `function` or of a function that it calls.
Result<void> check_supported(const ir::Module& module, const ir::Function& function, backends::SourceTarget target);

}  // namespace assay::source
