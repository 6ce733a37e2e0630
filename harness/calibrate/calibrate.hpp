// Measures the functions of a device's math library against the figures that verdicts rest on: every float32, or every
// N-th, goes through each unary function, and what comes back is held against the oracle's value and bound.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backends/device/backend.hpp"
#include "harness/suite/run/run.hpp"
#include "ir/operations/operations.hpp"

namespace assay::harness {

/// The functions that are measured: float32 to float32, of one operand.
[[nodiscard]] std::vector<ir::Op> calibrated_operations();

struct CalibrationOptions {
  std::vector<ir::Op> operations = calibrated_operations();
  std::uint64_t step = 1;  ///< every step-th of the 2^32 bit patterns, from 0 on
  unsigned jobs = 1;       ///< threads that compare
};

/// One input and what became of it.
struct CalibrationPoint {
  float input = 0;
  float got = 0;
  double expected = 0;
  double ulps = 0;  ///< the total error, in units in the last place of what was expected
};

/// What was found of one function.
struct Calibration {
  ir::Op op = ir::Op::kSqrt;
  std::uint64_t compared = 0;               ///< inputs whose result has a bound, or must be an infinity or NaN
  std::uint64_t beyond = 0;                 ///< of them: outside of the bound, or of another class
  CalibrationPoint worst;                   ///< of greatest error among finite results
  std::optional<CalibrationPoint> refuted;  ///< the first that is beyond
};

/// Called with each function's result as soon as it is known.
using OnCalibration = std::function<void(const Calibration&)>;

/// Measures on a device that can run. Fails when something does not build or run.
Result<std::vector<Calibration>> calibrate(backends::Device& device, const Printer& printer,
                                           const CalibrationOptions& options, const OnCalibration& on_result = nullptr);

/// The figure of the operation table that a device of this language is held against.
[[nodiscard]] ir::UlpBound figure_of(ir::Op op, backends::SourceTarget target);

}  // namespace assay::harness
