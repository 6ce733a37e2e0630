// What a run judges: the selected kernels by mode and passes.
#pragma once

#include <string>
#include <vector>

#include "cli/judge_options.hpp"
#include "harness/records/record_writer.hpp"
#include "harness/suite/run/run.hpp"
#include "harness/suite/select/select.hpp"
#include "support/result.hpp"

namespace assay::cli {

/// What is to be judged.
struct Choice {
  harness::Selection selection;
  harness::Shard shard;
  std::string inputs;  ///< for RunStart, of the whole selection
};

using harness::Group;

/// By the selectors, or what failed before (JudgeOptions::failed_in). Fails with the selector that names nothing.
Result<Choice> choose(const JudgeOptions& options, const std::vector<harness::Mode>& modes);

/// The choice by mode and passes; most runs have one group for each mode, and one of the CPU's for the sample that is
/// judged as the optimiser leaves it.
std::vector<Group> groups_of(const Choice& choice, const std::vector<harness::Mode>& modes,
                             const JudgeOptions& options);

}  // namespace assay::cli
