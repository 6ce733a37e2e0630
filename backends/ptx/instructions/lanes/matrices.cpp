#include "backends/ptx/instructions/lanes/matrices.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "backends/ptx/instructions/lanes/rounding.hpp"
#include "backends/ptx/instructions/numbers.hpp"

namespace assay::ptx {

namespace {

constexpr unsigned kMaxExtent = 32;

/// A matrix as numbers. Doubles hold every element of the other types exactly.
using Numbers = std::array<std::array<double, kMaxExtent>, kMaxExtent>;

std::byte* slot_bytes(WarpState& warp, FrameSlot slot) {
  return warp.frames[slot.bits >> 31U] + (slot.bits & ~FrameSlot::kConstantFrameBit);
}

}  // namespace

double number_of_element(Type type, std::uint64_t bits) {
  if (is_float(type)) return number_of(type, bits);
  const auto word = static_cast<std::uint32_t>(bits);
  if (type == Type::kS8) return static_cast<std::int8_t>(word);
  if (type == Type::kU8) return static_cast<std::uint8_t>(word);
  return static_cast<std::int32_t>(word);
}

std::uint64_t bits_of_sum(Type type, double number, bool saturates) {
  switch (type) {
    case Type::kF16:
      return ASSAY_PTX_ISA::encode_float(number, ASSAY_PTX_ISA::kF16Format, ASSAY_PTX_ISA::Round::kNearest);
    case Type::kF32: return number != number ? 0x7fffffffU : std::bit_cast<std::uint32_t>(static_cast<float>(number));
    case Type::kF64: return std::bit_cast<std::uint64_t>(number);
    default: break;
  }
  using Limits = std::numeric_limits<std::int32_t>;
  if (saturates) number = std::clamp(number, double{Limits::min()}, double{Limits::max()});
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(number));
}

namespace {

Numbers numbers_of(WarpState& warp, const Fragment& fragment, std::uint32_t mask) {
  Numbers numbers{};
  const unsigned per_register = fragment.elements_per_register();
  const unsigned bits = 32 / per_register;
  for (unsigned i = 0; i < fragment.register_count; ++i) {
    const std::byte* const slot = slot_bytes(warp, fragment.registers[i]);
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      std::uint64_t word = fragment.type == Type::kF64 ? reinterpret_cast<const std::uint64_t*>(slot)[lane]
                                                       : reinterpret_cast<const std::uint32_t*>(slot)[lane];
      for (unsigned part = 0; part < per_register; ++part) {
        const ElementPosition at = position_of(fragment, lane, i * per_register + part);
        const std::uint64_t element = per_register == 1 ? word : word >> (part * bits) & ((1U << bits) - 1);
        numbers[at.row][at.column] = number_of_element(fragment.type, element);
      }
    }
  }
  return numbers;
}

/// PTX leaves the layout of wmma open. Here a lane holds a part of a row, or for b of a column, so that it often
/// accesses adjacent bytes. The order of the lanes is unusual, so that a kernel that relies on a layout is found. If
/// the registers of the warp have more elements than the matrix, several lanes hold each element.
ElementPosition wmma_position_of(const Fragment& fragment, unsigned lane, unsigned element) {
  const auto [rows, columns] = extents_of(fragment);
  const bool has_columns = fragment.role == MatrixRole::kB;
  const unsigned line_count = has_columns ? columns : rows;
  const unsigned line_length = has_columns ? rows : columns;
  const unsigned element_count = fragment.element_count();
  const unsigned place = (13 * lane + 5) % kLanesPerWarp;
  const unsigned line = place % line_count;
  const unsigned index = place / line_count % (line_length / element_count) * element_count + element;
  return has_columns ? ElementPosition{index, line} : ElementPosition{line, index};
}

}  // namespace

MatrixExtents extents_of(const Fragment& fragment) {
  const MatrixShape& shape = fragment.shape;
  switch (fragment.role) {
    case MatrixRole::kA: return {shape.m, shape.k};
    case MatrixRole::kB: return {shape.k, shape.n};
    default: return {shape.m, shape.n};
  }
}

ElementPosition position_of(const Fragment& fragment, unsigned lane, unsigned element) {
  if (fragment.has_wmma_layout) return wmma_position_of(fragment, lane, element);
  const unsigned group = lane / 4;
  const unsigned lane_in_group = lane % 4;
  if (fragment.role == MatrixRole::kAccumulator) return {group + 8 * (element / 2), 2 * lane_in_group + element % 2};
  // A register holds adjacent elements along k, and the lanes of a group hold adjacent registers.
  const unsigned per_register = fragment.elements_per_register();
  const unsigned index = element / per_register;
  const unsigned along_k = lane_in_group * per_register + element % per_register;
  if (fragment.role == MatrixRole::kB) return {4 * per_register * index + along_k, group};
  const unsigned row_blocks = fragment.shape.m / 8;
  return {group + 8 * (index % row_blocks), 4 * per_register * (index / row_blocks) + along_k};
}

void multiply_matrices(WarpState& warp, const MatrixOp& matrix, std::uint32_t mask) {
  const auto& [a_fragment, b_fragment, c_fragment] = matrix.sources;
  const Fragment& d_fragment = matrix.destination;
  const MatrixShape& shape = d_fragment.shape;
  const Numbers a = numbers_of(warp, a_fragment, mask);
  const Numbers b = numbers_of(warp, b_fragment, mask);
  Numbers sums = numbers_of(warp, c_fragment, mask);
  // Products of types other than f64 are exact in double precision, so a multiplication and an addition have the result
  // of a fused operation, which is slow without support of the processor.
  const bool is_fused = a_fragment.type == Type::kF64;
  for (unsigned row = 0; row < shape.m; ++row) {
    for (unsigned i = 0; i < shape.k; ++i) {
      for (unsigned column = 0; column < shape.n; ++column) {
        double& sum = sums[row][column];
        sum = is_fused ? std::fma(a[row][i], b[i][column], sum) : sum + a[row][i] * b[i][column];
      }
    }
  }
  const unsigned per_register = d_fragment.elements_per_register();
  for (unsigned i = 0; i < d_fragment.register_count; ++i) {
    std::byte* const slot = slot_bytes(warp, d_fragment.registers[i]);
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      std::uint64_t word = 0;
      for (unsigned part = 0; part < per_register; ++part) {
        const ElementPosition at = position_of(d_fragment, lane, i * per_register + part);
        word |= bits_of_sum(d_fragment.type, sums[at.row][at.column], matrix.saturates) << (16 * part);
      }
      if (d_fragment.type == Type::kF64) {
        reinterpret_cast<std::uint64_t*>(slot)[lane] = word;
      } else {
        reinterpret_cast<std::uint32_t*>(slot)[lane] = static_cast<std::uint32_t>(word);
      }
    }
  }
}

}  // namespace assay::ptx
