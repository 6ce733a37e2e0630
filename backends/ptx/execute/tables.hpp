// What the approximation units of one device answer, measured on it: where an operand lies in a table, the lane gives
// the device's bits and the instruction counts as exact.
//
// A table holds windows of operands, each a range of bit patterns, and for each operand how far the device's answer
// lies from the nearest number, in units in its last place. The units of 1/x, 1/sqrt(x) and sqrt(x) work on
// significands, so an operand outside of the windows is moved into them by a power of two. Tables come from `assay
// calibrate --tables`, which holds what they foretell against the device before it writes them.
//
// The file is one line of JSON, then a zstd frame with the differences, a signed byte each:
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

/// A range of operands: bit patterns of f32, or of the upper word of an f64.
struct WindowRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// A unit, by the instruction that asks it. With x scaled by 2^operand_step its answer scales by 2^answer_step; 0 where
/// it does not.
struct UnitRow {
  std::string_view instruction;
  Opcode opcode;
  Type type;
  bool ftz = false;
  int operand_step = 0;
  int answer_step = 0;
  std::array<WindowRange, 2> windows = {};  ///< what is measured; an empty second one is none
};
std::span<const UnitRow> units();
/// The unit that an instruction asks; null where it asks none.
const UnitRow* unit_of(const Instruction& instruction);

class UnitTable {
 public:
  /// What stands for an operand whose answer no difference of 8 bits gives.
  static constexpr std::int8_t kUnknown = INT8_MIN;

  struct Window {
    std::uint32_t first = 0;
    std::vector<std::int8_t> differences;
  };

  UnitTable(const UnitRow& unit, std::vector<Window> windows, std::uint64_t verified)
      : unit_(&unit), windows_(std::move(windows)), verified_(verified) {}

  [[nodiscard]] const UnitRow& unit() const { return *unit_; }
  [[nodiscard]] const std::vector<Window>& windows() const { return windows_; }
  /// Operands of all kinds for which the device's answer was as foretold.
  [[nodiscard]] std::uint64_t verified() const { return verified_; }

  /// The device's answer to an operand, given the nearest number to the exact one. Nothing where the table does not
  /// tell: outside of its windows, and where either answer is no normal number.
  [[nodiscard]] std::optional<std::uint32_t> answer(std::uint32_t operand, std::uint32_t nearest) const;

 private:
  const UnitRow* unit_;
  std::vector<Window> windows_;
  std::uint64_t verified_;
};

struct Tables {
  std::string device;  ///< "NVIDIA H100 80GB HBM3, driver 580.65"
  std::vector<UnitTable> units;

  /// Null where the unit was not measured.
  [[nodiscard]] const UnitTable* find(const UnitRow& unit) const;
};

/// A file's content.
std::string encode_tables(const Tables& tables);
/// Fails with what is wrong with the content.
Result<Tables> decode_tables(std::string_view content);

/// The same from a file.
Result<Tables> read_tables(const std::string& file);

/// A device's answers to operands of a unit.
using Ask = std::function<Result<std::vector<std::uint32_t>>(const UnitRow&, std::span<const std::uint32_t>)>;
/// The nearest numbers to the exact answers, from the machine of machine.hpp.
Result<std::vector<std::uint32_t>> nearest_answers(const UnitRow& unit, std::span<const std::uint32_t> operands);

struct Measured {
  std::optional<UnitTable> table;  ///< nothing where the device contradicted it
  std::uint64_t verified = 0;
  std::uint64_t contradicted = 0;
  std::uint32_t contradicting = 0;  ///< the first such operand
};
/// Measures the unit's windows, then holds the table against every `step`-th of all operands.
Result<Measured> measure_unit(const UnitRow& unit, const Ask& device, std::uint64_t step);

}  // namespace assay::ptx
