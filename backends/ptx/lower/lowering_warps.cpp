// Rules for what lanes and warps do together.
#include <algorithm>

#include "backends/ptx/lower/lowering.hpp"

namespace assay::ptx {

namespace {

using Kind = Operand::Kind;
using enum Modifier;

}  // namespace

/// bar.sync a, b; bar.arrive a, b; bar.red d, a, b, p. The barrier's number goes to b, the count of threads to c: 0
/// where it is left out, all of the block.
void Lowering::lower_barrier() {
  const Instruction& instruction = *current_;
  const auto& operands = instruction.operands;
  const bool reduces = instruction.modifiers.has(kRed);
  const std::size_t number = reduces ? 1 : 0;
  const std::size_t least = reduces ? 3 : 1;
  if (operands.size() < least || operands.size() > least + 1) return static_cast<void>(emit(Control::kUnsupported));
  const bool counted = operands.size() == least + 1;
  const Slot a = reduces ? source_predicate(operands.back()) : Slot{};
  const Slot b = source(operands[number], 4, Type::kU32);
  const Slot c = counted ? source(operands[number + 1], 4, Type::kU32) : constant(0, 4);
  const Slot d = reduces ? destination(operands[0], 4) : Slot{};
  Op& op = emit(Control::kBarrier);
  op.a = a;
  op.b = b;
  op.c = c;
  op.d = d;
}

/// The mask of lanes goes to e, sources to a, b and c.
void Lowering::lower_warp() {
  const Instruction& instruction = *current_;
  const auto& operands = instruction.operands;
  Op op;
  const auto word = [&](std::size_t i) { return source(operands[i], 4, Type::kB32); };
  const unsigned bytes = std::max(4U, bytes_of(instruction.type));
  const auto results = [&] {
    const bool pair = operands[0].kind == Kind::kPair;
    op.d = destination(pair ? operands[0].elements[0] : operands[0], 4);
    if (pair) op.d2 = destination(pair ? operands[0].elements[1] : operands[0], 4);
  };
  const std::size_t expected = instruction.opcode == Opcode::kBarWarp ? 1 : instruction.opcode == Opcode::kShfl ? 5 : 3;
  if (operands.size() != expected) return static_cast<void>(emit(Control::kUnsupported));
  op.e = word(expected - 1);
  if (instruction.opcode != Opcode::kBarWarp) {
    if (instruction.opcode == Opcode::kVote) {
      op.a = source_predicate(operands[1]);
    } else {
      op.a = source(operands[1], bytes, instruction.type);
    }
    if (instruction.opcode == Opcode::kShfl) {
      op.b = word(2);
      op.c = word(3);
    }
    results();
  }
  Op& emitted = emit(Control::kWarp);
  emitted.a = op.a;
  emitted.b = op.b;
  emitted.c = op.c;
  emitted.e = op.e;
  emitted.d = op.d;
  emitted.d2 = op.d2;
}

}  // namespace assay::ptx
