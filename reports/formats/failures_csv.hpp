// The cases that failed, expected or not, as a table (RFC 4180): case, outcome, kind, message. It can be used as a
// baseline, and as an expectations file in which every failure is expected.
#pragma once

#include <string>

#include "reports/model/run.hpp"

namespace assay::reports {

std::string failures_csv(const Run& run);

}  // namespace assay::reports
