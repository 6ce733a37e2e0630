// Converts profiles and measurements of a device to members of a case's line and back. Private to record_json.cpp.
#pragma once

#include <nlohmann/json.hpp>

#include "backends/device/observation.hpp"

namespace assay::harness {

nlohmann::ordered_json to_json(const backends::ExecutionProfile& profile);
nlohmann::ordered_json to_json(const backends::Measurement& measurement);

/// `value` must be valid under the schema.
backends::ExecutionProfile execution_profile_from(const nlohmann::json& value);
backends::Measurement measurement_from(const nlohmann::json& value);

}  // namespace assay::harness
