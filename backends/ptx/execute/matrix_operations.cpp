// Operations of all lanes of a warp on matrices.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "backends/ptx/execute/execution.hpp"
#include "backends/ptx/instructions/lanes/matrices.hpp"

namespace assay::ptx {

namespace {

constexpr unsigned kRowBytes = 16;  ///< size of a row of ldmatrix and stmatrix

}  // namespace

void Execution::matrix_operation(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  // All lanes must execute the instruction, also those that the block does not have or that have exited.
  if (lane_mask != kAllLanes && options_.checks.reports_divergence) {
    const auto first_lane = static_cast<std::uint32_t>(std::countr_zero(lane_mask));
    add_finding(CheckFinding::Kind::kInactiveLane, op, warp.index_in_block * kLanesPerWarp + first_lane);
  }
  switch (op.instruction->opcode) {
    case Opcode::kMma:
    case Opcode::kWmmaMma:
      if (unrounded_plan_) {
        multiply_unrounded_matrices(warp, warp.unrounded_registers, *unrounded_plan_,
                                    kernel_.matrix_ops[op.memory_or_call_index], lane_mask);
      }
      multiply_matrices(warp, kernel_.matrix_ops[op.memory_or_call_index], lane_mask);
      break;
    case Opcode::kWmmaLoad:
    case Opcode::kWmmaStore: move_elements(warp, op, lane_mask); break;
    default: move_matrices(warp, op, lane_mask); break;
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
  Addresses row_addresses{};
  // The lane that holds an element of a row, and the half of the register.
  const auto holder_of = [&](unsigned row, unsigned column) {
    if (matrix.is_transposed) std::swap(row, column);
    return std::pair(row * 4 + column / 2, column % 2);
  };
  constexpr unsigned kRows = 8;
  each_lane(row_count == kLanesPerWarp ? lane_mask : lane_mask & ((1U << row_count) - 1), [&](unsigned lane) {
    std::uint64_t address = addresses[lane];
    if (memory.space == Space::kGeneric && address >> kAddressWindowBits == kSharedWindowIndex) address &= kWindowMask;
    row_addresses[lane] = address;
    LaneAccess actor = lane_access(warp, op, memory, lane, address, Space::kShared);
    StoredRow stored;
    for (unsigned column = 0; column < kRows && !is_load; ++column) {
      const auto [holder, half] = holder_of(lane % kRows, column);
      const std::uint32_t word = slot_words32(warp, fragment.registers[lane / kRows])[holder];
      const auto element = static_cast<std::uint16_t>(word >> (16 * half));
      std::memcpy(&stored.bytes[std::size_t{2} * column], &element, 2);
    }
    if (!is_load) actor.stored_row = &stored;
    rows[lane] = check_shared_access(watch, actor, kRowBytes, kRowBytes);
    // Redundant lanes may store the same values to the same row.
    if (!is_load && rows[lane] != nullptr) std::memcpy(rows[lane], stored.bytes.data(), kRowBytes);
  });
  for (unsigned i = 0; i < fragment.register_count; ++i) {
    each_lane(lane_mask, [&](unsigned lane) {
      std::uint32_t& word = slot_words32(warp, fragment.registers[i])[lane];
      if (is_load) word = 0;
      for (unsigned half = 0; half < 2; ++half) {
        unsigned row = lane / 4;
        unsigned column = 2 * (lane % 4) + half;
        if (matrix.is_transposed) std::swap(row, column);
        const std::byte* const start = rows[kRows * i + row];
        if (start == nullptr) continue;
        std::uint16_t element = static_cast<std::uint16_t>(word >> (16 * half));
        if (is_load) {
          std::memcpy(&element, start + std::size_t{2} * column, 2);
          word |= std::uint32_t{element} << (16 * half);
        }
        if (unrounded_plan_) {
          move_unrounded_element(warp, fragment.registers[i], lane, half == 0 ? Part::kLower : Part::kUpper, memory,
                                 Space::kShared, row_addresses[kRows * i + row] + std::uint64_t{2} * column, element);
        }
      }
      // Kernels also use these instructions for matrices of 32-bit elements, which two columns contain.
      if (unrounded_plan_ && !matrix.is_transposed && rows[8 * i + lane / 4] != nullptr)
        move_unrounded_word(warp, fragment.registers[i], lane, is_load, row_addresses[8 * i + lane / 4] + lane % 4 * 4);
    });
  }
}

/// wmma.load and wmma.store. An access to an element counts as an access by a lane that holds it.
void Execution::move_elements(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  const MatrixOp& matrix = kernel_.matrix_ops[op.memory_or_call_index];
  const MemoryOp& memory = kernel_.memory_ops[*matrix.memory_index];
  const bool is_load = memory.access == Access::kLoad;
  const Fragment& fragment = is_load ? matrix.destination : matrix.sources[0];
  Addresses addresses;
  find_addresses(warp, memory, op.a, op.immediate, addresses);
  const auto lane_of_address = static_cast<unsigned>(std::countr_zero(lane_mask));
  const std::uint32_t* const strides = slot_words32(warp, matrix.stride);
  MatrixPlace place{.space = memory.space, .address = addresses[lane_of_address], .stride = strides[lane_of_address]};
  bool is_uniform = true;
  each_lane(lane_mask, [&](unsigned lane) {
    is_uniform = is_uniform && addresses[lane] == place.address && strides[lane] == place.stride;
  });
  if (!is_uniform) return stop(RunResult::Status::kUnsupported, "lanes have different addresses or strides", op);
  if (place.space == Space::kGeneric) {
    const bool is_shared = place.address >> kAddressWindowBits == kSharedWindowIndex;
    place.space = is_shared ? Space::kShared : Space::kGlobal;
    if (is_shared) place.address &= kWindowMask;
  }
  check_matrix_alignment(warp, op, place, lane_of_address);
  const unsigned bytes = bytes_of(memory.type);
  const unsigned per_register = fragment.elements_per_register();
  const FastRaceCheck watch = make_fast_race_check(warp, memory);
  GlobalWindow window;
  std::vector<std::uint64_t> accessed;
  each_lane(lane_mask, [&](unsigned lane) {
    for (unsigned i = 0; i < fragment.element_count(); ++i) {
      const ElementPosition at = position_of(fragment, lane, i);
      const std::uint64_t line = matrix.is_transposed ? at.column : at.row;
      const std::uint64_t index = matrix.is_transposed ? at.row : at.column;
      const std::uint64_t address = place.address + (line * place.stride + index) * bytes;
      LaneAccess actor = lane_access(warp, op, memory, lane, address, place.space);
      std::byte* const element = place.space == Space::kShared
                                     ? check_shared_access(watch, actor, bytes, bytes)
                                     : check_global_access(window, watch, actor, bytes, bytes);
      std::uint32_t& word = slot_words32(warp, fragment.registers[i / per_register])[lane];
      const unsigned shift = 8 * bytes * (i % per_register);
      if (is_load && shift == 0) word = 0;
      if (element == nullptr) continue;
      accessed.push_back(address);
      std::uint32_t value = word >> shift;
      if (is_load) {
        value = 0;
        std::memcpy(&value, element, bytes);
        word |= value << shift;
      } else {
        std::memcpy(element, &value, bytes);
      }
      if (unrounded_plan_) {
        const Part part = bytes != 2 ? Part::kWhole : shift == 0 ? Part::kLower : Part::kUpper;
        move_unrounded_element(warp, fragment.registers[i / per_register], lane, part, memory, place.space, address,
                               value);
      }
    }
  });
  if (place.space == Space::kGlobal) count_matrix_access(std::move(accessed), bytes);
}

/// The start of a matrix must be aligned to the size of its fragment, and the start of each row to 16 bytes.
void Execution::check_matrix_alignment(const Warp& warp, const Op& op, const MatrixPlace& place, unsigned lane) {
  const MatrixOp& matrix = kernel_.matrix_ops[op.memory_or_call_index];
  const MemoryOp& memory = kernel_.memory_ops[*matrix.memory_index];
  const Fragment& fragment = memory.access == Access::kLoad ? matrix.destination : matrix.sources[0];
  const unsigned fragment_bytes = 4U * fragment.register_count;
  const std::uint64_t stride_bytes = place.stride * bytes_of(memory.type);
  const bool is_aligned =
      place.address % fragment_bytes == 0 && stride_bytes % std::min(kRowBytes, fragment_bytes) == 0;
  if (is_aligned || !options_.checks.reports_misaligned) return;
  add_finding(CheckFinding::Kind::kMisaligned, op, warp.index_in_block * kLanesPerWarp + lane, place.space,
              place.address, fragment_bytes);
}

void Execution::count_matrix_access(std::vector<std::uint64_t> addresses, unsigned bytes) {
  if (addresses.empty() || !options_.computes_profile) return;
  InstructionProfile& profile = result_.profile;
  ++profile.global_access_count;
  profile.global_bytes += addresses.size() * bytes;
  for (std::uint64_t& address : addresses)
    address >>= kSectorBits;
  std::ranges::sort(addresses);
  profile.accessed_sector_count +=
      static_cast<std::uint64_t>(std::ranges::unique(addresses).begin() - addresses.begin());
}

}  // namespace assay::ptx
