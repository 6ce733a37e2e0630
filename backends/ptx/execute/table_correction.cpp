#include <bit>
#include <cstring>

#include "backends/ptx/execute/execution.hpp"
#include "backends/ptx/execute/tables.hpp"

namespace assay::ptx {

void TableCorrection::apply(const Op& op, std::uint32_t lane_mask, const Operands& operands, std::byte* results) {
  const ApproximationUnit* const unit = unit_of(*op.instruction);
  const ApproximationTable* const table = unit == nullptr ? nullptr : tables_.find(*unit);
  if (table == nullptr) return;
  // For a double, the unit reads and returns the upper word.
  const std::size_t width = bytes_of(unit->type);
  covered_execution_counts_.resize(kernel_.ops.size());
  std::uint64_t& covered_execution_count =
      covered_execution_counts_[static_cast<std::size_t>(&op - kernel_.ops.data())];
  for (; lane_mask != 0; lane_mask &= lane_mask - 1) {
    const std::size_t at = static_cast<std::size_t>(std::countr_zero(lane_mask)) * width + width - 4;
    std::uint32_t operand = 0;
    std::uint32_t result = 0;
    std::memcpy(&operand, operands.a + at, 4);
    std::memcpy(&result, results + at, 4);
    const auto answer = table->answer(operand, result);
    if (!answer) continue;
    std::memcpy(results + at, &*answer, 4);
    ++covered_execution_count;
  }
}

}  // namespace assay::ptx
