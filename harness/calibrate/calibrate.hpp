// Measures the functions of a device's math library against the ULP bounds that verdicts depend on: evaluates each
// unary function for every float32, or every N-th, and compares the result with the oracle's value and bound.
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

/// The measured functions: from one float32 to float32.
[[nodiscard]] std::vector<ir::Op> calibrated_operations();

/// What is measured.
struct CalibrationOptions {
  std::vector<ir::Op> operations = calibrated_operations();  ///< functions to measure
  std::uint64_t bit_pattern_step = 1;  ///< measure every step-th of the 2^32 bit patterns, starting at 0
  unsigned jobs = 1;                   ///< number of threads that compare results
};

/// One input and its result.
struct CalibrationPoint {
  float input = 0;          ///< the argument of the function
  float device_result = 0;  ///< the device's result
  double oracle_value = 0;  ///< the oracle's value
  double ulps = 0;          ///< error of the result in units in the last place (ULP) of the expected value
};

/// The result for one function.
struct OperationCalibration {
  ir::Op op = ir::Op::kSqrt;         ///< the measured function
  std::uint64_t compared_count = 0;  ///< number of inputs whose result has a bound, or must be infinity or NaN
  /// Number of compared results that are outside the bound, or not finite, infinite or NaN as required.
  std::uint64_t violation_count = 0;
  CalibrationPoint worst_point;                     ///< the finite result with the greatest error
  std::optional<CalibrationPoint> first_violation;  ///< the first violation; empty if there is none
};

/// Called with each function's result as soon as it is known.
using OnCalibration = std::function<void(const OperationCalibration&)>;

/// Measures on a device that can run. Fails if a kernel does not build or run.
Result<std::vector<OperationCalibration>> calibrate_operations(backends::Device& device, const Printer& printer,
                                                               const CalibrationOptions& options,
                                                               const OnCalibration& on_result = nullptr);

/// The bound of the operation table for devices of this language.
[[nodiscard]] ir::UlpBound ulp_bound_of(ir::Op op, backends::SourceTarget target);

}  // namespace assay::harness
