// Measures the tables of a device's approximation units, for `assay calibrate --tables`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/device/backend.hpp"
#include "backends/ptx/execute/tables.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// The instructions whose units can be measured: "ex2.approx.ftz.f32".
std::vector<std::string> unit_names();

/// The result of a measurement.
struct MeasuredTables {
  ptx::ApproximationTables tables;         ///< tables of the units whose results could be predicted
  std::vector<std::string> summary_lines;  ///< one summary line for each unit
  bool is_complete = true;                 ///< whether every measured unit has a table
};

/// Measures the named units of a device that can run; all units if `names` is empty. Compares every `step`-th operand
/// with the table. Calls `on_unit` with the instruction before each unit. Fails if the device fails.
Result<MeasuredTables> measure_tables(backends::Device& device, const std::vector<std::string>& names,
                                      std::uint64_t step,
                                      const std::function<void(std::string_view)>& on_unit = nullptr);

}  // namespace assay::harness
