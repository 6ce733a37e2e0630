// The names of the text form: reserved words, and a unique name for every declaration of a Module.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/module.hpp"
#include "ir/text.hpp"

namespace assay::ir::text {

inline constexpr std::string_view kTileLoadKeyword = "tile_load";  ///< the keyword of the text form that loads a tile

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// [A-Za-z_][A-Za-z0-9_]*
bool is_identifier(std::string_view name);
/// Reserved words that cannot name a variable: "let", "inf".
bool is_keyword(std::string_view word);
/// Reserved words that cannot name a function: mnemonics of operations and atomics, "shape", "range", keywords.
bool is_function_word(std::string_view word);
/// Reserved words that cannot name a struct: "f32", "vec", keywords.
bool is_type_word(std::string_view word);

/// The operation of a mnemonic, or null.
const OperationEntry* find_operation(std::string_view mnemonic);
/// The atomic of a mnemonic, or null.
const AtomicOperationEntry* find_atomic(std::string_view mnemonic);
/// The scalar type of a name, or null.
const ScalarTypeProperties* find_scalar(std::string_view name);

/// Makes names unique and avoids reserved words.
class UniqueNames {
 public:
  using Reserved = bool (*)(std::string_view);
  explicit UniqueNames(Reserved reserved) : is_reserved_(reserved) {}

  /// `wanted` with invalid characters replaced by '_', and with a number appended if the name is taken.
  std::string take(std::string_view wanted);

 private:
  Reserved is_reserved_;                         ///< returns whether a name is a reserved word
  std::unordered_set<std::string> taken_names_;  ///< names that have been taken
  /// For each name: the number to append next to make it unique.
  std::unordered_map<std::string, int> next_suffix_by_name_;
};

/// The unique name of each declaration of a module, by index.
struct ModuleNames {
  std::vector<std::string> structs;              ///< name of each struct
  std::vector<std::vector<std::string>> fields;  ///< name of each field, by struct and field
  std::vector<std::string> functions;            ///< name of each function
  std::vector<std::string> kernels;              ///< name of each kernel
};
ModuleNames name_module(const Module& module, NamingScheme naming);
/// The indices of the functions in the order in which the text contains them. In the canonical text, functions of
/// Warp's library come first, because the place of the first call decides when they are added to a module.
std::vector<std::size_t> function_order(const Module& module, NamingScheme naming);

/// Names of a function's variables, by VarId.
std::vector<std::string> name_variables(const Function& function, NamingScheme naming);

}  // namespace assay::ir::text
