// One rule for each kind of instruction.
#include <algorithm>
#include <array>

#include "backends/ptx/atomics.hpp"
#include "backends/ptx/lanes/lanes.hpp"
#include "backends/ptx/lowering.hpp"
#include "backends/ptx/memory.hpp"

namespace assay::ptx {

namespace {

using Kind = Operand::Kind;
using enum Modifier;

/// A 64-bit addition, for addresses.
Handlers address_addition() {
  Instruction add;
  add.opcode = Opcode::kAdd;
  add.type = add.source_type = Type::kU64;
  return select_handlers(add);
}

Space space_of(const Modifiers& modifiers) {
  if (modifiers.has(kGlobal)) return Space::kGlobal;
  if (modifiers.has(kShared) || modifiers.has(kSharedCta)) return Space::kShared;
  if (modifiers.has(kLocal)) return Space::kLocal;
  if (modifiers.has(kConst)) return Space::kConst;
  if (modifiers.has(kParam)) return Space::kParam;
  return Space::kGeneric;
}

Fidelity fidelity_of(const Instruction& instruction) {
  if (instruction.category == Category::kSpecial) return Fidelity::kApproximate;
  const bool fusible =
      instruction.opcode == Opcode::kAdd || instruction.opcode == Opcode::kSub || instruction.opcode == Opcode::kMul;
  const bool rounded = instruction.modifiers.first_of(std::array{kRn, kRz, kRm, kRp}).has_value();
  if (fusible && is_float(instruction.type) && !rounded) return Fidelity::kContractible;
  return Fidelity::kExact;
}

/// What `set` writes where the comparison holds: all ones, or one.
std::uint64_t truth_of(Type type) {
  if (type == Type::kF32) return 0x3f800000;
  if (type == Type::kF16) return 0x3c00;
  if (type == Type::kBf16) return 0x3f80;
  return bytes_of(type) == 2 ? 0xffff : 0xffffffff;
}

/// Bytes of the result and of the sources of an instruction that computes.
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
    case Opcode::kCvt: return {bytes, {from}};
    case Opcode::kSlct: return {bytes, {bytes, bytes, from}};
    default: return {bytes, {bytes, bytes, bytes, bytes}};
  }
}

}  // namespace

void Lowering::lower_instruction(const Instruction& instruction) {
  current_ = &instruction;
  switch (instruction.opcode) {
    case Opcode::kUnsupported: emit(Control::kUnsupported); break;
    case Opcode::kIsspacep: lower_space_test(); break;
    case Opcode::kTestp: lower_class_test(); break;
    case Opcode::kBra: emit(Control::kBranch).target = instruction.operands[0].index; break;
    case Opcode::kCall: lower_call(); break;
    case Opcode::kRet: emit(Control::kReturn); break;
    case Opcode::kExit: emit(Control::kExit); break;
    case Opcode::kTrap: emit(Control::kTrap); break;
    case Opcode::kMembar:
    case Opcode::kNanosleep:
    case Opcode::kPrefetch: emit(Control::kNothing); break;
    case Opcode::kActivemask: emit(Control::kActiveMask).d = destination(instruction.operands[0], 4); break;
    case Opcode::kBar: lower_barrier(); break;
    case Opcode::kBarWarp:
    case Opcode::kShfl:
    case Opcode::kVote:
    case Opcode::kMatch:
    case Opcode::kRedux: lower_warp(); break;
    case Opcode::kLd:
    case Opcode::kSt:
    case Opcode::kAtom:
    case Opcode::kRed: lower_memory(); break;
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
  const Instruction& instruction = *current_;
  const auto& operands = instruction.operands;
  Op op;
  if (instruction.type == Type::kPred) {
    op.a = op.b = source_predicate(operands[1]);
    if (operands.size() > 2) op.b = source_predicate(operands[2]);
    op.d = state_->registers[operands[0].index];
  } else {
    const Shape shape = shape_of(instruction);
    Slot* const sources[] = {&op.a, &op.b, &op.c, &op.e};
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
  Op& emitted = emit(Control::kPlain, select_handlers(instruction));
  emitted.a = op.a;
  // Handlers of three sources read all of them.
  emitted.b = operands.size() > 2 || instruction.type == Type::kPred ? op.b : op.a;
  emitted.c = operands.size() > 3 ? op.c : op.a;
  emitted.e = op.e;
  emitted.d = op.d;
  emitted.immediate = op.immediate;
  emitted.fidelity = fidelity_of(instruction);
}

void Lowering::lower_comparison() {
  const Instruction& instruction = *current_;
  const auto& operands = instruction.operands;
  const unsigned bytes = bytes_of(instruction.source_type);
  const Slot a = source(operands[1], bytes, instruction.source_type);
  const Slot b = source(operands[2], bytes, instruction.source_type);
  const Slot c = operands.size() > 3 ? source_predicate(operands[3]) : Slot{};
  Slot d;
  Slot d2;
  if (instruction.opcode == Opcode::kSet) {
    d = destination(operands[0], bytes_of(instruction.type));
  } else if (operands[0].kind == Kind::kPair) {
    d = destination(operands[0].elements[0], 4);
    d2 = destination(operands[0].elements[1], 4);
  } else {
    d = destination(operands[0], 4);
  }
  Op& op = emit(Control::kPlain, select_handlers(instruction));
  op.a = a;
  op.b = b;
  op.c = c;
  op.d = d;
  op.d2 = d2;
  op.immediate = truth_of(instruction.type);
}

void Lowering::lower_class_test() {
  const Slot a = source(current_->operands[1], bytes_of(current_->type), current_->type);
  const Slot d = destination(current_->operands[0], 4);
  Op& op = emit(Control::kPlain, select_handlers(*current_));
  op.a = op.b = op.c = a;
  op.d = d;
}

/// isspacep: the window that a generic address lies in tells its space; global memory has all windows from one on.
void Lowering::lower_space_test() {
  std::uint64_t window = kFirstAllocation;
  switch (space_of(current_->modifiers)) {
    case Space::kShared: window = kSharedWindow; break;
    case Space::kLocal: window = kLocalWindow; break;
    case Space::kParam: window = kParamWindow; break;
    case Space::kGlobal: break;
    default: return static_cast<void>(emit(Control::kUnsupported));
  }
  Instruction shift;
  shift.opcode = Opcode::kShr;
  shift.type = shift.source_type = Type::kU64;
  Instruction compare;
  compare.opcode = Opcode::kSetp;
  compare.type = compare.source_type = Type::kU64;
  compare.modifiers.add(window == kFirstAllocation ? kGe : kEq);
  const Slot address = source(current_->operands[1], 8, Type::kU64);
  const Slot bits = constant(kWindowBits, 4);
  const Slot wanted = constant(window, 8);
  const Slot found = new_slot(8);
  const Slot d = destination(current_->operands[0], 4);
  Op& shifted = emit(Control::kPlain, select_handlers(shift));
  shifted.a = shifted.c = address;
  shifted.b = bits;
  shifted.d = found;
  Op& compared = emit(Control::kPlain, select_handlers(compare));
  compared.a = compared.c = found;
  compared.b = wanted;
  compared.d = d;
}

void Lowering::lower_move() {
  const Instruction& instruction = *current_;
  const auto& operands = instruction.operands;
  if (operands[0].kind == Kind::kVector) return lower_unpack(operands[0], operands[1]);
  if (operands[1].kind == Kind::kVector) return lower_pack(operands[0], operands[1]);
  const bool is_function = operands[1].kind == Kind::kSymbol && operands[1].symbol == SymbolKind::kFunction;
  if (is_function) return static_cast<void>(emit(Control::kUnsupported));
  lower_compute();
}

void Lowering::lower_pack(const Operand& whole, const Operand& parts) {
  const unsigned bytes = bytes_of(current_->type);
  const unsigned part = bytes / std::max<unsigned>(1, static_cast<unsigned>(parts.elements.size()));
  const Slot d = destination(whole, bytes);
  for (std::size_t i = 0; i < parts.elements.size(); ++i) {
    const Slot a = source(parts.elements[i], part, Type::kNone);
    Op& op = emit(Control::kPlain, select_insert(bytes, part));
    op.a = a;
    op.b = op.c = op.d = d;
    op.immediate = 8 * part * i;
  }
}

void Lowering::lower_unpack(const Operand& parts, const Operand& whole) {
  const unsigned bytes = bytes_of(current_->type);
  const unsigned part = bytes / std::max<unsigned>(1, static_cast<unsigned>(parts.elements.size()));
  const Slot a = source(whole, bytes, Type::kNone);
  for (std::size_t i = 0; i < parts.elements.size(); ++i) {
    if (parts.elements[i].kind == Kind::kSink) continue;
    const Slot d = destination(parts.elements[i], part);
    Op& op = emit(Control::kPlain, select_extract(bytes, part));
    op.a = op.b = op.c = a;
    op.d = d;
    op.immediate = 8 * part * i;
  }
}

/// Generic addresses of global memory are its own; those of the other spaces lie in windows.
void Lowering::lower_cvta() {
  const Instruction& instruction = *current_;
  if (bytes_of(instruction.type) != 8) return static_cast<void>(emit(Control::kUnsupported));
  std::uint64_t window = 0;
  switch (space_of(instruction.modifiers)) {
    case Space::kShared: window = kSharedWindow << kWindowBits; break;
    case Space::kLocal: window = kLocalWindow << kWindowBits; break;
    case Space::kParam: window = kParamWindow << kWindowBits; break;
    default: break;
  }
  const Slot a = source(instruction.operands[1], 8, instruction.type);
  const Slot b = constant(instruction.opcode == Opcode::kCvta ? window : 0 - window, 8);
  const Slot d = destination(instruction.operands[0], 8);
  Op& op = emit(Control::kPlain, address_addition());
  op.a = a;
  op.b = b;
  op.d = d;
}

void Lowering::set_address(MemoryOp& memory, Op& op, const Operand& address) {
  const Operand& base = address.elements[0];
  op.immediate = address.value;
  memory.space = space_of(current_->modifiers);
  if (base.kind == Kind::kRegister) {
    memory.wide_address = bytes_of(function_->registers[base.index].type) == 8;
    op.a = state_->registers[base.index];
  } else if (base.kind == Kind::kSymbol) {
    op.a = symbol_address(base);
    const bool is_kernel_parameter = base.symbol == SymbolKind::kParameter && function_->entry;
    if (memory.space == Space::kParam && !is_kernel_parameter) memory.space = Space::kLocal;
    if (memory.space == Space::kGeneric && base.symbol == SymbolKind::kBodyVariable) {
      memory.space = function_->variables[base.index].space;
    }
    if (memory.space == Space::kGeneric && base.symbol == SymbolKind::kVariable) {
      memory.space = kernel_.module->variables[base.index].space;
    }
  } else {
    memory.no_base = true;
    op.immediate += base.value;
  }
}

void Lowering::lower_memory() {
  const Instruction& instruction = *current_;
  const Modifiers& modifiers = instruction.modifiers;
  const auto& operands = instruction.operands;
  const unsigned bytes = bytes_of(instruction.type);
  const bool is_load = instruction.opcode == Opcode::kLd;
  const bool is_atomic = instruction.opcode == Opcode::kAtom || instruction.opcode == Opcode::kRed;
  MemoryOp memory{.type = instruction.type};
  Op op;
  memory.access = is_load ? Access::kLoad : is_atomic ? Access::kAtomic : Access::kStore;
  memory.non_coherent = modifiers.has(kNc);
  memory.strong = modifiers.first_of(std::array{kVolatile, kRelaxed, kAcquire, kRelease}).has_value();
  memory.returns = instruction.opcode == Opcode::kAtom;
  const std::size_t address = instruction.opcode == Opcode::kLd || instruction.opcode == Opcode::kAtom ? 1 : 0;
  set_address(memory, op, operands[address]);
  if (is_atomic) {
    const auto operation = modifiers.first_of(std::array{kAdd, kAnd, kOr, kXor, kMin, kMax, kInc, kDec, kExch, kCas});
    if (!operation || find_atomic(*operation, instruction.type, true) == nullptr) {
      return static_cast<void>(emit(Control::kUnsupported));
    }
    memory.operation = *operation;
    memory.values[1] = source(operands[address + 1], bytes, instruction.type);
    if (operands.size() > address + 2) memory.values[2] = source(operands[address + 2], bytes, instruction.type);
    if (memory.returns) memory.values[0] = destination(operands[0], bytes);
    op.fidelity = is_float(instruction.type) ? Fidelity::kOrderDependent : Fidelity::kExact;
  } else {
    const Operand& data = operands[1 - address];
    const bool is_vector = data.kind == Kind::kVector;
    memory.elements = static_cast<std::uint8_t>(is_vector ? data.elements.size() : 1);
    for (unsigned i = 0; i < memory.elements; ++i) {
      const Operand& element = is_vector ? data.elements[i] : data;
      memory.values[i] = is_load ? destination(element, bytes) : source(element, bytes, instruction.type);
    }
  }
  Op& emitted = emit(Control::kMemory);
  emitted.a = op.a;
  emitted.immediate = op.immediate;
  emitted.fidelity = op.fidelity;
  emitted.detail = static_cast<std::uint32_t>(kernel_.memory_ops.size());
  memory.number = static_cast<std::uint16_t>(std::min<std::size_t>(kernel_.memory_ops.size() + 1, kMostMemoryOps));
  kernel_.memory_ops.push_back(memory);
}

void Lowering::lower_call() {
  const Instruction& instruction = *current_;
  const Function& callee = kernel_.module->functions[instruction.operands[0].index];
  const auto& results = instruction.operands[1].elements;
  const auto& arguments = instruction.operands[2].elements;
  const State& target = state_of(instruction.operands[0].index);
  const auto is_variable = [](const Operand& operand) {
    return operand.kind == Kind::kSymbol && operand.symbol == SymbolKind::kBodyVariable;
  };
  if (!callee.defined || results.size() != callee.returns.size() || arguments.size() != callee.parameters.size() ||
      !std::ranges::all_of(results, is_variable) || !std::ranges::all_of(arguments, is_variable)) {
    return static_cast<void>(emit(Control::kUnsupported));
  }
  const auto words_of = [&](std::uint32_t variable) { return kernel_.local[variable].first_word; };
  CallOp call;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    call.arguments.push_back({words_of(state_->variables[arguments[i].index]), words_of(target.parameters[i]),
                              static_cast<std::uint32_t>((callee.parameters[i].bytes + 3) / 4)});
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    call.results.push_back({words_of(target.parameters[arguments.size() + i]),
                            words_of(state_->variables[results[i].index]),
                            static_cast<std::uint32_t>((callee.returns[i].bytes + 3) / 4)});
  }
  Op& op = emit(Control::kCall);
  op.target = instruction.operands[0].index;
  op.detail = static_cast<std::uint32_t>(kernel_.calls.size());
  kernel_.calls.push_back(std::move(call));
}

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
