// Decides whether records of several processes belong to one run, and merges them: the shards of one run, or runs that
// judged different cases with the same options.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/records/record.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// Writes records.jsonl into `output`: all cases of the parts in order, the earliest start and the latest end. If a
/// part did not finish, the result has no end. Fails without writing if the parts differ in inputs, devices or tools
/// (see difference), if a shard is missing or repeated, if two parts contain the same case, or if `output` is a part.
Result<void> merge_records(const std::vector<std::filesystem::path>& parts, const std::filesystem::path& output);

/// The first difference that prevents combining the runs, in the inputs, options, devices, tools or expectations:
/// "device cuda is 'NVIDIA H200' in one run and 'NVIDIA A100' in the other". Empty if their records may be combined.
/// Time, command line, plan and shard may differ.
std::optional<std::string> difference(const RunStart& one, const RunStart& other);

}  // namespace assay::harness
