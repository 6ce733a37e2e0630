// What the page's script knows: every case in one short row, and the sources of some that passed.
#pragma once

#include <nlohmann/json.hpp>

#include "reports/model/run.hpp"
#include "reports/model/summary.hpp"

namespace assay::reports {

// Members: `columns` names the places of a row of `rows`; `texts` holds each distinct text once, and rows refer to it
// by position (in commands, "{case}" stands for the case's name); `outcomes`, `stages`, `tiers` and `doubts` name what
// rows refer to by position; `sources` holds, by case, the texts of the first passing case of a kernel.
nlohmann::json page_data(const Run& run, const Summary& summary, const std::string& title);

// The texts of a case's kernel that are there, as [{label, text}]; empty where the record has none.
nlohmann::json source_texts(const nlohmann::json& record);

// A case's text members together, in bytes: what including them costs.
std::size_t artifact_size(const nlohmann::json& record);

}  // namespace assay::reports
