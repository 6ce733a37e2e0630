// The verdict on a run. Private to reports; part of the Summary (summary.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "reports/model/summary.hpp"

namespace assay::reports {

/// Rank of an outcome or other reason by severity; 0 is the most severe.
std::size_t severity_rank(std::string_view reason);

/// Whether the case is unsupported because of its kernel or its recorded launch, not because the device or a tool is
/// missing.
bool is_unsupported_kernel(const nlohmann::json& record);

/// `counts` counts all cases by outcome, `tally` by tone.
Verdict verdict_of(const Run& run, const std::map<std::string, std::int64_t>& counts, const CaseCounts& tally);

}  // namespace assay::reports
