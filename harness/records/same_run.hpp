// Decides whether records of several processes may be combined into one run.
#pragma once

#include <optional>
#include <string>

#include "harness/records/record.hpp"

namespace assay::harness {

/// The first difference that prevents combining the runs: in the inputs, options, devices, tools or expectations.
/// "device cuda is 'NVIDIA H200' in one run and 'NVIDIA A100' in the other". Empty if their records may be combined.
/// Time, command line, plan and shard may differ.
std::optional<std::string> difference(const RunStart& one, const RunStart& other);

}  // namespace assay::harness
