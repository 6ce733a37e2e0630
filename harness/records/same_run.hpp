// Whether records belong together: the guard of everything that puts records of several processes into one run.
#pragma once

#include <optional>
#include <string>

#include "harness/records/record.hpp"

namespace assay::harness {

/// The first thing in which the runs differ that would make one of them out of two: what is judged and how, the device
/// information, the tools, the expectations. "device cuda is 'NVIDIA H200' in one and 'NVIDIA A100' in the other".
/// Nothing where their records may stand in one file. Time, command line, plan and shard may differ.
std::optional<std::string> difference(const RunStart& one, const RunStart& other);

}  // namespace assay::harness
