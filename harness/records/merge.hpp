// Merges the shards of one run, or runs that judged different cases with the same options, into one run.
#pragma once

#include <filesystem>
#include <vector>

#include "support/result.hpp"

namespace assay::harness {

/// Writes records.jsonl into `output`: all cases of the parts in order, the earliest start and the latest end. If a
/// part did not finish, the result has no end. Fails without writing if the parts differ in inputs, devices or tools
/// (same_run.hpp), if a shard is missing or repeated, if two parts contain the same case, or if `output` is a part.
Result<void> merge_records(const std::vector<std::filesystem::path>& parts, const std::filesystem::path& output);

}  // namespace assay::harness
