// A run as JUnit XML, in the dialect of Jenkins.
#pragma once

#include <string>

#include "reports/model/run.hpp"

namespace assay::reports {

// A suite for each family, device and pass. Cases that exceed a bound or have no verdict are failures; cases that
// crashed, timed out, or could not be built or run are errors; unsupported cases are skipped.
std::string junit_xml(const Run& run);

}  // namespace assay::reports
