// Warp's functions that are made of operations: the kernel language has no row of the operation table for them, but a
// function each, which a module that calls one contains.
//
//     const auto index = library_function(module, "determinant", types);      // appends it if it is not there
//     const ExprId value = builder.call(*index, arguments);
//
// They are written once, in library.cpp, as formulas over the operations. So the oracle, the adjoint pass and the
// printers, which know the operations and functions in general, need to know nothing of them. They do the same
// arithmetic as Warp's, in the same order where that matters.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::ir {

struct LibraryRow {
  std::string_view name;      ///< after `wp.`
  std::string_view operands;  ///< what it takes, one letter each: see kOperandKinds
  std::string_view formula;   ///< what it gives, for people; x, y, z are the operands
};

/// What the letters of LibraryRow::operands stand for. All operands have one scalar type; those of one letter have one
/// type.
struct OperandKind {
  char letter;
  std::string_view text;
};
inline constexpr OperandKind kOperandKinds[] = {
    {'s', "float"},
    {'v', "vector"},
    {'f', "float vector"},
    {'3', "float vector of length 3"},
    {'m', "matrix"},
    {'d', "square matrix"},
    {'i', "float matrix of 2 x 2 to 4 x 4"},
    {'r', "float matrix of 3 x 3"},
    {'4', "float matrix of 4 x 4"},
    {'6', "float vector of length 6"},
    {'q', "quaternion"},
    {'t', "transform"},
};

/// All of them; several rows may have one name.
std::span<const LibraryRow> library();

/// Whether Warp's function of this name is in the library for operands of some types.
bool is_in_library(std::string_view name);

/// Number in `module.functions` of wp.<name> for operands of these types; appended unless it is there. The error says
/// what the function takes.
Result<int> library_function(Module& module, std::string_view name, std::span<const Type> operands);

/// "determinant" for a function that library_function made: one that is called wp_determinant and has no place in any
/// file.
std::optional<std::string_view> library_name(const Function& function);

}  // namespace assay::ir
