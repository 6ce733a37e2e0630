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

/// What a measurement found.
struct MeasuredTables {
  ptx::Tables tables;              ///< of the units whose answers could be predicted
  std::vector<std::string> lines;  ///< one for each unit, for a person
  bool complete = true;            ///< every unit has a table
};

/// Measures the named units of a device that can run; all of them if none is named. Every `step`-th operand is checked
/// against the table. Calls `on_unit` with the instruction before each. Fails if the device does.
Result<MeasuredTables> measure_tables(backends::Device& device, const std::vector<std::string>& names,
                                      std::uint64_t step,
                                      const std::function<void(std::string_view)>& on_unit = nullptr);

}  // namespace assay::harness
