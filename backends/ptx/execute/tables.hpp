// Measured results of a device's approximation units. For an operand in a table, the interpreter returns the device's
// bits, and the instruction counts as exact.
//
// A table contains windows of operands, each a range of bit patterns, and for each operand the difference of the
// device's result from the correctly rounded result, in units in the last place. The units of 1/x, 1/sqrt(x) and
// sqrt(x) operate on significands, so an operand outside of the windows is scaled into them by a power of two. Tables
// are written by `assay calibrate --tables`, which first verifies their predictions on the device.
//
// The file is one line of JSON, followed by a zstd frame with the differences as signed bytes:
//     {"format": "assay ptx tables", "version": 1, "device": "NVIDIA ...", "units": [{"instruction":
//      "ex2.approx.ftz.f32", "verified": 4294967296, "windows": [{"first": 1065353216, "count": 8388608}]}]}
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/ptx/parse/module.hpp"
#include "support/result.hpp"

namespace assay::ptx {

/// Consecutive operands of an instruction, as bit patterns of f32 or of the upper word of an f64.
struct OperandRange {
  std::uint32_t first_operand = 0;  ///< bit pattern of the first operand
  std::uint32_t operand_count = 0;  ///< number of operands
};

/// The hardware unit of one approximate instruction. If the operand is multiplied by 2^operand_scale_exponent, the
/// result is multiplied by 2^result_scale_exponent; both are 0 if the instruction does not scale.
struct ApproximationUnit {
  std::string_view instruction_name;  ///< name of the instruction: "ex2.approx.ftz.f32"
  Opcode opcode;                      ///< opcode of the instruction
  Type type;                          ///< type of the operand and the result
  bool ftz = false;                   ///< whether the instruction has .ftz
  int operand_scale_exponent = 0;     ///< exponent of the power of two by which operands may be scaled; 0: none
  int result_scale_exponent = 0;      ///< exponent of the power of two by which the result then changes
  std::array<OperandRange, 2> measured_operand_ranges = {};  ///< operands to measure; the second range may be empty
};
std::span<const ApproximationUnit> units();
/// The unit that an instruction uses; null if none.
const ApproximationUnit* unit_of(const Instruction& instruction);

/// The measured results of one unit.
class ApproximationTable {
 public:
  /// The difference stored for an operand whose result is not an 8-bit difference from the correctly rounded one.
  static constexpr std::int8_t kNotMeasured = INT8_MIN;

  /// Consecutive operands that were measured: for each, the result of the device minus the correctly rounded result.
  struct OperandWindow {
    std::uint32_t first_operand = 0;           ///< bit pattern of the first operand
    std::vector<std::int8_t> ulp_differences;  ///< difference of each result in units in the last place, by operand
  };

  ApproximationTable(const ApproximationUnit& unit, std::vector<OperandWindow> windows, std::uint64_t verified)
      : unit_(&unit), windows_(std::move(windows)), verified_operand_count_(verified) {}

  [[nodiscard]] const ApproximationUnit& unit() const { return *unit_; }
  [[nodiscard]] const std::vector<OperandWindow>& windows() const { return windows_; }
  /// The number of operands for which the device's result matched the prediction.
  [[nodiscard]] std::uint64_t verified_operand_count() const { return verified_operand_count_; }

  /// The device's result for an operand, given the correctly rounded result. Returns nullopt if the table does not
  /// cover the operand: outside of its windows, or if either result is not a normal number.
  [[nodiscard]] std::optional<std::uint32_t> answer(std::uint32_t operand, std::uint32_t nearest) const;

 private:
  const ApproximationUnit* unit_;         ///< the measured unit
  std::vector<OperandWindow> windows_;    ///< measured operands and differences
  std::uint64_t verified_operand_count_;  ///< number of operands for which the device's result was the predicted one
};

/// The measured results of a device.
struct ApproximationTables {
  std::string device;                      ///< name and driver of the device: "NVIDIA H100 80GB HBM3, driver 580.65"
  std::vector<ApproximationTable> tables;  ///< tables of the measured units

  /// Null if the unit was not measured.
  [[nodiscard]] const ApproximationTable* find(const ApproximationUnit& unit) const;
};

/// Encodes tables as the content of a file.
std::string encode_tables(const ApproximationTables& tables);
/// Decodes the content of a file; fails if it is invalid.
Result<ApproximationTables> decode_tables(std::string_view content);

/// Reads and decodes a file.
Result<ApproximationTables> read_tables(const std::string& file);

/// Evaluates a unit on a device for the given operands.
using EvaluateUnit =
    std::function<Result<std::vector<std::uint32_t>>(const ApproximationUnit&, std::span<const std::uint32_t>)>;
/// Returns the correctly rounded results for the operands, computed by the machine of machine.hpp.
Result<std::vector<std::uint32_t>> compute_nearest_results(const ApproximationUnit& unit,
                                                           std::span<const std::uint32_t> operands);

/// The result of measure_unit().
struct MeasuredTable {
  std::optional<ApproximationTable> table;  ///< the measured table; nullopt if the device contradicted its predictions
  std::uint64_t verified_operand_count =
      0;  ///< number of operands for which the device's result matched the prediction
  /// Number of operands for which the device's result was not the predicted one.
  std::uint64_t mismatching_operand_count = 0;
  std::uint32_t first_mismatching_operand = 0;  ///< bit pattern of the first of these operands
};
/// Measures the unit's windows, then verifies the table on every `step`-th of all operands.
Result<MeasuredTable> measure_unit(const ApproximationUnit& unit, const EvaluateUnit& device, std::uint64_t step);

}  // namespace assay::ptx
