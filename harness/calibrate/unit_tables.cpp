#include "harness/calibrate/unit_tables.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "harness/calibrate/probe.hpp"

namespace assay::harness {
namespace {

Result<ptx::MeasuredTable> measure(backends::Device& device, const ptx::ApproximationUnit& unit, std::uint64_t step) {
  auto probe = InstructionProbe::make(device, unit.instruction_name);
  if (!probe.ok()) return probe.error();
  const ptx::EvaluateUnit ask = [&](const ptx::ApproximationUnit&, std::span<const std::uint32_t> operands) {
    return probe->compute_results(operands);
  };
  return ptx::measure_unit(unit, ask, step);
}

/// Number of operands of a table whose result is not correctly rounded.
std::size_t count_differences(const ptx::ApproximationTable& table) {
  std::size_t count = 0;
  for (const ptx::ApproximationTable::OperandWindow& window : table.windows()) {
    count += static_cast<std::size_t>(
        std::ranges::count_if(window.ulp_differences, [](std::int8_t difference) { return difference != 0; }));
  }
  return count;
}

std::string line_of(const ptx::ApproximationUnit& unit, const ptx::MeasuredTable& found) {
  if (found.table) {
    return fmt::format(
        "{:<22} {} of {} operands match the prediction; {} table entries differ from the correctly rounded result",
        unit.instruction_name, found.verified_operand_count, found.verified_operand_count,
        count_differences(*found.table));
  }
  return fmt::format("{:<22} no table: {} of {} operands differ from the prediction; the first is 0x{:08x}",
                     unit.instruction_name, found.mismatching_operand_count, found.verified_operand_count,
                     found.first_mismatching_operand);
}

}  // namespace

std::vector<std::string> unit_names() {
  std::vector<std::string> names;
  for (const ptx::ApproximationUnit& unit : ptx::units())
    names.emplace_back(unit.instruction_name);
  return names;
}

Result<MeasuredTables> measure_tables(backends::Device& device, const std::vector<std::string>& names,
                                      std::uint64_t step, const std::function<void(std::string_view)>& on_unit) {
  MeasuredTables measured{.tables = {.device = device.can_run().tool_or_reason, .tables = {}}, .summary_lines = {}};
  for (const ptx::ApproximationUnit& unit : ptx::units()) {
    if (!names.empty() && std::ranges::find(names, unit.instruction_name) == names.end()) continue;
    if (on_unit) on_unit(unit.instruction_name);
    const Result<ptx::MeasuredTable> found = measure(device, unit, step);
    if (!found.ok()) return found.error();
    measured.summary_lines.push_back(line_of(unit, *found));
    measured.is_complete = measured.is_complete && found->table.has_value();
    if (found->table) measured.tables.tables.push_back(*found->table);
  }
  return measured;
}

}  // namespace assay::harness
