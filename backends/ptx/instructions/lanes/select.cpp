#include "backends/ptx/instructions/lanes/lanes.hpp"

namespace assay::ptx {

namespace {

struct Selectors {
  Handlers (*integer)(const Instruction&);
  Handlers (*bits)(const Instruction&);
  Handlers (*floating)(const Instruction&);
  Handlers (*half)(const Instruction&);
  Handlers (*special)(const Instruction&);
  Handlers (*convert)(const Instruction&);
  Handlers (*predicate)(const Instruction&);
  Handlers (*move)(const Instruction&);
  Handlers (*narrowing)();
  Handlers (*widening)(bool);
  Handlers (*predicate_not)();
  Handlers (*extract)(unsigned, unsigned);
  Handlers (*insert)(unsigned, unsigned);
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

Handlers select_handlers(const Instruction& instruction) {
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
  if (instruction.category == Category::kSpecial) return select.special(instruction);
  if (is_half(type)) return select.half(instruction);
  if (is_float(type)) return select.floating(instruction);
  if (const Handlers handlers = select.bits(instruction)) return handlers;
  return select.integer(instruction);
}

Handlers select_narrowing() { return selectors().narrowing(); }
Handlers select_widening(bool is_signed) { return selectors().widening(is_signed); }
Handlers select_predicate_not() { return selectors().predicate_not(); }
Handlers select_extract(unsigned from_bytes, unsigned bytes) { return selectors().extract(from_bytes, bytes); }
Handlers select_insert(unsigned to_bytes, unsigned bytes) { return selectors().insert(to_bytes, bytes); }

}  // namespace assay::ptx
