// Near misses: mutants of a row's kernel that the judge rejects, with the evidence.
#pragma once

#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

#include "backends/device/backend.hpp"
#include "harness/dataset/row.hpp"
#include "harness/suite/run/run.hpp"
#include "support/result.hpp"

namespace assay::dataset {

/// Up to `count` near misses of a row's kernel, as members of a preference pair: language, pass, chosen, rejected, the
/// mutation, and the reason and the launch of the rejection. Fails if the row's Python cannot be parsed.
Result<std::vector<nlohmann::ordered_json>> near_misses_of(const DatasetRow& row, std::size_t count, std::uint64_t seed,
                                                           backends::Device& device, const harness::Printer& printer);

}  // namespace assay::dataset
