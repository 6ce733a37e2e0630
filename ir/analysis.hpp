// Questions about programs that several stages ask. The programs must be valid.
#pragma once

#include <span>
#include <vector>

#include "ir/module.hpp"
#include "ir/visit.hpp"

namespace assay::ir {

/// What a function may do with one parameter, calls looked through. An array's shape is not its content.
struct ParameterUse {
  bool read = false;                ///< the value, or an element, is read, also by an atomic whose result is kept
  bool written = false;             ///< an element is stored
  bool atomically_updated = false;  ///< an element is updated by an atomic

  bool changed() const { return written || atomically_updated; }
  friend bool operator==(const ParameterUse&, const ParameterUse&) = default;
};
using ParameterUses = std::vector<ParameterUse>;  ///< one per parameter

/// Of one function or kernel of the module.
ParameterUses parameter_use(const Module& module, const Function& function);
/// The same, given the uses of the functions that it may call, by index.
ParameterUses parameter_use(const Function& function, std::span<const ParameterUses> callees);

/// Whether it changes any array: such a function must run exactly as often as the source says.
bool has_effects(const ParameterUses& uses);

/// Whether a load is one of a tile out of an array, not of one element.
bool loads_tile(const Function& function, const Expr& load);
/// The type of a call of a function with one result: element by element where arguments are tiles.
Type called_type(const Function& caller, const Function& callee, std::span<const ExprId> args);
/// Whether evaluating the expression works with tiles, to which all threads of a block must come.
bool works_with_tiles(const Function& function, ExprId root);
/// Whether anything in the function is a tile. The threads of a launch of such a kernel are blocks.
bool uses_tiles(const Function& function);

/// Whether values of the type can carry a derivative: float components, or a struct with such a field. Arrays
/// as their elements.
bool is_differentiable(const Module& module, Type type);
/// Whether a kernel has a parameter that can.
bool is_differentiable(const Module& module);

/// Variables that statements of the block, nested ones included, assign; declarations are no assignments.
/// Ascending.
std::vector<VarId> assigned_variables(const Block& block);
/// Variables that statements of the block, nested ones included, declare. Ascending.
std::vector<VarId> declared_variables(const Block& block);
/// Variables that the expression mentions, arrays included. Ascending.
std::vector<VarId> variables_read(const Function& function, ExprId root);

}  // namespace assay::ir
