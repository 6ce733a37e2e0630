// The verdict on a run. Private to reports; summary.hpp has it with everything else that is said first.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "reports/model/summary.hpp"

namespace assay::reports {

// Place of an outcome, or of another reason, in the order in which a reader wants to hear of them: 0 is the gravest.
std::size_t gravity(std::string_view reason);

// `counts` is by outcome, `tally` by tone, both over all cases.
Verdict verdict_of(const Run& run, const std::map<std::string, std::int64_t>& counts, const Tally& tally);

}  // namespace assay::reports
