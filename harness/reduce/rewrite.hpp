// What keeps a program valid while parts of it are taken away. Start reading at settled().
#pragma once

#include <functional>
#include <vector>

#include "ir/module.hpp"

namespace assay::reduce {

/// Whether the function stands in the Python text, and is none of Warp's library.
bool is_written(const ir::Function& function);
/// These, callees first, and the kernel.
std::vector<ir::Function*> written_functions(ir::Module& module);

/// A value of the type that makes no trouble where it stands for another: 0.5, 1, true, or an aggregate of these;
/// appended to the function's expressions. kNone for arrays, structs and tiles.
ir::ExprId plain_value(const ir::Module& module, ir::Function& function, ir::Type type);

/// Puts one expression in the place of another, whose parents keep it.
void replace(ir::Function& function, ir::ExprId where, ir::ExprId by);

/// Calls visit(VarId&) for every mention of a variable in statements and expressions, declarations included.
void for_each_mention(ir::Function& function, const std::function<void(ir::VarId&)>& visit);

/// Takes a parameter or thread index, which nothing mentions, out of the function's variables. The counts of
/// parameters and thread indices are the caller's to adapt.
void remove_variable(ir::Function& function, ir::VarId variable);

enum class Dead : std::uint8_t {
  kKept,
  kRemoved,  ///< statements that nothing which the kernel leaves behind depends on
};

/// The module made whole again after statements or parts of them were taken away or replaced: what follows a jump, a
/// jump without its loop and an empty choice go; a variable that lost its declaration is declared by its first
/// assignment, or else a plain value stands for it; unused functions, structs and variables go; every expression is a
/// tree of its own, operands first. It may still be invalid: verify it.
ir::Module settled(ir::Module module, Dead dead);

}  // namespace assay::reduce
