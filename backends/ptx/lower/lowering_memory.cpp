// Rules for memory: accesses, addresses and their spaces, calls.
#include <algorithm>
#include <array>
#include <limits>

#include "backends/ptx/instructions/lanes/atomics.hpp"
#include "backends/ptx/instructions/lanes/lanes.hpp"
#include "backends/ptx/lower/lowering.hpp"

namespace assay::ptx {

namespace {

using Kind = Operand::Kind;
using enum Modifier;

/// A 64-bit addition, for addresses.
InstructionHandlers address_addition() {
  Instruction add;
  add.opcode = Opcode::kAdd;
  add.type = add.source_type = Type::kU64;
  return select_handlers(add);
}

InstructionHandlers move_of(unsigned bytes) {
  Instruction move;
  move.opcode = Opcode::kMov;
  move.type = move.source_type = bytes == 8 ? Type::kB64 : Type::kB32;
  return select_handlers(move);
}

}  // namespace

/// isspacep: the window of a generic address determines its space; all windows from a certain one on are global memory.
void Lowering::lower_space_test() {
  std::uint64_t window = kFirstAllocationWindowIndex;
  switch (space_of(current_instruction_->modifiers)) {
    case Space::kShared: window = kSharedWindowIndex; break;
    case Space::kLocal: window = kLocalWindowIndex; break;
    case Space::kParam: window = kParamWindowIndex; break;
    case Space::kGlobal: break;
    default: return static_cast<void>(emit(DispatchKind::kUnsupported));
  }
  Instruction shift;
  shift.opcode = Opcode::kShr;
  shift.type = shift.source_type = Type::kU64;
  Instruction compare;
  compare.opcode = Opcode::kSetp;
  compare.type = compare.source_type = Type::kU64;
  compare.modifiers.add(window == kFirstAllocationWindowIndex ? kGe : kEq);
  const FrameSlot address = source(current_instruction_->operands[1], 8, Type::kU64);
  const FrameSlot bits = constant(kAddressWindowBits, 4);
  const FrameSlot wanted = constant(window, 8);
  const FrameSlot found = new_slot(8);
  const FrameSlot d = destination(current_instruction_->operands[0], 4);
  Op& shifted = emit(DispatchKind::kHandlerOnly, select_handlers(shift));
  shifted.a = shifted.c = address;
  shifted.b = bits;
  shifted.d = found;
  Op& compared = emit(DispatchKind::kHandlerOnly, select_handlers(compare));
  compared.a = compared.c = found;
  compared.b = wanted;
  compared.d = d;
}

/// Generic addresses of global memory are unchanged; those of the other spaces lie in windows.
void Lowering::lower_cvta() {
  const Instruction& instruction = *current_instruction_;
  if (bytes_of(instruction.type) != 8) return static_cast<void>(emit(DispatchKind::kUnsupported));
  std::uint64_t window = 0;
  switch (space_of(instruction.modifiers)) {
    case Space::kShared: window = kSharedWindowIndex << kAddressWindowBits; break;
    case Space::kLocal: window = kLocalWindowIndex << kAddressWindowBits; break;
    case Space::kParam: window = kParamWindowIndex << kAddressWindowBits; break;
    default: break;
  }
  const FrameSlot a = source(instruction.operands[1], 8, instruction.type);
  const FrameSlot b = constant(instruction.opcode == Opcode::kCvta ? window : 0 - window, 8);
  const FrameSlot d = destination(instruction.operands[0], 8);
  Op& op = emit(DispatchKind::kHandlerOnly, address_addition());
  op.a = a;
  op.b = b;
  op.d = d;
}

/// NVRTC computes the address of a function's local variables once, at the start. With few optimizations, most accesses
/// use this address, so their addresses are known here.
void Lowering::find_local_addresses() {
  std::vector<std::uint32_t> assignment_counts(function_->registers.size());
  const auto count = [&](const Operand& operand, const auto& self) -> void {
    if (operand.kind == Kind::kRegister) ++assignment_counts[operand.index];
    if (operand.kind == Kind::kVector || operand.kind == Kind::kPair) {
      for (const Operand& element : operand.elements)
        self(element, self);
    }
  };
  // Every register that is the first operand counts, even if the instruction only reads it; so does every one of a
  // call.
  for (const Instruction& instruction : function_->instructions) {
    const std::size_t most = instruction.opcode == Opcode::kCall ? instruction.operands.size() : 1;
    for (std::size_t i = 0; i < std::min(most, instruction.operands.size()); ++i)
      count(instruction.operands[i], count);
  }
  std::map<std::uint32_t, std::uint64_t>& known = current_state_->local_addresses;
  const auto value_of = [&](const Operand& operand) -> std::optional<std::uint64_t> {
    if (operand.kind == Kind::kRegister) {
      const auto found = known.find(operand.index);
      return found == known.end() ? std::nullopt : std::optional(found->second);
    }
    const bool is_local = operand.kind == Kind::kSymbol && operand.symbol_kind == SymbolKind::kBodyVariable &&
                          function_->variables[operand.index].space == Space::kLocal;
    return is_local ? constant_address(operand) : std::nullopt;
  };
  for (const Instruction& original : function_->instructions) {
    const Instruction& instruction = interpreted(original);
    const auto& operands = instruction.operands;
    if (instruction.is_guarded || operands.size() < 2 || operands[0].kind != Kind::kRegister ||
        assignment_counts[operands[0].index] != 1 || bytes_of(instruction.type) != 8)
      continue;
    const std::optional<std::uint64_t> value = value_of(operands[1]);
    if (!value) continue;
    constexpr std::uint64_t kWindow = kLocalWindowIndex << kAddressWindowBits;
    const bool is_local_conversion = space_of(instruction.modifiers) == Space::kLocal;
    if (instruction.opcode == Opcode::kMov) known[operands[0].index] = *value;
    if (instruction.opcode == Opcode::kCvta && is_local_conversion) known[operands[0].index] = *value + kWindow;
    if (instruction.opcode == Opcode::kCvtaTo && is_local_conversion) known[operands[0].index] = *value - kWindow;
    if (instruction.opcode == Opcode::kAdd && operands.size() == 3 && operands[2].kind == Kind::kInteger)
      known[operands[0].index] = *value + operands[2].value;
  }
}

void Lowering::count_register_occurrences() {
  std::vector<std::uint32_t>& counts = current_state_->register_occurrence_counts;
  counts.assign(function_->registers.size(), 0);
  const auto count = [&](const Operand& operand, const auto& self) -> void {
    if (operand.kind == Kind::kRegister) ++counts[operand.index];
    for (const Operand& element : operand.elements)
      self(element, self);
  };
  for (const Instruction& instruction : function_->instructions) {
    for (const Operand& operand : instruction.operands)
      count(operand, count);
    if (instruction.is_guarded) count(instruction.guard, count);
  }
}

/// Whether a load or store is known to access local memory, which also contains parameters that are not in registers.
bool Lowering::is_access_to_local_memory(const Instruction& instruction) const {
  const bool is_load = instruction.opcode == Opcode::kLd;
  if (!is_load && instruction.opcode != Opcode::kSt) return false;
  const Space space = space_of(instruction.modifiers);
  if (space == Space::kGlobal || space == Space::kShared) return false;
  const Operand& base = instruction.operands[is_load ? 1 : 0].elements[0];
  if (base.kind == Kind::kRegister) return current_state_->local_addresses.contains(base.index);
  if (base.kind != Kind::kSymbol) return false;
  const std::optional<ParameterAccess> access = parameter_access(*function_, instruction);
  if (access && register_parameter(*access)) return false;
  if (base.symbol_kind == SymbolKind::kParameter) return !function_->is_entry;
  if (base.symbol_kind != SymbolKind::kBodyVariable) return false;
  const Space own = function_->variables[base.index].space;
  return own == Space::kLocal || own == Space::kParam;
}

/// Unoptimized code copies structs with their padding, through registers that it uses for nothing else.
void Lowering::find_copied_values() {
  struct Use {
    std::uint32_t loads = 0;
    std::uint32_t stores = 0;
    unsigned bytes = 0;  ///< size of all accesses
    bool has_one_size = true;
  };
  std::vector<Use> uses(function_->registers.size());
  for (const Instruction& instruction : function_->instructions) {
    if (!is_access_to_local_memory(instruction)) continue;
    const bool is_load = instruction.opcode == Opcode::kLd;
    const unsigned bytes = bytes_of(instruction.type);
    const auto count = [&](const Operand& element) {
      if (element.kind != Kind::kRegister) return;
      Use& use = uses[element.index];
      ++(is_load ? use.loads : use.stores);
      use.has_one_size = use.has_one_size && (use.bytes == 0 || use.bytes == bytes);
      use.bytes = bytes;
    };
    const Operand& data = instruction.operands[is_load ? 0 : 1];
    count(data);
    std::ranges::for_each(data.elements, count);
  }
  for (std::uint32_t i = 0; i < uses.size(); ++i) {
    const Use& use = uses[i];
    const bool fits = (use.bytes == 8) == (bytes_of(function_->registers[i].type) == 8);
    if (use.loads > 0 && use.stores > 0 && use.has_one_size && fits &&
        use.loads + use.stores == current_state_->register_occurrence_counts[i] &&
        kernel_.copied_register_count < std::numeric_limits<std::uint16_t>::max())
      current_state_->copy_numbers[i] = ++kernel_.copied_register_count;
  }
}

/// See MemoryOp::unused_element_count.
std::uint8_t Lowering::unused_elements(const Operand& vector) const {
  const auto is_unused = [&](const Operand& element) {
    return element.kind == Kind::kSink ||
           (element.kind == Kind::kRegister && current_state_->register_occurrence_counts[element.index] == 1);
  };
  const auto last_used = std::ranges::find_if_not(vector.elements.rbegin(), vector.elements.rend(), is_unused);
  return static_cast<std::uint8_t>(last_used - vector.elements.rbegin());
}

/// An address in local memory that is known before the launch.
void Lowering::set_local_address(MemoryOp& memory, Op& op, std::uint64_t address) {
  memory.space = Space::kLocal;
  memory.has_no_base = true;
  op.immediate = address & ((std::uint64_t{1} << kAddressWindowBits) - 1);
}

void Lowering::set_address(MemoryOp& memory, Op& op, const Operand& address, Space space) {
  const Operand& base = address.elements[0];
  op.immediate = address.value;
  memory.space = space;
  if (base.kind == Kind::kRegister) {
    if (const auto known = current_state_->local_addresses.find(base.index);
        known != current_state_->local_addresses.end()) {
      const std::uint64_t sum = known->second + address.value;
      const std::uint64_t window = space == Space::kGeneric ? kLocalWindowIndex : 0;
      if ((space == Space::kGeneric || space == Space::kLocal) && sum >> kAddressWindowBits == window)
        return set_local_address(memory, op, sum);
    }
    memory.has_64_bit_base = bytes_of(function_->registers[base.index].type) == 8;
    op.a = current_state_->register_slots[base.index];
  } else if (base.kind == Kind::kSymbol) {
    op.a = symbol_address(base);
    const bool is_kernel_parameter = base.symbol_kind == SymbolKind::kParameter && function_->is_entry;
    if (memory.space == Space::kParam && !is_kernel_parameter) memory.space = Space::kLocal;
    if (memory.space == Space::kGeneric && base.symbol_kind == SymbolKind::kBodyVariable) {
      memory.space = function_->variables[base.index].space;
    }
    if (memory.space == Space::kGeneric && base.symbol_kind == SymbolKind::kVariable) {
      memory.space = kernel_.module->variables[base.index].space;
    }
    if (const std::optional<std::uint64_t> known = constant_address(base); known && memory.space == Space::kLocal)
      set_local_address(memory, op, *known + address.value);
  } else {
    memory.has_no_base = true;
    op.immediate += base.value;
  }
}

/// An atomic on a vector is atomic only for each element, so it is one atomic for each.
void Lowering::lower_vector_atomic(const MemoryOp& common, const Op& address, Modifier operation) {
  const Instruction& instruction = *current_instruction_;
  const std::size_t count = instruction.modifiers.has(kV4) ? 4 : 2;
  const unsigned bytes = bytes_of(instruction.type);
  const auto& operands = instruction.operands;
  const auto is_vector = [&](const Operand& operand) {
    return operand.kind == Kind::kVector && operand.elements.size() == count;
  };
  if (!is_vector(operands.back()) || (common.returns_old_value && !is_vector(operands[0])))
    return static_cast<void>(emit(DispatchKind::kUnsupported));
  // All sources are read before the first destination is written.
  std::vector<MemoryOp> elements(count, common);
  for (std::size_t i = 0; i < count; ++i) {
    elements[i].atomic_operation = operation;
    elements[i].values[1] = source(operands.back().elements[i], bytes, instruction.type);
    if (common.returns_old_value) elements[i].values[0] = destination(operands[0].elements[i], bytes);
  }
  for (std::size_t i = 0; i < count; ++i) {
    Op& op = emit(DispatchKind::kMemory);
    op.a = address.a;
    op.immediate = address.immediate + i * bytes;
    op.exactness = Exactness::kOrderDependent;
    op.memory_or_call_index = add_memory_op(elements[i]);
  }
}

std::optional<RegisterParameters::CalledParameter> Lowering::register_parameter(const ParameterAccess& access) const {
  const RegisterParameters::CalledParameter own{function_index(*function_), access.symbol_index};
  if (access.is_of_variable) return register_parameters_.called_parameter(own.function, access.symbol_index);
  return register_parameters_.uses_registers(own.function) ? std::optional(own) : std::nullopt;
}

/// An access to a parameter in registers: a move of each element.
bool Lowering::lower_register_parameter() {
  const Instruction& instruction = *current_instruction_;
  const bool is_load = instruction.opcode == Opcode::kLd;
  const std::optional<ParameterAccess> access = parameter_access(*function_, instruction);
  const auto parameter = access ? register_parameter(*access) : std::nullopt;
  if (!parameter) return false;
  const Operand& data = instruction.operands[is_load ? 0 : 1];
  for (unsigned i = 0; i < access->element_count; ++i) {
    const Operand& element = data.kind == Kind::kVector ? data.elements[i] : data;
    const ParameterField field{parameter->parameter, access->offset + std::uint64_t{i} * access->bytes, access->bytes};
    const auto [known, is_new] = state_of(parameter->function).parameter_slots.try_emplace(field);
    if (is_new) known->second = new_slot(access->bytes);
    const FrameSlot slot = known->second;
    const FrameSlot from = is_load ? slot : source(element, access->bytes, instruction.type);
    const FrameSlot to = is_load ? destination(element, access->bytes) : slot;
    Op& op = emit(DispatchKind::kHandlerOnly, move_of(access->bytes));
    op.a = op.b = op.c = from;
    op.d = to;
  }
  return true;
}

void Lowering::lower_memory() {
  if (lower_register_parameter()) return;
  const Instruction& instruction = *current_instruction_;
  const Modifiers& modifiers = instruction.modifiers;
  const auto& operands = instruction.operands;
  const unsigned bytes = bytes_of(instruction.type);
  const bool is_load = instruction.opcode == Opcode::kLd;
  const bool is_atomic = instruction.opcode == Opcode::kAtom || instruction.opcode == Opcode::kRed;
  MemoryOp memory{.type = instruction.type};
  Op op;
  memory.access = is_load ? Access::kLoad : is_atomic ? Access::kAtomic : Access::kStore;
  memory.non_coherent = modifiers.has(kNc);
  memory.is_strong = modifiers.first_of(std::array{kVolatile, kRelaxed, kAcquire, kRelease}).has_value();
  memory.is_volatile = modifiers.has(kVolatile);
  memory.is_guess = current_state_->guess_loads.contains(&instruction);
  memory.has_block_scope = modifiers.has(kCta);
  memory.releases = modifiers.first_of(std::array{kRelease, kAcqRel}).has_value();
  memory.acquires = modifiers.first_of(std::array{kAcquire, kAcqRel}).has_value();
  memory.returns_old_value = instruction.opcode == Opcode::kAtom;
  const std::size_t address = instruction.opcode == Opcode::kLd || instruction.opcode == Opcode::kAtom ? 1 : 0;
  set_address(memory, op, operands[address], space_of(modifiers));
  if (is_atomic) {
    const auto operation = modifiers.first_of(std::array{kAdd, kAnd, kOr, kXor, kMin, kMax, kInc, kDec, kExch, kCas});
    if (!operation || find_atomic(*operation, instruction.type, true) == nullptr) {
      return static_cast<void>(emit(DispatchKind::kUnsupported));
    }
    if (modifiers.first_of(std::array{kV2, kV4})) return lower_vector_atomic(memory, op, *operation);
    memory.atomic_operation = *operation;
    memory.values[1] = source(operands[address + 1], bytes, instruction.type);
    if (operands.size() > address + 2) memory.values[2] = source(operands[address + 2], bytes, instruction.type);
    if (memory.returns_old_value) memory.values[0] = destination(operands[0], bytes);
    op.exactness = is_float(instruction.type) ? Exactness::kOrderDependent : Exactness::kExact;
  } else {
    const Operand& data = operands[1 - address];
    const bool is_vector = data.kind == Kind::kVector;
    memory.element_count = static_cast<std::uint8_t>(is_vector ? data.elements.size() : 1);
    for (unsigned i = 0; i < memory.element_count; ++i) {
      const Operand& element = is_vector ? data.elements[i] : data;
      memory.values[i] = is_load ? destination(element, bytes) : source(element, bytes, instruction.type);
      if (memory.space != Space::kLocal || element.kind != Kind::kRegister) continue;
      if (const auto copied = current_state_->copy_numbers.find(element.index);
          copied != current_state_->copy_numbers.end())
        memory.copy_numbers[i] = copied->second;
    }
    if (is_load && is_vector) memory.unused_element_count = unused_elements(data);
  }
  Op& emitted = emit(DispatchKind::kMemory);
  emitted.a = op.a;
  emitted.immediate = op.immediate;
  emitted.exactness = op.exactness;
  emitted.memory_or_call_index = add_memory_op(memory);
}

std::uint32_t Lowering::add_memory_op(MemoryOp memory) {
  const std::size_t index = kernel_.memory_ops.size();
  memory.race_check_number = static_cast<std::uint16_t>(std::min<std::size_t>(index + 1, kMaxRaceCheckNumber));
  kernel_.memory_ops.push_back(memory);
  return static_cast<std::uint32_t>(index);
}

/// cp.async [destination], [source], size, and optionally the number of bytes to read or a predicate that replaces the
/// source by zeros.
void Lowering::lower_async_copy() {
  const Instruction& instruction = *current_instruction_;
  const auto& operands = instruction.operands;
  const std::uint64_t bytes = operands[2].value;
  const bool has_size = bytes == 16 || (instruction.modifiers.has(kCa) && (bytes == 4 || bytes == 8));
  const bool has_spaces =
      instruction.modifiers.has(kGlobal) && instruction.modifiers.first_of(std::array{kShared, kSharedCta}).has_value();
  if (!has_size || !has_spaces) return static_cast<void>(emit(DispatchKind::kUnsupported));
  MemoryOp source_access{.access = Access::kLoad, .type = bytes == 4 ? Type::kB32 : Type::kB64};
  source_access.element_count = bytes == 16 ? 2 : 1;
  MemoryOp destination_access = source_access;
  destination_access.access = Access::kStore;
  Op source_address;
  Op destination_address;
  set_address(source_access, source_address, operands[1], Space::kGlobal);
  set_address(destination_access, destination_address, operands[0], Space::kShared);
  const bool has_predicate = operands.size() > 3 && operands[3].kind == Kind::kRegister &&
                             function_->registers[operands[3].index].type == Type::kPred;
  AsyncCopyOp copy{.source_base = source_address.a, .source_offset = source_address.immediate};
  copy.read_bytes = operands.size() > 3 && !has_predicate ? source(operands[3], 4, Type::kU32) : constant(bytes, 4);
  copy.ignores_source = has_predicate ? source_predicate(operands[3]) : constant(0, 4);
  copy.source_index = add_memory_op(source_access);
  copy.destination_index = add_memory_op(destination_access);
  Op& op = emit(DispatchKind::kAsyncCopy);
  op.a = destination_address.a;
  op.immediate = destination_address.immediate;
  op.memory_or_call_index = static_cast<std::uint32_t>(kernel_.async_copy_ops.size());
  kernel_.async_copy_ops.push_back(copy);
}

/// The number of groups that may be unfinished after a wait goes to `immediate`.
void Lowering::lower_async_copy_control() {
  const auto& operands = current_instruction_->operands;
  emit(DispatchKind::kAsyncCopyControl).immediate = operands.empty() ? 0 : operands[0].value;
}

/// A call of a function that CUDA's driver defines. The output of printf is discarded, and its result is 0.
bool Lowering::lower_system_call() {
  const Instruction& instruction = *current_instruction_;
  const Function& callee = kernel_.module->functions[instruction.operands[0].index];
  if (callee.is_defined) return false;
  const auto& results = instruction.operands[1].elements;
  const auto& arguments = instruction.operands[2].elements;
  if (callee.name == "__assertfail" && !arguments.empty()) {
    const std::uint32_t condition = current_state_->variables[arguments[0].index];
    emit(DispatchKind::kFailedAssertion).immediate = kernel_.local_variables[condition].first_word_index;
    return true;
  }
  if (callee.name != "vprintf" || results.size() != 1) return false;
  MemoryOp memory{.access = Access::kStore, .space = Space::kLocal, .type = Type::kB32, .has_no_base = true};
  memory.values[0] = constant(0, 4);
  Op& op = emit(DispatchKind::kMemory);
  op.immediate = local_address(current_state_->variables[results[0].index]);
  op.memory_or_call_index = add_memory_op(memory);
  return true;
}

void Lowering::lower_call() {
  if (lower_system_call()) return;
  const Instruction& instruction = *current_instruction_;
  const Function& callee = kernel_.module->functions[instruction.operands[0].index];
  const auto& results = instruction.operands[1].elements;
  const auto& arguments = instruction.operands[2].elements;
  const FunctionState& target = state_of(instruction.operands[0].index);
  const auto is_variable = [](const Operand& operand) {
    return operand.kind == Kind::kSymbol && operand.symbol_kind == SymbolKind::kBodyVariable;
  };
  if (!callee.is_defined || results.size() != callee.return_values.size() ||
      arguments.size() != callee.parameters.size() || !std::ranges::all_of(results, is_variable) ||
      !std::ranges::all_of(arguments, is_variable)) {
    return static_cast<void>(emit(DispatchKind::kUnsupported));
  }
  const auto words_of = [&](std::uint32_t variable) { return kernel_.local_variables[variable].first_word_index; };
  CallOp call;
  const bool needs_copies = !register_parameters_.uses_registers(instruction.operands[0].index);
  for (std::size_t i = 0; needs_copies && i < arguments.size(); ++i) {
    call.argument_copies.push_back({words_of(current_state_->variables[arguments[i].index]),
                                    words_of(target.parameters[i]),
                                    static_cast<std::uint32_t>((callee.parameters[i].bytes + 3) / 4)});
  }
  for (std::size_t i = 0; needs_copies && i < results.size(); ++i) {
    call.result_copies.push_back({words_of(target.parameters[arguments.size() + i]),
                                  words_of(current_state_->variables[results[i].index]),
                                  static_cast<std::uint32_t>((callee.return_values[i].bytes + 3) / 4)});
  }
  Op& op = emit(DispatchKind::kCall);
  op.target_op_index = instruction.operands[0].index;
  op.memory_or_call_index = static_cast<std::uint32_t>(kernel_.call_ops.size());
  kernel_.call_ops.push_back(std::move(call));
}

}  // namespace assay::ptx
