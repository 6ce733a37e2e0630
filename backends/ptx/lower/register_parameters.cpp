#include "backends/ptx/lower/register_parameters.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace assay::ptx {

namespace {

using Kind = Operand::Kind;

/// Whether the next instruction may not run right after this one in the same function.
bool leaves_block(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kBra:
    case Opcode::kBrx:
    case Opcode::kCall:
    case Opcode::kRet:
    case Opcode::kExit: return true;
    default: return false;
  }
}

bool is_parameter(const Function& function, const Operand& symbol) {
  if (symbol.kind != Kind::kSymbol) return false;
  if (symbol.symbol_kind == SymbolKind::kParameter) return !function.is_entry;
  return symbol.symbol_kind == SymbolKind::kBodyVariable && function.variables[symbol.index].space == Space::kParam;
}

/// Calls `use` with each symbol in an operand.
template <class Use>
void each_symbol(const Operand& operand, const Use& use) {
  if (operand.kind == Kind::kSymbol) use(operand);
  for (const Operand& element : operand.elements)
    each_symbol(element, use);
}

}  // namespace

std::optional<ParameterAccess> parameter_access(const Function& function, const Instruction& instruction) {
  const bool is_load = instruction.opcode == Opcode::kLd;
  if ((!is_load && instruction.opcode != Opcode::kSt) || space_of(instruction.modifiers) != Space::kParam)
    return std::nullopt;
  const Operand& address = instruction.operands[is_load ? 1 : 0];
  const Operand& data = instruction.operands[is_load ? 0 : 1];
  const unsigned bytes = bytes_of(instruction.type);
  if (address.kind != Kind::kAddress || !is_parameter(function, address.elements[0]) || (bytes != 4 && bytes != 8))
    return std::nullopt;
  const Operand& symbol = address.elements[0];
  return ParameterAccess{.symbol_index = symbol.index,
                         .is_of_variable = symbol.symbol_kind == SymbolKind::kBodyVariable,
                         .offset = address.value + symbol.value,
                         .bytes = bytes,
                         .element_count = data.kind == Kind::kVector ? static_cast<unsigned>(data.elements.size()) : 1,
                         .is_load = is_load,
                         .is_guarded = instruction.is_guarded};
}

RegisterParameters::RegisterParameters(const Module& module) : module_(module), functions_(module.functions.size()) {
  const auto count = static_cast<std::uint32_t>(functions_.size());
  for (std::uint32_t f = 0; f < count; ++f)
    find_uses(f);
  for (std::uint32_t f = 0; f < count; ++f)
    find_own_fields(f);
  for (std::uint32_t f = 0; f < count; ++f) {
    for (std::uint32_t i = 0; i < module.functions[f].instructions.size(); ++i)
      if (module.functions[f].instructions[i].opcode == Opcode::kCall) check_call(f, i);
  }
  for (FunctionUse& use : functions_) {
    for (auto next = use.fields.begin(); next != use.fields.end(); ++next) {
      if (next == use.fields.begin()) continue;
      const ParameterField& last = *std::prev(next);
      if (last.parameter == next->parameter && last.offset + last.bytes > next->offset) use.needs_memory = true;
    }
  }
}

std::optional<RegisterParameters::CalledParameter> RegisterParameters::called_parameter(std::uint32_t caller,
                                                                                        std::uint32_t variable) const {
  const auto& known = functions_[caller].parameters_by_variable;
  const auto found = known.find(variable);
  if (found == known.end() || !uses_registers(found->second.function)) return std::nullopt;
  return found->second;
}

/// Finds the accesses to parameters and variables, and everything else that uses them.
void RegisterParameters::find_uses(std::uint32_t f) {
  const Function& function = module_.functions[f];
  FunctionUse& use = functions_[f];
  use.needs_memory = function.is_entry || !function.is_defined;
  use.access_counts.resize(function.variables.size());
  use.call_counts.resize(function.variables.size());
  use.block_numbers.resize(function.instructions.size() + 1);
  for (std::uint32_t i = 0; i < function.instructions.size(); ++i) {
    const Instruction& instruction = function.instructions[i];
    if (leaves_block(instruction)) ++use.block_numbers[i + 1];
    for (const Operand& operand : instruction.operands) {
      if (operand.kind != Kind::kLabel) continue;
      if (operand.elements.empty()) ++use.block_numbers[operand.index];
      for (const Operand& target : operand.elements)
        ++use.block_numbers[target.index];
    }
    if (const std::optional<ParameterAccess> access = parameter_access(function, instruction)) {
      use.accesses.emplace_back(i, *access);
      if (access->is_of_variable) ++use.access_counts[access->symbol_index];
      continue;
    }
    for (const Operand& operand : instruction.operands) {
      each_symbol(operand, [&](const Operand& symbol) {
        if (!is_parameter(function, symbol)) return;
        if (symbol.symbol_kind == SymbolKind::kParameter) use.needs_memory = true;
        else if (instruction.opcode == Opcode::kCall) ++use.call_counts[symbol.index];
        else use.other_variables.insert(symbol.index);
      });
    }
  }
  std::partial_sum(use.block_numbers.begin(), use.block_numbers.end(), use.block_numbers.begin());
}

std::vector<ParameterField> RegisterParameters::fields_of(const ParameterAccess& access, std::uint32_t parameter) {
  std::vector<ParameterField> fields;
  for (unsigned i = 0; i < access.element_count; ++i)
    fields.push_back({parameter, access.offset + std::uint64_t{i} * access.bytes, access.bytes});
  return fields;
}

/// Whether `later` always runs after `index`, with neither a branch nor a call between them.
bool RegisterParameters::is_right_before(std::uint32_t f, std::uint32_t index, std::uint32_t later) const {
  const std::vector<std::uint32_t>& numbers = functions_[f].block_numbers;
  const std::uint32_t own = leaves_block(module_.functions[f].instructions[index]) ? 1 : 0;
  return index < later && numbers[later] - numbers[index] == own;
}

/// Finds the fields of its parameters that a function loads, and the fields of its results that each return provides.
void RegisterParameters::find_own_fields(std::uint32_t f) {
  const Function& function = module_.functions[f];
  FunctionUse& use = functions_[f];
  if (use.needs_memory) return;
  std::vector<std::pair<std::uint32_t, ParameterAccess>> stores;
  for (const auto& [index, access] : use.accesses) {
    if (access.is_of_variable) continue;
    const bool is_result = access.symbol_index >= function.parameters.size();
    if (access.is_load == is_result) use.needs_memory = true;
    const std::vector<ParameterField> fields = fields_of(access, access.symbol_index);
    use.fields.insert(fields.begin(), fields.end());
    if (access.is_load) use.loaded.insert(fields.begin(), fields.end());
    else if (!access.is_guarded) stores.emplace_back(index, access);
  }
  use.returned = use.fields;
  const auto keep_stored_before = [&](std::uint32_t end) {
    std::set<ParameterField> stored;
    for (const auto& [index, store] : stores) {
      if (!is_right_before(f, index, end)) continue;
      const std::vector<ParameterField> fields = fields_of(store, store.symbol_index);
      stored.insert(fields.begin(), fields.end());
    }
    std::erase_if(use.returned, [&](const ParameterField& field) { return !stored.contains(field); });
  };
  const auto count = static_cast<std::uint32_t>(function.instructions.size());
  for (std::uint32_t i = 0; i < count; ++i)
    if (function.instructions[i].opcode == Opcode::kRet) keep_stored_before(i);
  const Instruction* const last = count == 0 ? nullptr : &function.instructions.back();
  const bool ends_before = last != nullptr && leaves_block(*last) && last->opcode != Opcode::kCall &&
                           !last->is_guarded && use.block_numbers[count] - use.block_numbers[count - 1] == 1;
  if (!ends_before) keep_stored_before(count);
}

/// Checks that a call provides each argument that the function loads, and needs no result that the function may lack.
void RegisterParameters::check_call(std::uint32_t caller, std::uint32_t call) {
  const Instruction& instruction = module_.functions[caller].instructions[call];
  const std::uint32_t called = instruction.operands[0].index;
  const Function& callee = module_.functions[called];
  FunctionUse& use = functions_[called];
  if (use.needs_memory) return;
  const auto& results = instruction.operands[1].elements;
  const auto& arguments = instruction.operands[2].elements;
  bool fits = !instruction.is_guarded && arguments.size() == callee.parameters.size() &&
              results.size() == callee.return_values.size();
  for (std::uint32_t i = 0; fits && i < arguments.size(); ++i)
    fits = bind(caller, call, arguments[i], {called, i});
  for (std::uint32_t i = 0; fits && i < results.size(); ++i)
    fits = bind(caller, call, results[i], {called, static_cast<std::uint32_t>(arguments.size()) + i});
  use.needs_memory = !fits;
}

/// Notes for which parameter of the called function a variable stands. Returns false if the variable needs memory.
bool RegisterParameters::bind(std::uint32_t caller, std::uint32_t call, const Operand& operand,
                              CalledParameter parameter) {
  const Function& function = module_.functions[caller];
  FunctionUse& use = functions_[caller];
  FunctionUse& called = functions_[parameter.function];
  if (!is_parameter(function, operand) || operand.symbol_kind != SymbolKind::kBodyVariable || operand.value != 0 ||
      use.other_variables.contains(operand.index))
    return false;
  if (use.call_counts[operand.index] != 1) return false;
  use.parameters_by_variable.emplace(operand.index, parameter);
  const bool is_result = parameter.parameter >= module_.functions[parameter.function].parameters.size();
  std::set<ParameterField> accessed;
  std::size_t count = 0;
  const auto add = [&](const ParameterAccess& access) {
    if (!access.is_of_variable || access.symbol_index != operand.index) return true;
    ++count;
    if (access.is_load != is_result || access.is_guarded) return false;
    const std::vector<ParameterField> fields = fields_of(access, parameter.parameter);
    accessed.insert(fields.begin(), fields.end());
    return true;
  };
  // The accesses of a call are next to it.
  const auto after = std::ranges::lower_bound(use.accesses, call, {}, [](const auto& entry) { return entry.first; });
  if (is_result) {
    for (auto next = after; next != use.accesses.end() && is_right_before(caller, call, next->first); ++next)
      if (!add(next->second)) return false;
  } else {
    for (auto next = after; next != use.accesses.begin();) {
      --next;
      if (!is_right_before(caller, next->first, call)) break;
      if (!add(next->second)) return false;
    }
  }
  if (count != use.access_counts[operand.index]) return false;
  called.fields.insert(accessed.begin(), accessed.end());
  if (is_result) return std::ranges::includes(called.returned, accessed);
  const auto needed = called.loaded.lower_bound({parameter.parameter, 0, 0});
  const auto end = called.loaded.lower_bound({parameter.parameter + 1, 0, 0});
  return std::all_of(needed, end, [&](const ParameterField& field) { return accessed.contains(field); });
}

}  // namespace assay::ptx
