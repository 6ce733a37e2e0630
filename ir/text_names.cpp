#include "ir/text_names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

#include <fmt/format.h>

#include "ir/library.hpp"
#include "ir/visit.hpp"

namespace assay::ir::text {
namespace {

constexpr std::array<std::string_view, 19> kKeywords = {
    "struct", "func",  "kernel",   "nullable", "let",  "call",  "if",  "else", "for",     "in",
    "while",  "break", "continue", "return",   "true", "false", "inf", "nan",  "augment",
};
constexpr std::array<std::string_view, 7> kTypeWords = {"vec", "mat", "quat", "transform", "array", "local", "tile"};

template <class Range>
bool contains(const Range& range, std::string_view word) {
  return std::find(range.begin(), range.end(), word) != range.end();
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool nothing_reserved(std::string_view) { return false; }

/// Calls visit(id) for each variable in declaration order; variables without a declaration come last.
template <class Visit>
void for_each_in_order(const Function& function, Visit&& visit) {
  std::vector<bool> seen(function.variables.size());
  const auto once = [&](VarId id) {
    const auto index = static_cast<std::size_t>(id);
    if (id < 0 || index >= seen.size() || seen[index]) return;
    seen[index] = true;
    visit(id);
  };
  for (VarId id = 0; id < function.parameter_count + function.launch_rank; ++id)
    once(id);
  for_each_statement(function.body, [&](const Stmt& statement) { for_each_declared_variable(statement, once); });
  for (std::size_t id = 0; id < seen.size(); ++id)
    once(static_cast<VarId>(id));
}

/// Names each element of `from`: its own name made unique, or prefix and index.
template <class Range>
std::vector<std::string> name_all(const Range& from, NamingScheme naming, char prefix, UniqueNames::Reserved reserved) {
  std::vector<std::string> names;
  names.reserve(from.size());
  UniqueNames unique(reserved);
  for (const auto& item : from) {
    names.push_back(naming == NamingScheme::kCanonical ? prefix + std::to_string(names.size())
                                                       : unique.take(item.name));
  }
  return names;
}

}  // namespace

bool is_identifier(std::string_view name) {
  if (name.empty() || !is_letter(name[0])) return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

bool is_keyword(std::string_view word) { return contains(kKeywords, word); }

bool is_function_word(std::string_view word) {
  return is_keyword(word) || word == "shape" || word == "range" || word == kTileLoadKeyword ||
         find_operation(word) != nullptr || find_atomic(word) != nullptr;
}

bool is_type_word(std::string_view word) {
  return is_keyword(word) || contains(kTypeWords, word) || find_scalar(word) != nullptr;
}

const OperationEntry* find_operation(std::string_view mnemonic) {
  static const auto* const kByMnemonic = [] {
    auto* map = new std::unordered_map<std::string_view, const OperationEntry*>;
    for (const OperationEntry& operation : kOperations)
      map->emplace(operation.mnemonic, &operation);
    return map;
  }();
  const auto found = kByMnemonic->find(mnemonic);
  return found == kByMnemonic->end() ? nullptr : found->second;
}

const AtomicOperationEntry* find_atomic(std::string_view mnemonic) {
  const auto found = std::find_if(kAtomics.begin(), kAtomics.end(),
                                  [&](const AtomicOperationEntry& atomic) { return atomic.mnemonic == mnemonic; });
  return found == kAtomics.end() ? nullptr : &*found;
}

const ScalarTypeProperties* find_scalar(std::string_view name) {
  const auto* const end = kScalars + kScalarCount;
  const auto* const found =
      std::find_if(kScalars, end, [&](const ScalarTypeProperties& scalar) { return scalar.name == name; });
  return found == end ? nullptr : found;
}

std::string UniqueNames::take(std::string_view wanted) {
  std::string base;
  if (wanted.empty() || is_digit(wanted[0])) base = "_";
  for (const char c : wanted)
    base += is_letter(c) || is_digit(c) ? c : '_';
  std::string name = base;
  while (is_reserved_(name) || taken_names_.contains(name))
    name = fmt::format("{}_{}", base, ++next_suffix_by_name_[base]);
  taken_names_.insert(name);
  return name;
}

std::vector<std::size_t> function_order(const Module& module, NamingScheme naming) {
  std::vector<std::size_t> order(module.functions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (naming == NamingScheme::kCanonical)
    std::ranges::stable_partition(order, [&](std::size_t k) { return library_name(module.functions[k]).has_value(); });
  return order;
}

ModuleNames name_module(const Module& module, NamingScheme naming) {
  ModuleNames names;
  names.structs = name_all(module.structs, naming, 's', is_type_word);
  for (const StructDef& definition : module.structs) {
    names.fields.push_back(name_all(definition.fields, naming, 'a', nothing_reserved));
  }
  names.functions = name_all(module.functions, naming, 'f', is_function_word);
  const std::vector<std::string> in_order = names.functions;
  const std::vector<std::size_t> order = function_order(module, naming);
  for (std::size_t k = 0; k < order.size(); ++k)
    names.functions[order[k]] = in_order[naming == NamingScheme::kCanonical ? k : order[k]];
  names.kernels = name_all(module.kernels, naming, 'k', is_keyword);
  return names;
}

std::vector<std::string> name_variables(const Function& function, NamingScheme naming) {
  std::vector<std::string> names(function.variables.size());
  UniqueNames unique(is_keyword);
  std::size_t count = 0;
  for_each_in_order(function, [&](VarId id) {
    names[static_cast<std::size_t>(id)] =
        naming == NamingScheme::kCanonical ? "v" + std::to_string(count) : unique.take(function.var(id).name);
    ++count;
  });
  return names;
}

}  // namespace assay::ir::text
