// PTX that records what its instructions compute: the text of a module with code woven in behind each instruction that
// has a result. Any device that takes PTX can run it.
#pragma once

#include <string>

#include "backends/device/recording.hpp"
#include "support/result.hpp"

namespace assay::ptx {

/// A backends::MakeRecording of artifacts that are PTX.
///
/// Left out are addresses, which differ from device to device, and with them every 64-bit integer that is computed from
/// a 64-bit parameter; predicates and floats that follow from these are recorded. So are the results of functions that
/// the entry calls, but not what these compute within. Threads are numbered along the x-axis of a one-dimensional grid.
Result<backends::RecordingCode> recording_code(const backends::Artifact& ptx, const std::string& symbol,
                                               backends::Recording recording);

}  // namespace assay::ptx
