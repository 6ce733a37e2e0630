// Keeps a program valid while parts of it are removed. Start at repaired().
#pragma once

#include <functional>
#include <vector>

#include "ir/module.hpp"

namespace assay::reduce {

/// Whether the function is part of the Python text, not of Warp's library.
bool is_written(const ir::Function& function);
/// The functions of the Python text, callees first, and the kernel.
std::vector<ir::Function*> written_functions(ir::Module& module);

/// A harmless replacement value of the type: 0.5, 1, true, or an aggregate of these; appended to the function's
/// expressions. kNone for arrays, structs and tiles.
ir::ExprId plain_value(const ir::Module& module, ir::Function& function, ir::Type type);

/// Replaces one expression by another in all its parents.
void replace(ir::Function& function, ir::ExprId where, ir::ExprId by);

/// Calls visit(VarId&) for every use of a variable in statements and expressions, including declarations.
void for_each_reference(ir::Function& function, const std::function<void(ir::VarId&)>& visit);

/// Removes an unused parameter or thread index from the function's variables. The caller must update the counts of
/// parameters and thread indices.
void remove_variable(ir::Function& function, ir::VarId variable);

/// What repaired() does with statements that do not affect the result.
enum class DeadStatementPolicy : std::uint8_t {
  kKeep,    ///< they stay
  kRemove,  ///< they are removed
};

/// Repairs the module after statements or parts of them were removed or replaced. Removes statements after a jump,
/// jumps outside loops, empty ifs, and unused functions, structs and variables. A variable without declaration is
/// declared by its first assignment, or else replaced by a plain value. Expressions share no nodes and are stored
/// operands first. The result may still be invalid and must be verified.
ir::Module repaired(ir::Module module, DeadStatementPolicy dead);

/// Removes from the kernel and from functions in the Python text every statement on which no changed array, result or
/// jump depends. Also removes loops with empty bodies, even endless ones.
void remove_dead_statements(ir::Module& module);

}  // namespace assay::reduce
