// Warp functions that are composed of operations. They have no row in the operation table; each is a function of the
// kernel language, which is added to the modules that call it.
//
//     const auto index = library_function(module, "determinant", types);      // appended if missing
//     const ExprId value = builder.call(*index, arguments);
//
// library.cpp defines them once, as formulas over the operations. The oracle, the adjoint pass and the printers support
// operations and functions in general and need no code for library functions. The arithmetic is the same as in Warp, in
// the same order where that matters.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::ir {

/// The name, operands and documentation of a library function.
struct LibraryFunctionInfo {
  std::string_view name;                  ///< name of the function after `wp.`
  std::string_view operand_kind_letters;  ///< kinds of the operands, one letter for each (see kOperandKinds)
  std::string_view formula;  ///< the result as a formula for the documentation; the operands are x, y, z, u, v, w, t
  bool is_discrete = false;  ///< whether the result is a bool or an integer, which has no derivative
  bool is_internal = false;  ///< whether only library functions may call it; Warp has no such function
  /// Whether Warp changes the variable that is the first operand; its new value is the last result. A call is followed
  /// by the assignment of that result to the variable.
  bool changes_first_operand = false;
};

/// What a letter in LibraryFunctionInfo::operand_kind_letters means. All operands except int32 have the same scalar
/// type, and operands with the same letter have the same type.
struct OperandKind {
  char letter;                   ///< the letter
  std::string_view description;  ///< description of the operand, for messages and documentation
};
inline constexpr OperandKind kOperandKinds[] = {
    {'s', "float"},
    {'n', "int32"},
    {'p', "int32 period"},
    {'u', "uint32"},
    {'a', "float32"},
    {'2', "float32 vector of length 2"},
    {'h', "float32 vector of length 3"},
    {'c', "float32 vector of length 4"},
    {'z', "integer"},
    {'v', "vector"},
    {'f', "float vector"},
    {'w', "integer vector"},
    {'k', "integer matrix"},
    {'3', "float vector of length 3"},
    {'m', "matrix"},
    {'d', "square matrix"},
    {'i', "float matrix of 2 x 2, 3 x 3 or 4 x 4"},
    {'e', "float matrix of 2 x 2"},
    {'r', "float matrix of 3 x 3"},
    {'4', "float matrix of 4 x 4"},
    {'6', "float vector of length 6"},
    {'q', "quaternion"},
    {'t', "transform"},
};

/// Whether the type is of the kind that a letter of LibraryFunctionInfo::operand_kind_letters stands for.
bool is_operand_kind(char letter, Type type);

/// All library functions that Warp has; several rows may have the same name.
std::span<const LibraryFunctionInfo> library();

/// Whether the library has a Warp function of this name, for any operand types.
bool is_in_library(std::string_view name);

/// Index in `module.functions` of wp.<name> for operands of these types; the function is appended if missing. The error
/// lists the valid operands.
Result<int> library_function(Module& module, std::string_view name, std::span<const Type> operands);

/// The name, such as "determinant", of a function made by library_function: it is called wp_determinant and has no
/// source location.
std::optional<std::string_view> library_name(const Function& function);

/// Whether the function is a library function with LibraryFunctionInfo::changes_first_operand.
bool changes_first_operand(const Function& function);

/// Whether the function computes a function of Warp and does not come from the user's source: it was made by
/// library_function or by a frontend, which gives it a name such as "wp_mesh_query_ray".
bool is_warp_code(const Function& function);

}  // namespace assay::ir
