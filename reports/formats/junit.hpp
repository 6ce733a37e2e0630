// A run as JUnit XML, in the dialect of Jenkins.
#pragma once

#include <string>

#include "reports/model/run.hpp"

namespace assay::reports {

// A suite for each family, device and pass. What broke its bound or has no verdict is a failure; what crashed, hung or
// could not be built or run is an error; what this machine cannot run is skipped.
std::string junit_xml(const Run& run);

}  // namespace assay::reports
