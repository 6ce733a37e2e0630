// Rules for warp-wide operations and barriers.
#include <algorithm>

#include "backends/ptx/lower/lowering.hpp"

namespace assay::ptx {

namespace {

using Kind = Operand::Kind;
using enum Modifier;

}  // namespace

/// bar.sync a, b; bar.arrive a, b; bar.red d, a, b, p. The barrier's number goes to b, the thread count to c; if
/// omitted, the count is 0, which means all threads of the block.
void Lowering::lower_barrier() {
  const Instruction& instruction = *current_instruction_;
  const auto& operands = instruction.operands;
  const bool reduces = instruction.modifiers.has(kRed);
  const std::size_t number = reduces ? 1 : 0;
  const std::size_t least = reduces ? 3 : 1;
  if (operands.size() < least || operands.size() > least + 1)
    return static_cast<void>(emit(DispatchKind::kUnsupported));
  const bool counted = operands.size() == least + 1;
  const FrameSlot a = reduces ? source_predicate(operands.back()) : FrameSlot{};
  const FrameSlot b = source(operands[number], 4, Type::kU32);
  const FrameSlot c = counted ? source(operands[number + 1], 4, Type::kU32) : constant(0, 4);
  const FrameSlot d = reduces ? destination(operands[0], 4) : FrameSlot{};
  Op& op = emit(DispatchKind::kBarrier);
  op.a = a;
  op.b = b;
  op.c = c;
  op.d = d;
}

/// The mask of lanes goes to e, sources to a, b and c.
void Lowering::lower_warp() {
  const Instruction& instruction = *current_instruction_;
  const auto& operands = instruction.operands;
  Op op;
  const auto word = [&](std::size_t i) { return source(operands[i], 4, Type::kB32); };
  const unsigned bytes = std::max(4U, bytes_of(instruction.type));
  const auto results = [&] {
    const bool pair = operands[0].kind == Kind::kPair;
    op.d = destination(pair ? operands[0].elements[0] : operands[0], 4);
    if (pair) op.d2 = destination(pair ? operands[0].elements[1] : operands[0], 4);
  };
  const std::size_t expected = instruction.opcode == Opcode::kBarWarp ? 1
                               : instruction.opcode == Opcode::kElect ? 2
                               : instruction.opcode == Opcode::kShfl  ? 5
                                                                      : 3;
  if (operands.size() != expected) return static_cast<void>(emit(DispatchKind::kUnsupported));
  op.e = word(expected - 1);
  if (instruction.opcode != Opcode::kBarWarp) {
    if (instruction.opcode == Opcode::kVote) {
      op.a = source_predicate(operands[1]);
    } else if (instruction.opcode != Opcode::kElect) {
      op.a = source(operands[1], bytes, instruction.type);
    }
    if (instruction.opcode == Opcode::kShfl) {
      op.b = word(2);
      op.c = word(3);
    }
    results();
  }
  Op& emitted = emit(DispatchKind::kWarpOperation);
  emitted.a = op.a;
  emitted.b = op.b;
  emitted.c = op.c;
  emitted.e = op.e;
  emitted.d = op.d;
  emitted.d2 = op.d2;
}

}  // namespace assay::ptx
