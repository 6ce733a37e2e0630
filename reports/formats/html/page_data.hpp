// Data for the script of the page: every case in a short row, and sources of some passing cases.
#pragma once

#include <nlohmann/json.hpp>

#include "reports/model/run.hpp"
#include "reports/model/summary.hpp"

namespace assay::reports {

/// Members: `columns` names the elements of the rows in `rows`; `texts` holds each distinct text once, and rows refer
/// to it by position (in commands, "{case}" stands for the name of the case); rows also refer by position to
/// `outcomes`, `stages`, `tiers` and `doubts`; `sources` holds, by case, the texts of the first passing case of a
/// kernel.
nlohmann::json page_data(const Run& run, const RunSummary& summary, const std::string& title);

/// The name of the check that records abbreviate as `tier`: "f64_promotion" for "t1".
std::string check_name(const std::string& tier);

/// The recorded source texts of a case's kernel, as [{label, text}]; empty if the record has none.
nlohmann::json source_texts(const nlohmann::json& record);

/// Total size in bytes of the text members of a case.
std::size_t artifact_size(const nlohmann::json& record);

}  // namespace assay::reports
