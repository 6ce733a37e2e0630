// Rules for operations of a warp on matrices.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <span>

#include "backends/ptx/instructions/lanes/matrices.hpp"
#include "backends/ptx/lower/lowering.hpp"

namespace assay::ptx {

namespace {

using enum Modifier;

/// Whether wmma has the shape for the type of a or b.
bool has_wmma_shape(Type type, MatrixShape shape) {
  return (shape == MatrixShape{16, 16, 8}) == (type == Type::kTf32) && shape.m * shape.n == 256 && shape.k >= 8;
}

bool has_wmma_type(const Fragment& fragment) {
  if (fragment.role == MatrixRole::kAccumulator) {
    // The shape for tf32 has sums of type f32.
    return fragment.type == Type::kF32 ||
           ((fragment.type == Type::kF16 || fragment.type == Type::kS32) && has_wmma_shape(Type::kF16, fragment.shape));
  }
  const bool is_factor = fragment.type == Type::kF16 || fragment.type == Type::kBf16 || fragment.type == Type::kTf32 ||
                         is_byte(fragment.type);
  return is_factor && has_wmma_shape(fragment.type, fragment.shape);
}

/// Whether wmma.mma has the shape for the types of d, a, b and c.
bool is_wmma_form(MatrixShape shape, const std::array<Type, 4>& types) {
  const auto& [d, a, b, c] = types;
  if (a != b || !has_wmma_shape(a, shape)) return false;
  const auto is_sum = [](Type type) { return type == Type::kF16 || type == Type::kF32; };
  if (a == Type::kF16) return is_sum(d) && is_sum(c);
  return d == c && d == (is_byte(a) ? Type::kS32 : Type::kF32);
}

unsigned mma_register_count(const Fragment& fragment) {
  const auto [rows, columns] = extents_of(fragment);
  return rows * columns / kLanesPerWarp / fragment.elements_per_register();
}

/// Factors of type f16 have 8 registers, even if these hold each element several times.
unsigned wmma_register_count(const Fragment& fragment) {
  return fragment.type == Type::kF16 && fragment.role != MatrixRole::kAccumulator ? 8 : mma_register_count(fragment);
}

/// Whether mma has the shape for the types of d, a, b and c.
bool is_mma_form(MatrixShape shape, const std::array<Type, 4>& types) {
  const auto& [d, a, b, c] = types;
  const auto has_shape = [&](std::initializer_list<MatrixShape> shapes) {
    return c == d && std::ranges::find(shapes, shape) != shapes.end();
  };
  if (is_byte(a) && is_byte(b)) return d == Type::kS32 && has_shape({{8, 8, 16}, {16, 8, 16}, {16, 8, 32}});
  if (is_small_float(a) && is_small_float(b)) return (d == Type::kF16 || d == Type::kF32) && has_shape({{16, 8, 32}});
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

/// mma or wmma.mma d, a, b, c. The PTX manual leaves the order and the rounding of floating-point sums open.
void Lowering::lower_matrix_product() {
  const Instruction& instruction = *current_instruction_;
  const Modifiers& modifiers = instruction.modifiers;
  const bool is_wmma = instruction.opcode == Opcode::kWmmaMma;
  // wmma.mma names only the types of d and c if a and b are f16.
  const std::array<Type, 4> types = instruction.types[2] != Type::kNone ? instruction.types
                                                                        : std::array{instruction.types[0], Type::kF16,
                                                                                     Type::kF16, instruction.types[1]};
  const auto& [d, a, b, c] = types;
  const std::optional<MatrixShape> shape = find_matrix_shape(modifiers);
  const bool is_float_product = is_float(d);
  MatrixOp matrix{.saturates = modifiers.has(kSatfinite)};
  const auto set = [&](Fragment& fragment, Type type, MatrixRole role, std::size_t operand) {
    fragment = {.type = type, .role = role, .shape = *shape, .has_wmma_layout = is_wmma};
    return set_fragment(fragment, instruction.operands[operand],
                        is_wmma ? wmma_register_count(fragment) : mma_register_count(fragment), operand == 0);
  };
  const bool has_layouts =
      is_wmma ? modifiers.has(kRow) || modifiers.has(kCol) : modifiers.has(kRow) && modifiers.has(kCol);
  const bool is_complete =
      shape && modifiers.has(kAligned) && has_layouts && !(is_float_product && matrix.saturates) &&
      (is_wmma ? is_wmma_form(*shape, types) : is_mma_form(*shape, types)) &&
      set(matrix.sources[0], a, MatrixRole::kA, 1) && set(matrix.sources[1], b, MatrixRole::kB, 2) &&
      set(matrix.sources[2], c, MatrixRole::kAccumulator, 3) && set(matrix.destination, d, MatrixRole::kAccumulator, 0);
  if (!is_complete) return static_cast<void>(emit(DispatchKind::kUnsupported));
  emit_matrix_operation(matrix).exactness = is_float_product ? Exactness::kApproximate : Exactness::kExact;
}

/// wmma.load d, [address], stride and wmma.store [address], a, stride.
void Lowering::lower_wmma_move() {
  const Instruction& instruction = *current_instruction_;
  const Modifiers& modifiers = instruction.modifiers;
  const auto& operands = instruction.operands;
  const bool is_load = instruction.opcode == Opcode::kWmmaLoad;
  const std::optional<Modifier> name = modifiers.first_of(std::array{kA, kB, kC, kD});
  const std::optional<MatrixShape> shape = find_matrix_shape(modifiers);
  if (!name || !shape) return static_cast<void>(emit(DispatchKind::kUnsupported));
  const MatrixRole role = *name == kA ? MatrixRole::kA : *name == kB ? MatrixRole::kB : MatrixRole::kAccumulator;
  MatrixOp matrix{.is_transposed = modifiers.has(kCol)};
  Fragment& fragment = is_load ? matrix.destination : matrix.sources[0];
  fragment = {.type = instruction.type, .role = role, .shape = *shape, .has_wmma_layout = true};
  MemoryOp memory{.access = is_load ? Access::kLoad : Access::kStore, .type = instruction.type};
  Op address;
  set_address(memory, address, operands[is_load ? 1 : 0], space_of(modifiers));
  const bool is_stored = role == MatrixRole::kAccumulator && *name == kD;
  const bool is_complete = modifiers.has(kAligned) && modifiers.has(kRow) != modifiers.has(kCol) &&
                           is_load != is_stored && has_wmma_type(fragment) &&
                           set_fragment(fragment, operands[is_load ? 0 : 1], wmma_register_count(fragment), is_load);
  if (!is_complete) return static_cast<void>(emit(DispatchKind::kUnsupported));
  const auto [rows, columns] = extents_of(fragment);
  matrix.stride =
      operands.size() > 2 ? source(operands[2], 4, Type::kU32) : constant(matrix.is_transposed ? rows : columns, 4);
  matrix.memory_index = add_memory_op(memory);
  Op& op = emit_matrix_operation(matrix);
  op.a = address.a;
  op.immediate = address.immediate;
}

}  // namespace assay::ptx
