#include "backends/ptx/lower/lowering.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "backends/ptx/instructions/lanes/lanes.hpp"
#include "backends/ptx/lower/guess_loads.hpp"

namespace assay::ptx {

namespace {

using Kind = Operand::Kind;

constexpr std::uint32_t kMaxFrameBytes = 1U << 28U;
constexpr std::uint64_t kMaxLocalBytes = std::uint64_t{1} << 19U;

Instruction plain(Opcode opcode, Type type) {
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.type = instruction.source_type = type;
  return instruction;
}

}  // namespace

Result<void> Lowering::run() {
  if (const auto checked = check_recursion(function_index(*kernel_.entry_function), {}); !checked)
    return checked.error();
  for (const Function& function : kernel_.module->functions)
    has_matrix_descriptors_ |= std::ranges::any_of(function.instructions, [](const Instruction& instruction) {
      return instruction.opcode == Opcode::kWgmma || instruction.opcode == Opcode::kTensorProduct ||
             (instruction.opcode == Opcode::kBulkCopy && instruction.modifiers.has(Modifier::kTensor));
    });
  kernel_.warp_frame_bytes = 256;  // for results without a destination
  state_of(function_index(*kernel_.entry_function));
  for (std::size_t next = 0; next < queued_function_indices_.size(); ++next)
    lower_function(queued_function_indices_[next]);
  for (Op& op : kernel_.ops) {
    if (op.dispatch_kind == DispatchKind::kCall)
      op.target_op_index = function_states_.at(op.target_op_index).first_op_index;
  }
  kernel_.index_accesses();
  kernel_.is_order_sensitive_by_op = find_order_sensitive_ops(kernel_);
  if (kernel_.warp_frame_bytes > kMaxFrameBytes) return Error{"the kernel has too many registers", place()};
  if (std::uint64_t{kernel_.local_word_count} * 4 > kMaxLocalBytes) {
    return Error{fmt::format("the kernel needs {} bytes of local memory per thread, but at most {} are supported",
                             std::uint64_t{kernel_.local_word_count} * 4, kMaxLocalBytes),
                 place()};
  }
  return {};
}

std::string Lowering::place() const {
  return fmt::format("{}: {}", kernel_.module->name, kernel_.entry_function->name);
}

std::uint32_t Lowering::function_index(const Function& function) const {
  return static_cast<std::uint32_t>(&function - kernel_.module->functions.data());
}

Result<void> Lowering::check_recursion(std::uint32_t index, std::set<std::uint32_t> callers) const {
  if (!callers.insert(index).second) {
    return Error{fmt::format("recursive call of '{}' is not supported", kernel_.module->functions[index].name),
                 place()};
  }
  std::set<std::uint32_t> callees;
  for (const Instruction& instruction : kernel_.module->functions[index].instructions) {
    if (instruction.opcode == Opcode::kCall) callees.insert(instruction.operands[0].index);
  }
  for (const std::uint32_t callee : callees) {
    if (const auto checked = check_recursion(callee, callers); !checked) return checked.error();
  }
  return {};
}

Lowering::FunctionState& Lowering::state_of(std::uint32_t index) {
  const auto [found, added] = function_states_.try_emplace(index);
  FunctionState& state = found->second;
  if (!added) return state;
  queued_function_indices_.push_back(index);
  const Function& function = kernel_.module->functions[index];
  for (const Register& each : function.registers) {
    state.register_slots.push_back(each.type == Type::kPred ? new_predicate() : new_slot(bytes_of(each.type)));
  }
  if (!function.is_entry && !register_parameters_.uses_registers(index)) {
    for (const Variable& parameter : function.parameters)
      state.parameters.push_back(new_local(parameter));
    for (const Variable& result : function.return_values)
      state.parameters.push_back(new_local(result));
  }
  for (std::uint32_t i = 0; i < function.variables.size(); ++i) {
    const Variable& variable = function.variables[i];
    state.variables.push_back(register_parameters_.called_parameter(index, i) ? kInRegisters
                              : variable.space == Space::kShared              ? new_shared(variable)
                                                                              : new_local(variable));
  }
  return state;
}

void Lowering::lower_function(std::uint32_t index) {
  current_state_ = &state_of(index);
  function_ = &kernel_.module->functions[index];
  current_state_->first_op_index = static_cast<std::uint32_t>(kernel_.ops.size());
  find_local_addresses();
  count_register_occurrences();
  find_copied_values();
  current_state_->guess_loads = find_guess_loads(*function_);
  std::vector<std::uint32_t> starts;
  for (const Instruction& instruction : function_->instructions) {
    starts.push_back(static_cast<std::uint32_t>(kernel_.ops.size()));
    lower_instruction(interpreted(instruction));
  }
  starts.push_back(static_cast<std::uint32_t>(kernel_.ops.size()));
  static const Instruction kEnd = plain(Opcode::kRet, Type::kNone);
  current_instruction_ = &kEnd;
  emit(DispatchKind::kReturn);  // for a body that ends without ret
  for (std::size_t i = current_state_->first_op_index; i < kernel_.ops.size(); ++i) {
    if (kernel_.ops[i].dispatch_kind == DispatchKind::kBranch)
      kernel_.ops[i].target_op_index = starts[kernel_.ops[i].target_op_index];
    if (kernel_.ops[i].dispatch_kind != DispatchKind::kIndexedBranch) continue;
    for (std::uint32_t& target : kernel_.branch_targets[kernel_.ops[i].memory_or_call_index])
      target = starts[target];
  }
}

// ------------------------------------------------------------------------------------------------ places for values

FrameSlot Lowering::new_slot(unsigned bytes) {
  const std::uint32_t offset = kernel_.warp_frame_bytes;
  kernel_.warp_frame_bytes += bytes == 8 ? 256 : 128;
  return {offset};
}

FrameSlot Lowering::new_predicate() {
  // Predicates are allocated in groups that fill a cache line: 16 words of 4 bytes.
  if (free_predicate_count_ == 0) {
    next_predicate_offset_ = kernel_.warp_frame_bytes;
    kernel_.warp_frame_bytes += 64;
    free_predicate_count_ = 16;
  }
  --free_predicate_count_;
  return {std::exchange(next_predicate_offset_, next_predicate_offset_ + 4)};
}

std::uint32_t Lowering::new_local(const Variable& variable) {
  kernel_.local_word_count = (kernel_.local_word_count + 3) / 4 * 4;
  kernel_.local_variables.push_back(
      {.name = variable.name, .bytes = variable.bytes, .first_word_index = kernel_.local_word_count});
  kernel_.local_word_count += static_cast<std::uint32_t>((std::min(variable.bytes, 2 * kMaxLocalBytes) + 3) / 4);
  return static_cast<std::uint32_t>(kernel_.local_variables.size() - 1);
}

std::uint32_t Lowering::new_shared(const Variable& variable) {
  // Compilers may read a variable up to the end of its alignment, e.g. load four elements at once if three are left.
  const std::uint64_t alignment = std::max<std::uint64_t>(variable.alignment, 1);
  Kernel::Variable added{.name = variable.name,
                         .bytes = (variable.bytes + alignment - 1) / alignment * alignment,
                         .padding_bytes = (alignment - variable.bytes % alignment) % alignment,
                         .is_dynamically_sized = variable.bytes == 0};
  if (has_matrix_descriptors_ && !kernel_.shared_variables.empty()) {
    const Kernel::Variable& last = kernel_.shared_variables.back();
    added.shared_offset =
        static_cast<std::uint32_t>((last.shared_offset + last.bytes + alignment - 1) / alignment * alignment);
  }
  kernel_.shared_variables.push_back(std::move(added));
  return static_cast<std::uint32_t>(kernel_.shared_variables.size() - 1);
}

FrameSlot Lowering::constant(std::uint64_t value, unsigned bytes) {
  const auto [found, added] = constant_slots_.try_emplace({value, bytes}, FrameSlot{});
  if (!added) return found->second;
  const std::size_t offset = kernel_.initial_constant_frame.size();
  const unsigned width = bytes == 8 ? 8 : 4;
  kernel_.initial_constant_frame.resize(offset + std::size_t{kLanesPerWarp} * width);
  for (unsigned i = 0; i < kLanesPerWarp; ++i)
    std::memcpy(kernel_.initial_constant_frame.data() + offset + std::size_t{i} * width, &value, width);
  found->second = {static_cast<std::uint32_t>(offset) | FrameSlot::kConstantFrameBit};
  return found->second;
}

FrameSlot Lowering::special(SpecialRegister which) {
  for (const Kernel::SpecialRegisterSlot& known : kernel_.special_registers) {
    if (known.special_register == which) return known.slot;
  }
  kernel_.special_registers.push_back({which, new_slot(4)});
  return kernel_.special_registers.back().slot;
}

/// The time, or its upper half, as a word of `width` bytes.
FrameSlot Lowering::time(SpecialRegister which, unsigned width) {
  const FrameSlot slot = new_slot(8);
  Op& op = emit(DispatchKind::kTime);
  op.d = slot;
  op.immediate = which == SpecialRegister::kTimeHigh ? 32 : 0;
  return width == 8 ? slot : resized(slot, 4, false);
}

/// The address of a symbol in its own space; for a module variable, through a relocated constant.
std::optional<std::uint64_t> Lowering::constant_address(const Operand& symbol) {
  switch (symbol.symbol_kind) {
    case SymbolKind::kParameter:
      return symbol.value + (function_->is_entry ? function_->parameters[symbol.index].offset
                                                 : local_address(current_state_->parameters[symbol.index]));
    case SymbolKind::kBodyVariable:
      return symbol.value + (function_->variables[symbol.index].space == Space::kShared
                                 ? shared_address(current_state_->variables[symbol.index])
                                 : local_address(current_state_->variables[symbol.index]));
    case SymbolKind::kVariable: {
      const Variable& variable = kernel_.module->variables[symbol.index];
      if (variable.space != Space::kShared) return std::nullopt;
      const auto [found, added] = shared_variable_indices_.try_emplace(symbol.index, 0);
      if (added) found->second = new_shared(variable);
      return symbol.value + shared_address(found->second);
    }
    default: return symbol.value;
  }
}

FrameSlot Lowering::symbol_address(const Operand& symbol) {
  if (const std::optional<std::uint64_t> address = constant_address(symbol)) return constant(*address, 8);
  const auto offset = static_cast<std::uint32_t>(kernel_.initial_constant_frame.size());
  kernel_.initial_constant_frame.resize(offset + std::size_t{kLanesPerWarp} * 8);
  kernel_.relocations.push_back({offset, symbol.index, symbol.value});
  return {offset | FrameSlot::kConstantFrameBit};
}

std::uint64_t Lowering::local_address(std::uint32_t variable) {
  return (std::uint64_t{variable} << kLocalOffsetBits) + kLocalMiddleOffset;
}
std::uint64_t Lowering::shared_address(std::uint32_t variable) const {
  return (std::uint64_t{variable + 1} << kSharedOffsetBits) + kSharedMiddleOffset +
         kernel_.shared_variables[variable].shared_offset;
}

/// A source operand as a word of `bytes` (8, or less for a word of 4).
FrameSlot Lowering::source(const Operand& operand, unsigned bytes, Type type) {
  const unsigned width = bytes == 8 ? 8 : 4;
  switch (operand.kind) {
    case Kind::kRegister: {
      const unsigned have = bytes_of(function_->registers[operand.index].type) == 8 ? 8 : 4;
      const FrameSlot slot = current_state_->register_slots[operand.index];
      return have == width ? slot : resized(slot, width, false);
    }
    case Kind::kFloat: {
      std::uint64_t bits = operand.value;
      if (operand.is_double && bytes == 4) {
        bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
      } else if (!operand.is_double && bytes == 8 && is_float(type)) {
        bits =
            std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
      }
      return constant(bits, width);
    }
    case Kind::kSpecialRegister: {
      const auto which = static_cast<SpecialRegister>(operand.index);
      if (which == SpecialRegister::kTime || which == SpecialRegister::kTimeHigh) return time(which, width);
      const FrameSlot slot = special(which);
      return width == 4 ? slot : resized(slot, 8, false);
    }
    case Kind::kSymbol: {
      const FrameSlot slot = symbol_address(operand);
      return width == 8 ? slot : resized(slot, 4, false);
    }
    default: return constant(width == 4 ? operand.value & 0xffffffff : operand.value, width);
  }
}

FrameSlot Lowering::resized(FrameSlot slot, unsigned width, bool is_signed) {
  const FrameSlot result = new_slot(width);
  Op& op = emit(DispatchKind::kHandlerOnly, width == 8 ? select_widening(is_signed) : select_narrowing());
  op.a = slot;
  op.d = result;
  return result;
}

FrameSlot Lowering::source_predicate(const Operand& operand) {
  if (operand.kind == Kind::kInteger) return constant((operand.value != 0) != operand.is_negated ? kAllLanes : 0, 4);
  FrameSlot slot;
  if (operand.kind == Kind::kSpecialRegister) {
    Instruction compare = plain(Opcode::kSetp, Type::kU32);
    compare.modifiers.add(Modifier::kNe);
    slot = new_predicate();
    const FrameSlot number = special(static_cast<SpecialRegister>(operand.index));
    const FrameSlot zero = constant(0, 4);
    Op& op = emit(DispatchKind::kHandlerOnly, select_handlers(compare));
    op.a = op.c = number;
    op.b = zero;
    op.d = slot;
  } else {
    slot = current_state_->register_slots[operand.index];
  }
  if (!operand.is_negated) return slot;
  const FrameSlot result = new_predicate();
  Op& op = emit(DispatchKind::kHandlerOnly, select_predicate_not());
  op.a = op.b = slot;
  op.d = result;
  return result;
}

FrameSlot Lowering::destination(const Operand& operand, unsigned bytes) {
  if (operand.kind != Kind::kRegister) return {};
  const Type type = function_->registers[operand.index].type;
  const unsigned width = bytes == 8 ? 8 : 4;
  if (type == Type::kPred || (bytes_of(type) == 8 ? 8U : 4U) == width)
    return current_state_->register_slots[operand.index];
  const FrameSlot temporary = new_slot(width);
  pending_moves_.push_back({temporary, current_state_->register_slots[operand.index], width});
  return temporary;
}

/// Moves results from temporaries of another width to their destinations.
void Lowering::finish_destinations(bool is_signed) {
  for (const PendingMove& each : std::exchange(pending_moves_, {})) {
    Op& op = emit(DispatchKind::kHandlerOnly, each.width_bytes == 4 ? select_widening(is_signed) : select_narrowing());
    op.a = each.source_slot;
    op.d = each.destination_slot;
  }
}

Op& Lowering::emit(DispatchKind control, InstructionHandlers handlers) {
  Op op;
  op.dispatch_kind = control;
  op.full_warp_handler = handlers.full_warp_handler;
  op.masked_warp_handler = handlers.masked_warp_handler;
  op.instruction = current_instruction_;
  if (current_instruction_->is_guarded) {
    op.is_guarded = true;
    op.is_guard_negated = current_instruction_->guard.is_negated;
    op.guard = current_state_->register_slots[current_instruction_->guard.index];
  }
  if (control == DispatchKind::kHandlerOnly && handlers.full_warp_handler == nullptr)
    op.dispatch_kind = DispatchKind::kUnsupported;
  return kernel_.ops.emplace_back(op);
}

Result<std::shared_ptr<const Kernel>> lower(std::shared_ptr<const Module> module, std::string_view name) {
  auto kernel = std::make_shared<Kernel>();
  kernel->entry_function = module->find_entry(name);
  if (kernel->entry_function == nullptr)
    return Error{fmt::format("the PTX module has no entry point '{}'", name), module->name};
  kernel->module = std::move(module);
  if (const auto lowered = Lowering(*kernel).run(); !lowered) return lowered.error();
  return std::shared_ptr<const Kernel>(std::move(kernel));
}

}  // namespace assay::ptx
