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

/// The keyword of a tile load.
inline constexpr std::string_view kTileLoadKeyword = "tile_load";

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

/// Makes names unique.
class UniqueNames {
 public:
  using Reserved = bool (*)(std::string_view);
  explicit UniqueNames(Reserved reserved) : is_reserved_(reserved) {}

  /// `wanted` with invalid characters replaced by '_', and with a number appended if the name is taken.
  std::string take(std::string_view wanted);

 private:
  Reserved is_reserved_;                                      ///< whether a name is a reserved word
  std::unordered_set<std::string> taken_names_;               ///< names taken so far
  std::unordered_map<std::string, int> next_suffix_by_name_;  ///< by wanted name: number to append next
};

/// Names of the declarations of a Module, by index.
struct ModuleNames {
  std::vector<std::string> structs;              ///< names of the structs
  std::vector<std::vector<std::string>> fields;  ///< names by struct and field
  std::vector<std::string> functions;            ///< names of the functions
  std::vector<std::string> kernels;              ///< names of the kernels
};
ModuleNames name_module(const Module& module, NamingScheme naming);

/// Names of a function's variables, by VarId.
std::vector<std::string> name_variables(const Function& function, NamingScheme naming);

}  // namespace assay::ir::text
