// The dataset card: README.md with the header that the Hugging Face hub reads.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "harness/dataset/plan.hpp"
#include "harness/dataset/stats.hpp"

namespace assay::dataset {

/// Uncompressed size of the lines of each split in bytes.
using SplitBytes = std::map<std::string_view, std::uint64_t>;

/// What the verification of `rows` rows leaves out: one sentence for each device on which not all of them passed, and
/// one if few inputs were drawn. Empty for rows that were not verified at all.
std::vector<std::string> unverified_parts(const DatasetPlan& plan, std::uint64_t rows, const PassedRows& passed);

/// The text of the card. The devices and numeric modes that it calls verified are those of the evidence in the rows,
/// not those that the plan asks for. `stats_json` is the content of stats.json without timings; `sample` is the line of
/// an example row, or empty.
std::string render_dataset_card(const DatasetPlan& plan, const DatasetStatistics& stats,
                                const nlohmann::ordered_json& stats_json, const SplitBytes& bytes,
                                const std::string& sample);

}  // namespace assay::dataset
