// A run from its options to its exit status.
#pragma once

#include "cli/judge_options.hpp"

namespace assay::cli {

/// Selects, plans, judges, records and reports; the process's exit status.
int judge_kernels(const JudgeOptions& options);

}  // namespace assay::cli
