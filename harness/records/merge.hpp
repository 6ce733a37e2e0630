// One run out of the shards of one, or out of runs that judged different cases alike.
#pragma once

#include <filesystem>
#include <vector>

#include "support/result.hpp"

namespace assay::harness {

/// Writes records.jsonl into `output`: all cases of the parts, in their order, the earliest start and the latest end.
/// A part that did not finish leaves the whole without its end. Fails, and writes nothing, where the parts differ in
/// what they judged, in their devices or tools (same_run.hpp), where a shard is missing or comes twice, where two parts
/// have a case in common, and where `output` is one of them.
Result<void> merge_records(const std::vector<std::filesystem::path>& parts, const std::filesystem::path& output);

}  // namespace assay::harness
