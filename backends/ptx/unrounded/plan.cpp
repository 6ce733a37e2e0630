#include "backends/ptx/unrounded/plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <unordered_set>

#include "backends/ptx/instructions/lanes/lanes.hpp"

namespace assay::ptx {

namespace {

using enum Modifier;

bool is_float_arithmetic(const Instruction& instruction) {
  if (!is_float(instruction.type)) return false;
  switch (instruction.opcode) {
    case Opcode::kAbs:
    case Opcode::kAdd:
    case Opcode::kCopysign:
    case Opcode::kCos:
    case Opcode::kDiv:
    case Opcode::kEx2:
    case Opcode::kFma:
    case Opcode::kLg2:
    case Opcode::kMad:
    case Opcode::kMax:
    case Opcode::kMin:
    case Opcode::kMul:
    case Opcode::kNeg:
    case Opcode::kRcp:
    case Opcode::kRsqrt:
    case Opcode::kSin:
    case Opcode::kSqrt:
    case Opcode::kSub:
    case Opcode::kTanh: return true;
    default: return false;
  }
}

/// Conversions to and from floats of 8 bits or less: rounding to so few digits is deliberate.
bool rounds_to_small_floats(const Instruction& instruction) {
  return is_pair_of_small_floats(instruction.type) || is_pair_of_small_floats(instruction.source_type);
}

/// Whether lowering added the op to an instruction, to move a value between registers of different widths.
bool is_resizing(const Op& op) {
  for (const InstructionHandlers& handlers :
       {select_narrowing(), select_widening(true), select_widening(false), select_predicate_not()})
    if (op.full_warp_handler == handlers.full_warp_handler) return true;
  return false;
}

/// Whether an op without access to memory copies a value: a move, or an access to a parameter that is in registers.
bool is_move(const Op& op) {
  const Opcode opcode = op.instruction->opcode;
  return opcode == Opcode::kMov || opcode == Opcode::kLd || opcode == Opcode::kSt;
}

bool is_constant(FrameSlot slot) { return (slot.bits & FrameSlot::kConstantFrameBit) != 0; }

/// Adding and subtracting such a constant rounds to an integer, because the result has no digits for fractions.
bool is_magic(const UnroundedOperand& operand, Type type) {
  if (operand.constant == nullptr) return false;
  const double magnitude = std::abs(operand.constant->values[0]);
  return std::isfinite(magnitude) && magnitude >= (type == Type::kF64 ? 0x1p51 : 0x1p22);
}

/// Whether the instruction takes the lower half of a word, as cvt.u16.u32 does.
bool takes_lower_half(const Instruction& instruction) {
  return instruction.opcode == Opcode::kCvt && !is_float(instruction.type) && !is_float(instruction.source_type) &&
         bytes_of(instruction.type) == 2 && bytes_of(instruction.source_type) == 4 && !instruction.modifiers.has(kSat);
}

}  // namespace

UnroundedPlan::UnroundedPlan(const Kernel& kernel) : kernel_(kernel) {
  find_constant_registers();
  find_registers();
  ops_.reserve(kernel.ops.size());
  for (const Op& op : kernel.ops)
    ops_.push_back(plan(op));
  for (const MemoryOp& memory : kernel.memory_ops) {
    std::array<UnroundedOperand, 4>& operands = memory_operands_.emplace_back();
    const Type type = bytes_of(memory.type) == 4 ? Type::kF32 : single(memory.type);
    for (std::size_t i = 0; i < operands.size(); ++i)
      operands[i] = operand(memory.values[i], type);
  }
}

/// Registers that only one instruction writes, which copies a constant.
void UnroundedPlan::find_constant_registers() {
  std::unordered_map<std::uint32_t, int> write_counts;
  for (const Op& op : kernel_.ops) {
    ++write_counts[op.d.bits];
    ++write_counts[op.d2.bits];
    for (const std::uint32_t index : kernel_.memory_ops_of(op)) {
      if (kernel_.memory_ops[index].access == Access::kStore) continue;
      for (const FrameSlot slot : kernel_.memory_ops[index].values)
        ++write_counts[slot.bits];
    }
    if (op.dispatch_kind == DispatchKind::kWarpgroupProduct) {
      for (const FrameSlot slot : kernel_.warpgroup_product_ops[op.memory_or_call_index].sums)
        write_counts[slot.bits] += 2;  // the product also reads it
    }
    if (const TensorMemoryOp* const tensor = kernel_.tensor_memory_op(op)) {
      for (const FrameSlot slot : tensor->destinations())
        ++write_counts[slot.bits];
    }
    if (op.dispatch_kind != DispatchKind::kMatrixOperation) continue;
    for (const FrameSlot slot : kernel_.matrix_ops[op.memory_or_call_index].destination.registers)
      ++write_counts[slot.bits];
  }
  for (const Op& op : kernel_.ops) {
    const bool copies_constant = op.dispatch_kind == DispatchKind::kHandlerOnly && !op.is_guarded &&
                                 op.instruction->opcode == Opcode::kMov && op.instruction->type != Type::kPred &&
                                 op.instruction->operands[1].kind != Operand::Kind::kVector && is_constant(op.a) &&
                                 !is_resizing(op);
    if (copies_constant && write_counts[op.d.bits] == 1) constant_slot_by_register_.emplace(op.d.bits, op.a);
  }
  find_coefficient_registers(write_counts);
}

/// Registers that every instruction that writes them sets to a constant, to one of two constants, or to such a
/// register. Math libraries choose the coefficients of a polynomial in this way.
void UnroundedPlan::find_coefficient_registers(const std::unordered_map<std::uint32_t, int>& write_counts) {
  std::unordered_map<std::uint32_t, std::vector<FrameSlot>> sources;
  std::unordered_map<std::uint32_t, int> choice_counts;
  for (const Op& op : kernel_.ops) {
    const Opcode opcode = op.instruction->opcode;
    const bool is_choice = op.dispatch_kind == DispatchKind::kHandlerOnly && op.instruction->type != Type::kPred &&
                           !is_resizing(op) &&
                           (opcode == Opcode::kSelp ||
                            (opcode == Opcode::kMov && op.instruction->operands[0].kind != Operand::Kind::kVector &&
                             op.instruction->operands[1].kind != Operand::Kind::kVector));
    if (!is_choice) continue;
    ++choice_counts[op.d.bits];
    sources[op.d.bits].push_back(op.a);
    if (opcode == Opcode::kSelp) sources[op.d.bits].push_back(op.b);
  }
  std::erase_if(sources, [&](const auto& entry) { return choice_counts[entry.first] != write_counts.at(entry.first); });
  const auto is_known = [&](FrameSlot slot) { return is_constant(slot) || sources.contains(slot.bits); };
  const auto depends_on_others = [&](const auto& entry) { return !std::ranges::all_of(entry.second, is_known); };
  while (std::erase_if(sources, depends_on_others) > 0) {
  }
  for (const auto& [slot_bits, _] : sources) {
    std::vector<FrameSlot>& constants = coefficients_by_register_[slot_bits];
    std::unordered_set<std::uint32_t> seen{slot_bits};
    std::vector<std::uint32_t> registers{slot_bits};
    while (!registers.empty()) {
      const std::uint32_t next = registers.back();
      registers.pop_back();
      for (const FrameSlot source : sources.at(next)) {
        if (is_constant(source)) constants.push_back(source);
        else if (seen.insert(source.bits).second) registers.push_back(source.bits);
      }
    }
  }
}

/// Whether the operand is always a constant, and at least one of its possible values is rounded.
bool UnroundedPlan::is_rounded_coefficient(FrameSlot slot, Type type) {
  const auto is_rounded = [&](FrameSlot constant) { return operand(constant, type).constant->errors[0] > 0; };
  if (is_constant(slot)) return is_rounded(slot);
  const auto found = coefficients_by_register_.find(slot.bits);
  return found != coefficients_by_register_.end() && std::ranges::any_of(found->second, is_rounded);
}

bool UnroundedPlan::mark(FrameSlot slot) {
  if (slot.bits == 0 || is_constant(slot)) return false;
  return index_by_slot_.try_emplace(slot.bits, static_cast<std::int32_t>(index_by_slot_.size())).second;
}

/// Whether the destination of a computing instruction may have unrounded values.
bool UnroundedPlan::may_write(const Op& op) const {
  const Instruction& instruction = *op.instruction;
  if (is_float_arithmetic(instruction)) return true;
  if (instruction.opcode == Opcode::kSetp || instruction.opcode == Opcode::kTestp || instruction.type == Type::kPred)
    return false;
  if (takes_lower_half(instruction)) return is_marked(op.a);
  if (instruction.opcode == Opcode::kCvt && (!is_float(instruction.type) || !is_float(instruction.source_type)))
    return false;
  if (rounds_to_small_floats(instruction)) return false;
  if (is_move(op) && is_constant(op.a)) return bytes_of(instruction.type) == 4;
  for (const FrameSlot slot : {op.a, op.b, op.c})
    if (is_marked(slot)) return true;
  return instruction.opcode == Opcode::kCvt || instruction.opcode == Opcode::kSelp;
}

/// Values spread from floats and from memory through copies and bit operations, also along loops.
void UnroundedPlan::find_registers() {
  for (bool grows = true; grows;) {
    grows = false;
    for (const Op& op : kernel_.ops) {
      if (op.dispatch_kind == DispatchKind::kHandlerOnly) {
        if (!is_resizing(op) && may_write(op)) grows |= mark(op.d);
      } else if (op.dispatch_kind == DispatchKind::kWarpOperation) {
        const bool moves_floats = op.instruction->opcode == Opcode::kShfl || is_float(op.instruction->type);
        if (moves_floats && is_marked(op.a)) grows |= mark(op.d);
      } else if (op.dispatch_kind == DispatchKind::kMemory) {
        const MemoryOp& memory = kernel_.memory_ops[op.memory_or_call_index];
        if (memory.access == Access::kStore || bytes_of(memory.type) < 2) continue;
        const unsigned count = memory.access == Access::kAtomic ? 1 : memory.element_count;
        for (unsigned i = 0; i < count; ++i)
          grows |= mark(memory.values[i]);
      } else if (op.dispatch_kind == DispatchKind::kWarpgroupProduct) {
        for (const FrameSlot slot : kernel_.warpgroup_product_ops[op.memory_or_call_index].sums)
          grows |= mark(slot);
      } else if (op.dispatch_kind == DispatchKind::kTensorMemory) {
        for (const FrameSlot slot : kernel_.tensor_memory_ops[op.memory_or_call_index].destinations())
          grows |= mark(slot);
      } else if (op.dispatch_kind == DispatchKind::kMatrixOperation) {
        const Fragment& fragment = kernel_.matrix_ops[op.memory_or_call_index].destination;
        for (unsigned i = 0; i < fragment.register_count; ++i)
          grows |= mark(fragment.registers[i]);
      }
    }
  }
}

UnroundedOperand UnroundedPlan::operand(FrameSlot slot, Type type) {
  UnroundedOperand result{.register_index = register_index(slot), .slot = slot};
  if (const auto known = constant_slot_by_register_.find(slot.bits); known != constant_slot_by_register_.end())
    slot = known->second;
  if (!is_constant(slot) || !is_float(type)) return result;
  const std::uint64_t key = std::uint64_t{slot.bits} << 8U | static_cast<std::uint8_t>(type);
  const auto [found, is_new] = constants_.try_emplace(key);
  if (is_new) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, kernel_.initial_constant_frame.data() + (slot.bits & ~FrameSlot::kConstantFrameBit),
                bytes_of(type) == 8 ? 8 : 4);
    for (unsigned lane = 0; lane < kLanesPerWarp; ++lane)
      found->second.set(lane, constant_number(type, bits));
  }
  result.constant = &found->second;
  return result;
}

UnroundedOp UnroundedPlan::plan(const Op& op) {
  const Instruction& instruction = *op.instruction;
  UnroundedOp result{.type = single(instruction.type), .destination_index = register_index(op.d)};
  if (op.dispatch_kind != DispatchKind::kHandlerOnly) return result;
  if (is_resizing(op)) {
    if (result.destination_index >= 0) result.effect = UnroundedEffect::kForget;
    return result;
  }
  const auto set_operands = [&](Type type) {
    result.a = operand(op.a, type);
    result.b = operand(op.b, type);
    result.c = operand(op.c, type);
  };
  const bool reads_any = is_marked(op.a) || is_marked(op.b) || is_marked(op.c);
  if (is_float_arithmetic(instruction)) {
    result.is_pair = result.type != instruction.type;
    // Constants of a pair have different halves, so the rounded halves are used.
    set_operands(result.is_pair ? Type::kNone : result.type);
    const bool adds = instruction.opcode == Opcode::kAdd || instruction.opcode == Opcode::kSub;
    const bool is_fused = instruction.opcode == Opcode::kFma || instruction.opcode == Opcode::kMad;
    const bool rounds_on_purpose = (adds && (is_magic(result.a, result.type) || is_magic(result.b, result.type))) ||
                                   (is_fused && is_magic(result.c, result.type));
    result.is_polynomial_step = is_fused && !result.is_pair && is_rounded_coefficient(op.c, result.type);
    result.effect = rounds_on_purpose ? UnroundedEffect::kForget : UnroundedEffect::kArithmetic;
    return result;
  }
  switch (instruction.opcode) {
    case Opcode::kSetp:
      result.type = single(instruction.source_type);
      set_operands(result.type);
      if (reads_any && is_float(result.type) && result.type == instruction.source_type)
        result.effect = UnroundedEffect::kComparison;
      return result;
    case Opcode::kCvt: {
      const bool is_integral = instruction.modifiers.first_of(std::array{kRni, kRzi, kRmi, kRpi}).has_value();
      set_operands(single(instruction.source_type));
      if (result.destination_index < 0) return result;
      result.is_pair = result.type != instruction.type;
      const bool converts = is_float(instruction.type) && is_float(instruction.source_type) && !is_integral &&
                            !rounds_to_small_floats(instruction);
      result.effect = takes_lower_half(instruction) ? UnroundedEffect::kUnpacking
                      : converts                    ? UnroundedEffect::kConversion
                                                    : UnroundedEffect::kForget;
      return result;
    }
    case Opcode::kLd:
    case Opcode::kSt:
    case Opcode::kMov: {
      const auto is_vector = [&](std::size_t i) {
        return instruction.opcode == Opcode::kMov && i < instruction.operands.size() &&
               instruction.operands[i].kind == Operand::Kind::kVector;
      };
      if (result.destination_index < 0) return result;
      set_operands(bytes_of(instruction.type) == 4 && !is_vector(1) ? Type::kF32 : Type::kNone);
      result.effect = is_vector(0)   ? UnroundedEffect::kUnpacking
                      : is_vector(1) ? UnroundedEffect::kPacking
                                     : UnroundedEffect::kCopy;
      const bool moves_integer = result.a.constant != nullptr && !is_float(instruction.type) &&
                                 !is_plausible_float(result.a.constant->values[0]);
      if (moves_integer) result.effect = UnroundedEffect::kForget;
      return result;
    }
    case Opcode::kSelp:
      if (result.destination_index < 0) return result;
      set_operands(bytes_of(instruction.type) == 4 ? Type::kF32 : single(instruction.type));
      result.effect = UnroundedEffect::kSelection;
      return result;
    default: break;
  }
  if (result.destination_index < 0) return result;
  set_operands(Type::kNone);
  result.effect = reads_any && bytes_of(instruction.type) <= 4 ? UnroundedEffect::kBits : UnroundedEffect::kForget;
  return result;
}

}  // namespace assay::ptx
