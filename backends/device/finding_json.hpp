// Converts a finding to JSON and back: in the records, and between a session and its worker.
#pragma once

#include <nlohmann/json.hpp>

#include "backends/device/observation.hpp"

namespace assay::backends {

nlohmann::ordered_json to_json(const MemoryFinding& fault);

/// Throws nlohmann::json::exception if `value` is not what to_json() returns.
MemoryFinding memory_finding_from(const nlohmann::json& value);

}  // namespace assay::backends
