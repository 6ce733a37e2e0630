// Records as JSON, as schemas/record.schema.json describes the lines.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "harness/records/record.hpp"

namespace assay::harness {

/// One line without its newline. Bytes that are not UTF-8 (in logs and sources) become U+FFFD.
std::string to_line(const RunStart& start);
std::string to_line(const CaseRecord& record);
std::string to_line(const RunEnd& end);

/// The member `expectations` of the first line.
nlohmann::json to_json(const std::vector<ExpectedFailure>& expectations);

/// An element of the member `tolerances` of a case, and the inverse.
nlohmann::json to_json(const ToleranceComparison& comparison);
ToleranceComparison tolerance_comparison_from(const nlohmann::json& comparison);

/// The inverse. `line` must be valid under the schema and of the matching kind.
RunStart run_start_from(const nlohmann::json& line);
CaseRecord case_from(const nlohmann::json& line);
RunEnd run_end_from(const nlohmann::json& line);

}  // namespace assay::harness
