// Rules for operations of a warp on matrices.
#include <algorithm>
#include <span>

#include "backends/ptx/lower/lowering.hpp"

namespace assay::ptx {

namespace {

using enum Modifier;

}  // namespace

/// Assigns the registers of an operand to a fragment. Returns false if their number is wrong.
bool Lowering::set_fragment(Fragment& fragment, const Operand& operand, std::size_t register_count,
                            bool is_destination) {
  const std::span<const Operand> elements =
      operand.kind == Operand::Kind::kVector ? std::span(operand.elements) : std::span(&operand, 1);
  if (elements.size() != register_count || register_count > fragment.registers.size()) return false;
  const unsigned bytes = std::max(4U, bytes_of(fragment.type));
  fragment.register_count = static_cast<std::uint8_t>(register_count);
  for (std::size_t i = 0; i < register_count; ++i)
    fragment.registers[i] =
        is_destination ? destination(elements[i], bytes) : source(elements[i], bytes, fragment.type);
  return true;
}

/// ldmatrix and stmatrix: each of the first 8 lanes for each matrix has the address of a row of 16 bytes.
void Lowering::lower_matrix_move() {
  const Instruction& instruction = *current_instruction_;
  const Modifiers& modifiers = instruction.modifiers;
  const bool is_load = instruction.opcode == Opcode::kLdmatrix;
  const std::size_t matrices = modifiers.has(kX4) ? 4 : modifiers.has(kX2) ? 2 : modifiers.has(kX1) ? 1 : 0;
  MemoryOp memory{.access = is_load ? Access::kLoad : Access::kStore, .type = Type::kB64, .element_count = 2};
  Op address;
  MatrixOp matrix{.is_transposed = modifiers.has(kTrans)};
  set_address(memory, address, instruction.operands[is_load ? 1 : 0], space_of(modifiers));
  Fragment& fragment = is_load ? matrix.destination : matrix.source;
  fragment.type = Type::kB16;
  const bool is_complete = modifiers.has(kAligned) && modifiers.has(kM8n8) && matrices != 0 &&
                           set_fragment(fragment, instruction.operands[is_load ? 0 : 1], matrices, is_load);
  if (!is_complete) return static_cast<void>(emit(DispatchKind::kUnsupported));
  matrix.memory_index = add_memory_op(memory);
  const FrameSlot all_lanes = constant(kAllLanes, 4);
  Op& op = emit(DispatchKind::kMatrixOperation);
  op.a = address.a;
  op.e = all_lanes;
  op.immediate = address.immediate;
  op.memory_or_call_index = static_cast<std::uint32_t>(kernel_.matrix_ops.size());
  kernel_.matrix_ops.push_back(matrix);
}

}  // namespace assay::ptx
