// Rules for asynchronous products of matrices by a warpgroup: wgmma.
#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "backends/ptx/instructions/lanes/matrices.hpp"
#include "backends/ptx/lower/lowering.hpp"

namespace assay::ptx {

namespace {

using Kind = Operand::Kind;
using enum Modifier;

constexpr unsigned kWarpsPerWarpgroup = 4;

bool is_half(Type type) { return type == Type::kF16 || type == Type::kBf16; }

/// Whether wgmma has the shape for the types of d, a and b.
bool is_wgmma_form(MatrixShape shape, Type d, Type a, Type b) {
  const bool is_integer = is_byte(a) && is_byte(b);
  constexpr unsigned kRowBytes = 32;
  if (shape.m != 64 || shape.k * bytes_of(a) != kRowBytes) return false;
  // Products of integers lack most odd multiples of 8.
  if (is_integer) return d == Type::kS32 && (shape.n % 16 == 0 || shape.n == 8 || shape.n == 24);
  if (is_small_float(a) && is_small_float(b)) return d == Type::kF16 || d == Type::kF32;
  if (a != b) return false;
  if (a == Type::kF16) return d == Type::kF16 || d == Type::kF32;
  return d == Type::kF32 && (a == Type::kBf16 || a == Type::kTf32);
}

}  // namespace

/// The slots of 32-bit registers that an instruction reads and writes; empty if the operand consists of others.
std::vector<FrameSlot> Lowering::sum_registers(const Operand& operand) const {
  std::vector<FrameSlot> slots;
  const std::span<const Operand> elements =
      operand.kind == Kind::kVector ? std::span(operand.elements) : std::span(&operand, 1);
  for (const Operand& element : elements) {
    if (element.kind != Kind::kRegister || bytes_of(function_->registers[element.index].type) != 4) return {};
    slots.push_back(current_state_->register_slots[element.index]);
  }
  return slots;
}

/// wgmma.mma_async d, a, b, scale-d, and for floats the signs of a and b, and for halves whether a (in shared memory)
/// and b are transposed.
void Lowering::lower_warpgroup_product() {
  const Instruction& instruction = *current_instruction_;
  const auto& operands = instruction.operands;
  const auto& [d_type, a_type, b_type, unused] = instruction.types;
  WarpgroupProductOp product{
      .a_type = a_type, .b_type = b_type, .sum_type = d_type, .shape = instruction.warpgroup_shape};
  const auto reject = [&] { emit(DispatchKind::kUnsupported); };
  if (!is_wgmma_form(product.shape, d_type, a_type, b_type) || !instruction.modifiers.has(kAligned)) return reject();
  product.saturates = instruction.modifiers.has(kSatfinite);
  if (product.saturates && d_type != Type::kS32) return reject();
  const auto has_type = [&](const Operand& operand, auto is_wanted) {
    return operand.kind == Kind::kRegister && is_wanted(function_->registers[operand.index].type);
  };
  const auto is_descriptor = [&](const Operand& operand) {
    return has_type(operand, [](Type type) { return bytes_of(type) == 8; });
  };
  const bool is_a_in_shared = operands.size() > 1 && operands[1].kind != Kind::kVector;
  const std::size_t sign_count = is_float(d_type) ? 2 : 0;
  const std::size_t transposition_count = !is_half(a_type) ? 0 : is_a_in_shared ? 2 : 1;
  constexpr std::size_t kRequired = 4;
  if (operands.size() != kRequired + sign_count + transposition_count) return reject();
  product.sums = sum_registers(operands[0]);
  const std::size_t sum_count = product.shape.n * bytes_of(d_type) / 8;
  const bool has_predicate =
      operands[3].kind == Kind::kInteger || has_type(operands[3], [](Type type) { return type == Type::kPred; });
  if (product.sums.size() != sum_count || !is_descriptor(operands[2]) || !has_predicate) return reject();
  if (is_a_in_shared) {
    if (!is_descriptor(operands[1])) return reject();
    product.a_descriptor = source(operands[1], 8, Type::kB64);
  } else {
    // A warp has 16 of the 64 rows.
    product.a = {.type = a_type,
                 .role = MatrixRole::kA,
                 .shape = {product.shape.m / kWarpsPerWarpgroup, product.shape.n, product.shape.k}};
    constexpr std::size_t kRegistersOfA = 4;
    const bool are_words = std::ranges::all_of(operands[1].elements, [&](const Operand& element) {
      return has_type(element, [](Type type) { return bytes_of(type) == 4; });
    });
    if (!are_words || !set_fragment(product.a, operands[1], kRegistersOfA, false)) return reject();
  }
  product.b_descriptor = source(operands[2], 8, Type::kB64);
  product.adds_sums = source_predicate(operands[3]);
  const std::span rest(operands.data() + kRequired, sign_count + transposition_count);
  const auto is_integer = [](const Operand& operand) { return operand.kind == Kind::kInteger; };
  if (!std::ranges::all_of(rest, is_integer)) return reject();
  constexpr std::uint64_t kMinusOne = ~std::uint64_t{0};
  const auto is_sign = [](const Operand& operand) { return operand.value == 1 || operand.value == kMinusOne; };
  const auto is_flag = [](const Operand& operand) { return operand.value <= 1; };
  if (!std::ranges::all_of(rest.first(sign_count), is_sign) || !std::ranges::all_of(rest.subspan(sign_count), is_flag))
    return reject();
  if (sign_count != 0) {
    product.negates_a = rest[0].value == kMinusOne;
    product.negates_b = rest[1].value == kMinusOne;
  }
  if (transposition_count == 2) product.is_a_transposed = rest[sign_count].value == 1;
  if (transposition_count != 0) product.is_b_transposed = rest.back().value == 1;
  product.memory_index = add_memory_op(
      {.access = Access::kLoad, .space = Space::kShared, .type = Type::kB64, .has_no_base = true, .element_count = 2});
  const FrameSlot all_lanes = constant(kAllLanes, 4);
  Op& op = emit(DispatchKind::kWarpgroupProduct);
  op.e = all_lanes;
  op.exactness = is_float(d_type) ? Exactness::kApproximate : Exactness::kExact;
  op.memory_or_call_index = static_cast<std::uint32_t>(kernel_.warpgroup_product_ops.size());
  kernel_.warpgroup_product_ops.push_back(std::move(product));
}

/// wgmma.fence, wgmma.commit_group and wgmma.wait_group. The number of groups that may be unfinished after a wait goes
/// to `immediate`.
void Lowering::lower_warpgroup_control() {
  const Instruction& instruction = *current_instruction_;
  if (!instruction.modifiers.has(kAligned)) return static_cast<void>(emit(DispatchKind::kUnsupported));
  const FrameSlot all_lanes = constant(kAllLanes, 4);
  Op& op = emit(DispatchKind::kWarpgroupControl);
  op.e = all_lanes;
  op.immediate = instruction.operands.empty() ? 0 : instruction.operands[0].value;
}

}  // namespace assay::ptx
