// Analysis and instrumentation of the PTX of a built kernel.
#pragma once

#include <string>

#include "backends/device/backend.hpp"
#include "backends/device/recording.hpp"
#include "support/result.hpp"

namespace assay::ptx {

/// Whether the barriers `bar.sync 1` are redundant (checks/data_flow.hpp) in every entry of the given precision, in the
/// PTX for each architecture; false if the kernel has no PTX. Fails if the PTX cannot be parsed.
Result<bool> is_barrier_1_redundant(const backends::BuiltKernel& kernel, backends::Precision precision);

/// Inserts code after each instruction with a result, which records the result (a backends::MakeRecording for PTX
/// artifacts). Any device that accepts PTX can run the code. Neither addresses nor other 64-bit integers computed from
/// a 64-bit parameter are recorded, because they differ between devices. Predicates and floats derived from these are
/// recorded. Of called functions, only the results are recorded. Threads are numbered along the x-axis of a
/// one-dimensional grid.
Result<backends::InstrumentedCode> make_recording_code(const backends::Artifact& ptx, const std::string& symbol,
                                                       backends::RecordingMode recording);

}  // namespace assay::ptx
