// What a run judges: the selected kernels by mode and passes.
#pragma once

#include <string>
#include <vector>

#include "harness/records/record_writer.hpp"
#include "harness/suite/options.hpp"
#include "harness/suite/run/run.hpp"
#include "harness/suite/select/select.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// What is to be judged.
struct Choice {
  Selection selection;
  Shard shard;
  std::string inputs;  ///< for RunStart, of the whole selection
};

/// By the selectors, or what failed before (SuiteOptions::failed_in). Fails with the selector that names nothing.
Result<Choice> choose(const SuiteOptions& options, const std::vector<Mode>& modes);

/// The choice by mode and passes; most runs have one group for each mode, and one of the CPU's for the sample that is
/// judged as the optimiser leaves it.
std::vector<Group> groups_of(const Choice& choice, const std::vector<Mode>& modes, const SuiteOptions& options);

}  // namespace assay::harness
