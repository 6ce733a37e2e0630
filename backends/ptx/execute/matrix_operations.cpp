// Operations of all lanes of a warp on matrices.
#include <cstring>

#include "backends/ptx/execute/execution.hpp"
#include "backends/ptx/instructions/lanes/matrices.hpp"

namespace assay::ptx {

namespace {

constexpr unsigned kRowBytes = 16;  ///< size of a row of ldmatrix and stmatrix
constexpr std::uint64_t kWindowMask = (std::uint64_t{1} << kAddressWindowBits) - 1;

}  // namespace

void Execution::matrix_operation(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  // All lanes must execute the instruction, also those that the block does not have or that have exited.
  if (lane_mask != kAllLanes && options_.checks.reports_divergence) {
    const auto first_lane = static_cast<std::uint32_t>(std::countr_zero(lane_mask));
    add_finding(CheckFinding::Kind::kInactiveLane, op, warp.index_in_block * kLanesPerWarp + first_lane);
  }
  if (op.instruction->opcode == Opcode::kMma) {
    multiply_matrices(warp, kernel_.matrix_ops[op.memory_or_call_index], lane_mask);
  } else {
    move_matrices(warp, op, lane_mask);
  }
}

/// ldmatrix and stmatrix. Lane i has the address of row i of 16 bytes, counted over all matrices of 8 by 8 elements. An
/// access to a row counts as an access by this lane.
void Execution::move_matrices(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  const MatrixOp& matrix = kernel_.matrix_ops[op.memory_or_call_index];
  const MemoryOp& memory = kernel_.memory_ops[*matrix.memory_index];
  const bool is_load = memory.access == Access::kLoad;
  const Fragment& fragment = is_load ? matrix.destination : matrix.sources[0];
  const unsigned row_count = 8U * fragment.register_count;
  Addresses addresses;
  find_addresses(warp, memory, op.a, op.immediate, addresses);
  const FastRaceCheck watch = make_fast_race_check(warp, memory);
  std::byte* rows[kLanesPerWarp] = {};
  each_lane(row_count == kLanesPerWarp ? lane_mask : lane_mask & ((1U << row_count) - 1), [&](unsigned lane) {
    std::uint64_t address = addresses[lane];
    if (memory.space == Space::kGeneric && address >> kAddressWindowBits == kSharedWindowIndex) address &= kWindowMask;
    rows[lane] =
        check_shared_access(watch, lane_access(warp, op, memory, lane, address, Space::kShared), kRowBytes, kRowBytes);
  });
  for (unsigned i = 0; i < fragment.register_count; ++i) {
    each_lane(lane_mask, [&](unsigned lane) {
      std::uint32_t& word = slot_words32(warp, fragment.registers[i])[lane];
      if (is_load) word = 0;
      for (unsigned half = 0; half < 2; ++half) {
        unsigned row = lane / 4;
        unsigned column = 2 * (lane % 4) + half;
        if (matrix.is_transposed) std::swap(row, column);
        std::byte* const start = rows[8 * i + row];
        if (start == nullptr) continue;
        std::uint16_t element = static_cast<std::uint16_t>(word >> (16 * half));
        if (is_load) {
          std::memcpy(&element, start + std::size_t{2} * column, 2);
          word |= std::uint32_t{element} << (16 * half);
        } else {
          std::memcpy(start + std::size_t{2} * column, &element, 2);
        }
      }
    });
  }
}

}  // namespace assay::ptx
