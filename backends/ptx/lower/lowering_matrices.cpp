// Rules for operations of a warp on matrices.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <span>

#include "backends/ptx/lower/lowering.hpp"

namespace assay::ptx {

namespace {

using enum Modifier;

/// Whether mma has the shape for the types of d, a, b and c.
bool is_mma_form(MatrixShape shape, const std::array<Type, 4>& types) {
  const auto& [d, a, b, c] = types;
  const auto has_shape = [&](std::initializer_list<MatrixShape> shapes) {
    return c == d && std::ranges::find(shapes, shape) != shapes.end();
  };
  const auto is_byte = [](Type type) { return type == Type::kS8 || type == Type::kU8; };
  if (is_byte(a) && is_byte(b)) return d == Type::kS32 && has_shape({{8, 8, 16}, {16, 8, 16}, {16, 8, 32}});
  if (a != b) return false;
  switch (a) {
    case Type::kF16: return (d == Type::kF16 || d == Type::kF32) && has_shape({{16, 8, 8}, {16, 8, 16}});
    case Type::kBf16: return d == Type::kF32 && has_shape({{16, 8, 8}, {16, 8, 16}});
    case Type::kTf32: return d == Type::kF32 && has_shape({{16, 8, 4}, {16, 8, 8}});
    case Type::kF64: return d == Type::kF64 && has_shape({{8, 8, 4}});
    default: return false;
  }
}

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
  Fragment& fragment = is_load ? matrix.destination : matrix.sources[0];
  fragment.type = Type::kB16;
  const bool is_complete = modifiers.has(kAligned) && modifiers.has(kM8n8) && matrices != 0 &&
                           set_fragment(fragment, instruction.operands[is_load ? 0 : 1], matrices, is_load);
  if (!is_complete) return static_cast<void>(emit(DispatchKind::kUnsupported));
  matrix.memory_index = add_memory_op(memory);
  Op& op = emit_matrix_operation(matrix);
  op.a = address.a;
  op.immediate = address.immediate;
}

Op& Lowering::emit_matrix_operation(const MatrixOp& matrix) {
  const FrameSlot all_lanes = constant(kAllLanes, 4);
  Op& op = emit(DispatchKind::kMatrixOperation);
  op.e = all_lanes;
  op.memory_or_call_index = static_cast<std::uint32_t>(kernel_.matrix_ops.size());
  kernel_.matrix_ops.push_back(matrix);
  return op;
}

/// mma d, a, b, c. The PTX manual leaves the order and the rounding of floating-point sums open.
void Lowering::lower_matrix_product() {
  const Instruction& instruction = *current_instruction_;
  const auto& [d, a, b, c] = instruction.types;
  const std::optional<MatrixShape> shape = find_matrix_shape(instruction.modifiers);
  const bool is_float_product = is_float(d);
  MatrixOp matrix{.saturates = instruction.modifiers.has(kSatfinite)};
  const auto set = [&](Fragment& fragment, Type type, MatrixRole role, std::size_t operand) {
    fragment.type = type;
    fragment.role = role;
    fragment.shape = *shape;
    const unsigned elements = role == MatrixRole::kA   ? shape->m * shape->k
                              : role == MatrixRole::kB ? shape->k * shape->n
                                                       : shape->m * shape->n;
    return set_fragment(fragment, instruction.operands[operand],
                        elements / kLanesPerWarp / fragment.elements_per_register(), operand == 0);
  };
  const bool is_complete = shape && instruction.modifiers.has(kAligned) && instruction.modifiers.has(kRow) &&
                           instruction.modifiers.has(kCol) && !(is_float_product && matrix.saturates) &&
                           is_mma_form(*shape, instruction.types) && set(matrix.sources[0], a, MatrixRole::kA, 1) &&
                           set(matrix.sources[1], b, MatrixRole::kB, 2) &&
                           set(matrix.sources[2], c, MatrixRole::kAccumulator, 3) &&
                           set(matrix.destination, d, MatrixRole::kAccumulator, 0);
  if (!is_complete) return static_cast<void>(emit(DispatchKind::kUnsupported));
  emit_matrix_operation(matrix).exactness = is_float_product ? Exactness::kApproximate : Exactness::kExact;
}

}  // namespace assay::ptx
