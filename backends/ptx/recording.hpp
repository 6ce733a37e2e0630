// PTX that records the results of its instructions: a module with code inserted after each instruction with a result.
// Any device that accepts PTX can run it.
#pragma once

#include <string>

#include "backends/device/recording.hpp"
#include "support/result.hpp"

namespace assay::ptx {

/// A backends::MakeRecording for PTX artifacts.
///
/// Addresses are not recorded, because they differ between devices; neither are other 64-bit integers computed from a
/// 64-bit parameter. Predicates and floats derived from these are recorded. Of called functions, only the results are
/// recorded. Threads are numbered along the x-axis of a one-dimensional grid.
Result<backends::RecordingCode> recording_code(const backends::Artifact& ptx, const std::string& symbol,
                                               backends::Recording recording);

}  // namespace assay::ptx
