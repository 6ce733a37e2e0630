// One rule for each kind of computing or moving instruction; the other files have the other rules.
#include <algorithm>
#include <array>

#include "backends/ptx/instructions/lanes/lanes.hpp"
#include "backends/ptx/lower/lowering.hpp"

namespace assay::ptx {

namespace {

using Kind = Operand::Kind;
using enum Modifier;

Exactness fidelity_of(const Instruction& instruction) {
  if (instruction.category == InstructionCategory::kSpecialFunction) return Exactness::kApproximate;
  const bool fusible =
      instruction.opcode == Opcode::kAdd || instruction.opcode == Opcode::kSub || instruction.opcode == Opcode::kMul;
  const bool rounded = instruction.modifiers.first_of(std::array{kRn, kRz, kRm, kRp}).has_value();
  if (fusible && is_float(instruction.type) && !rounded) return Exactness::kContractible;
  return Exactness::kExact;
}

/// The value that `set` writes if the comparison holds: all ones, or one.
std::uint64_t truth_of(Type type) {
  if (type == Type::kF32) return 0x3f800000;
  if (single(type) == Type::kF16) return 0x3c00;
  if (single(type) == Type::kBf16) return 0x3f80;
  return bytes_of(type) == 2 ? 0xffff : 0xffffffff;
}

/// The sizes of the result and the sources of a computing instruction, in bytes.
struct Shape {
  unsigned result;
  std::array<unsigned, 4> sources;
};

Shape shape_of(const Instruction& instruction) {
  const unsigned bytes = bytes_of(instruction.type);
  const unsigned from = bytes_of(instruction.source_type);
  switch (instruction.opcode) {
    case Opcode::kMulWide: return {2 * bytes, {bytes, bytes}};
    case Opcode::kMadWide: return {2 * bytes, {bytes, bytes, 2 * bytes}};
    case Opcode::kShl:
    case Opcode::kShr: return {bytes, {bytes, 4}};
    case Opcode::kBfe: return {bytes, {bytes, 4, 4}};
    case Opcode::kBfi: return {bytes, {bytes, bytes, 4, 4}};
    case Opcode::kPopc:
    case Opcode::kClz:
    case Opcode::kBfind: return {4, {bytes}};
    case Opcode::kCvt: return {bytes, {from, from}};
    case Opcode::kSlct: return {bytes, {bytes, bytes, from}};
    default: return {bytes, {bytes, bytes, bytes, bytes}};
  }
}

}  // namespace

void Lowering::lower_instruction(const Instruction& instruction) {
  current_instruction_ = &instruction;
  switch (instruction.opcode) {
    case Opcode::kUnsupported: emit(DispatchKind::kUnsupported); break;
    case Opcode::kIsspacep: lower_space_test(); break;
    case Opcode::kTestp: lower_class_test(); break;
    case Opcode::kBra: emit(DispatchKind::kBranch).target_op_index = instruction.operands[0].index; break;
    case Opcode::kBrx: lower_indexed_branch(); break;
    case Opcode::kClusterBarrier:
    case Opcode::kMapa:
    case Opcode::kGetctarank: lower_cluster_operation(); break;
    case Opcode::kTensorMap: lower_tensor_map(); break;
    case Opcode::kCall: lower_call(); break;
    case Opcode::kRet: emit(DispatchKind::kReturn); break;
    case Opcode::kExit: emit(DispatchKind::kExit); break;
    case Opcode::kTrap: emit(DispatchKind::kTrap); break;
    case Opcode::kMembar:
      emit(instruction.modifiers.has(Modifier::kCta) ? DispatchKind::kNoEffect : DispatchKind::kFence);
      break;
    case Opcode::kNanosleep:
    case Opcode::kPrefetch: emit(DispatchKind::kNoEffect); break;
    case Opcode::kActivemask: emit(DispatchKind::kActiveMask).d = destination(instruction.operands[0], 4); break;
    case Opcode::kBar: lower_barrier(); break;
    case Opcode::kBarWarp:
    case Opcode::kElect:
    case Opcode::kShfl:
    case Opcode::kVote:
    case Opcode::kMatch:
    case Opcode::kRedux: lower_warp(); break;
    case Opcode::kLd:
    case Opcode::kSt:
    case Opcode::kAtom:
    case Opcode::kRed: lower_memory(); break;
    case Opcode::kCpAsync: lower_async_copy(); break;
    case Opcode::kCpAsyncCommit:
    case Opcode::kCpAsyncWait: lower_async_copy_control(); break;
    case Opcode::kLdmatrix:
    case Opcode::kStmatrix: lower_matrix_move(); break;
    case Opcode::kMma:
    case Opcode::kWmmaMma: lower_matrix_product(); break;
    case Opcode::kMbarrier: lower_mbarrier(); break;
    case Opcode::kBulkCopy:
      if (instruction.modifiers.has(Modifier::kTensor)) lower_tensor_copy();
      else lower_bulk_copy();
      break;
    case Opcode::kBulkCopyControl:
      emit(DispatchKind::kBulkCopyControl).immediate = instruction.operands.empty() ? 0 : instruction.operands[0].value;
      break;
    case Opcode::kWgmma: lower_warpgroup_product(); break;
    case Opcode::kWgmmaControl: lower_warpgroup_control(); break;
    case Opcode::kTensorMemory: lower_tensor_memory(); break;
    case Opcode::kTensorProduct: lower_tensor_operation(); break;
    case Opcode::kProxyFence: {
      if (instruction.modifiers.has(Modifier::kTensorMapProxy)) {
        lower_tensor_map_fence();
        break;
      }
      const bool orders_accesses = instruction.modifiers.has(Modifier::kAsync);
      emit(orders_accesses ? DispatchKind::kProxyFence : DispatchKind::kNoEffect);
      break;
    }
    case Opcode::kGriddepcontrol:
    case Opcode::kSetmaxnreg: emit(DispatchKind::kNoEffect); break;
    case Opcode::kWmmaLoad:
    case Opcode::kWmmaStore: lower_wmma_move(); break;
    case Opcode::kMov: lower_move(); break;
    case Opcode::kCvta:
    case Opcode::kCvtaTo: lower_cvta(); break;
    case Opcode::kSetp:
    case Opcode::kSet: lower_comparison(); break;
    default: lower_compute(); break;
  }
  finish_destinations(is_signed(instruction.type));
}

void Lowering::lower_compute() {
  const Instruction& instruction = *current_instruction_;
  const auto& operands = instruction.operands;
  Op op;
  if (instruction.type == Type::kPred) {
    op.a = op.b = source_predicate(operands[1]);
    if (operands.size() > 2) op.b = source_predicate(operands[2]);
    op.d = current_state_->register_slots[operands[0].index];
  } else {
    const Shape shape = shape_of(instruction);
    FrameSlot* const sources[] = {&op.a, &op.b, &op.c, &op.e};
    for (std::size_t i = 1; i < operands.size() && i <= 4; ++i) {
      const bool is_predicate =
          operands[i].kind == Kind::kRegister && function_->registers[operands[i].index].type == Type::kPred;
      if (instruction.opcode == Opcode::kLop3 && i == 4) {
        op.immediate = operands[i].value;
      } else if (is_predicate || (instruction.opcode == Opcode::kSelp && i == 3)) {
        *sources[i - 1] = source_predicate(operands[i]);
      } else {
        const Type type = instruction.opcode == Opcode::kCvt ? instruction.source_type : instruction.type;
        *sources[i - 1] = source(operands[i], shape.sources[i - 1], type);
      }
    }
    op.d = destination(operands[0], shape.result);
  }
  Op& emitted = emit(DispatchKind::kHandlerOnly, select_handlers(instruction));
  emitted.a = op.a;
  // Handlers with three sources read all of them.
  emitted.b = operands.size() > 2 || instruction.type == Type::kPred ? op.b : op.a;
  emitted.c = operands.size() > 3 ? op.c : op.a;
  emitted.e = op.e;
  emitted.d = op.d;
  emitted.immediate = op.immediate;
  emitted.exactness = fidelity_of(instruction);
}

void Lowering::lower_comparison() {
  const Instruction& instruction = *current_instruction_;
  const auto& operands = instruction.operands;
  const unsigned bytes = bytes_of(instruction.source_type);
  if (instruction.opcode == Opcode::kSet && single(instruction.type) != instruction.type && operands.size() != 3)
    return static_cast<void>(emit(DispatchKind::kUnsupported));
  const FrameSlot a = source(operands[1], bytes, instruction.source_type);
  const FrameSlot b = source(operands[2], bytes, instruction.source_type);
  const FrameSlot c = operands.size() > 3 ? source_predicate(operands[3]) : FrameSlot{};
  FrameSlot d;
  FrameSlot d2;
  if (instruction.opcode == Opcode::kSet) {
    d = destination(operands[0], bytes_of(instruction.type));
  } else if (operands[0].kind == Kind::kPair) {
    d = destination(operands[0].elements[0], 4);
    d2 = destination(operands[0].elements[1], 4);
  } else {
    d = destination(operands[0], 4);
  }
  Op& op = emit(DispatchKind::kHandlerOnly, select_handlers(instruction));
  op.a = a;
  op.b = b;
  op.c = c;
  op.d = d;
  op.d2 = d2;
  op.immediate = truth_of(instruction.type);
}

void Lowering::lower_class_test() {
  const FrameSlot a =
      source(current_instruction_->operands[1], bytes_of(current_instruction_->type), current_instruction_->type);
  const FrameSlot d = destination(current_instruction_->operands[0], 4);
  Op& op = emit(DispatchKind::kHandlerOnly, select_handlers(*current_instruction_));
  op.a = op.b = op.c = a;
  op.d = d;
}

void Lowering::lower_move() {
  const Instruction& instruction = *current_instruction_;
  const auto& operands = instruction.operands;
  if (operands[0].kind == Kind::kVector) return lower_unpack(operands[0], operands[1]);
  if (operands[1].kind == Kind::kVector) return lower_pack(operands[0], operands[1]);
  const bool is_function = operands[1].kind == Kind::kSymbol && operands[1].symbol_kind == SymbolKind::kFunction;
  if (is_function) return static_cast<void>(emit(DispatchKind::kUnsupported));
  lower_compute();
}

void Lowering::lower_pack(const Operand& whole, const Operand& parts) {
  const unsigned bytes = bytes_of(current_instruction_->type);
  const unsigned part = bytes / std::max<unsigned>(1, static_cast<unsigned>(parts.elements.size()));
  const FrameSlot d = destination(whole, bytes);
  for (std::size_t i = 0; i < parts.elements.size(); ++i) {
    const FrameSlot a = source(parts.elements[i], part, Type::kNone);
    Op& op = emit(DispatchKind::kHandlerOnly, select_insert(bytes, part));
    op.a = a;
    op.b = op.c = op.d = d;
    op.immediate = 8 * part * i;
  }
}

void Lowering::lower_unpack(const Operand& parts, const Operand& whole) {
  const unsigned bytes = bytes_of(current_instruction_->type);
  const unsigned part = bytes / std::max<unsigned>(1, static_cast<unsigned>(parts.elements.size()));
  const FrameSlot a = source(whole, bytes, Type::kNone);
  for (std::size_t i = 0; i < parts.elements.size(); ++i) {
    if (parts.elements[i].kind == Kind::kSink) continue;
    const FrameSlot d = destination(parts.elements[i], part);
    Op& op = emit(DispatchKind::kHandlerOnly, select_extract(bytes, part));
    op.a = op.b = op.c = a;
    op.d = d;
    op.immediate = 8 * part * i;
  }
}

}  // namespace assay::ptx
