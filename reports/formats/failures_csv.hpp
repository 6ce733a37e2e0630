// The cases that failed, expected or not, as a table (RFC 4180): case, outcome, kind, message. It is a baseline, and an
// expectations file that bears each failure as it is.
#pragma once

#include <string>

#include "reports/model/run.hpp"

namespace assay::reports {

std::string failures_csv(const Run& run);

}  // namespace assay::reports
