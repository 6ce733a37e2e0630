// Splits a selection among several machines.
#pragma once

#include <string>

#include "harness/records/record.hpp"
#include "harness/suite/select/select.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// Parses "2/4". Fails unless the first number is between 1 and the second.
Result<Shard> parse_shard(const std::string& text);

/// Keeps every shard.shard_count-th kernel, starting at shard.index. Each kernel is in exactly one shard, on every
/// machine.
void keep_shard(Selection& selection, const Shard& shard);

}  // namespace assay::harness
