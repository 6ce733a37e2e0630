#include "backends/ptx/instructions/lanes/lanes.hpp"

namespace assay::ptx {

namespace {

struct Selectors {
  InstructionHandlers (*integer)(const Instruction&);
  InstructionHandlers (*bits)(const Instruction&);
  InstructionHandlers (*floating)(const Instruction&);
  InstructionHandlers (*half)(const Instruction&);
  InstructionHandlers (*special)(const Instruction&);
  InstructionHandlers (*convert)(const Instruction&);
  InstructionHandlers (*predicate)(const Instruction&);
  InstructionHandlers (*move)(const Instruction&);
  InstructionHandlers (*narrowing)();
  InstructionHandlers (*widening)(bool);
  InstructionHandlers (*predicate_not)();
  InstructionHandlers (*extract)(unsigned, unsigned);
  InstructionHandlers (*insert)(unsigned, unsigned);
};

#define ASSAY_PTX_SELECTORS(isa)                                                                                   \
  Selectors {                                                                                                      \
    isa::select_integer, isa::select_bits, isa::select_float, isa::select_half, isa::select_special,               \
        isa::select_convert, isa::select_predicate, isa::select_move, isa::select_narrowing, isa::select_widening, \
        isa::select_predicate_not, isa::select_extract, isa::select_insert                                         \
  }

const Selectors& selectors() {
#if defined(__x86_64__)
  static const Selectors chosen = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
                                      ? ASSAY_PTX_SELECTORS(avx2)
                                      : ASSAY_PTX_SELECTORS(baseline);
#else
  static const Selectors chosen = ASSAY_PTX_SELECTORS(baseline);
#endif
  return chosen;
}
#undef ASSAY_PTX_SELECTORS

bool is_half(Type type) {
  return type == Type::kF16 || type == Type::kBf16 || type == Type::kF16x2 || type == Type::kBf16x2;
}

}  // namespace

InstructionHandlers select_handlers(const Instruction& instruction) {
  const Selectors& select = selectors();
  const Type type = instruction.type;
  switch (instruction.opcode) {
    case Opcode::kSetp:
    case Opcode::kTestp:
    case Opcode::kSet: return select.predicate(instruction);
    case Opcode::kCvt: return select.convert(instruction);
    case Opcode::kSelp:
    case Opcode::kSlct: return select.move(instruction);
    default: break;
  }
  if (type == Type::kPred) return select.predicate(instruction);
  if (instruction.opcode == Opcode::kMov) return select.move(instruction);
  if (instruction.category == InstructionCategory::kSpecialFunction) return select.special(instruction);
  if (is_half(type)) return select.half(instruction);
  if (is_float(type)) return select.floating(instruction);
  if (const InstructionHandlers handlers = select.bits(instruction)) return handlers;
  return select.integer(instruction);
}

InstructionHandlers select_narrowing() { return selectors().narrowing(); }
InstructionHandlers select_widening(bool is_signed) { return selectors().widening(is_signed); }
InstructionHandlers select_predicate_not() { return selectors().predicate_not(); }
InstructionHandlers select_extract(unsigned from_bytes, unsigned bytes) {
  return selectors().extract(from_bytes, bytes);
}
InstructionHandlers select_insert(unsigned to_bytes, unsigned bytes) { return selectors().insert(to_bytes, bytes); }

}  // namespace assay::ptx
