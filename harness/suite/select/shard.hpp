// A part of a selection, for one of several machines.
#pragma once

#include <string>

#include "harness/records/record.hpp"
#include "harness/suite/select/select.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// "2/4". Fails on anything but a number from 1 up to that after the slash.
Result<Shard> parse_shard(const std::string& text);

/// Keeps every shard.of-th kernel, from the one at shard.index: each kernel is in one shard, whatever the machine.
void keep_shard(Selection& selection, const Shard& shard);

}  // namespace assay::harness
