// Analyses of programs that several stages use. The programs must be valid.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ir/module.hpp"
#include "ir/visit.hpp"

namespace assay::ir {

/// How a function and the functions that it calls may use one parameter. Reading only the shape of an array is not
/// counted as a read.
struct ParameterUse {
  bool read = false;     ///< whether the value or an element is read; an atomic whose result is used also reads
  bool written = false;  ///< whether an element is written by a store
  bool is_atomically_updated = false;  ///< whether an element is updated by an atomic

  bool changed() const { return written || is_atomically_updated; }
  friend bool operator==(const ParameterUse&, const ParameterUse&) = default;
};
using ParameterUses = std::vector<ParameterUse>;  ///< one for each parameter

/// The parameter uses of a function or kernel of the module.
ParameterUses parameter_use(const Module& module, const Function& function);
/// The same, given the parameter uses of the functions that it may call, by index.
ParameterUses parameter_use(const Function& function, std::span<const ParameterUses> callees);

/// Whether a function changes any array. Such a function must run exactly as often as in the source.
bool has_effects(const ParameterUses& uses);

/// Whether a load reads a tile from an array, not a single element.
bool loads_tile(const Function& function, const Expr& load);
/// Number of the first indices of an access to a tile that select the part of the array with the dimensions of the
/// tile: 1 for a tile of two dimensions in an array of three.
constexpr std::size_t leading_index_count(Type array, Type tile) {
  return static_cast<std::size_t>(array.rank - tile.tile_rank());
}
/// Whether a kTileReshape makes a tile of one dimension from a part of a tile that has one row or one column.
bool reshapes_row_or_column(const Function& function, const Expr& reshape);
/// Whether one of the expressions is a tile.
bool has_tile(const Function& function, std::span<const ExprId> expressions);
/// Whether the expression consists of literals and operations only.
bool is_constant(const Function& function, ExprId expression);
/// The type of a call of a function with one result; a tile if an argument is a tile.
Type called_type(const Function& caller, const Function& callee, std::span<const ExprId> args);
/// Whether evaluating the expression uses tiles, so that all threads of a block must reach it.
bool works_with_tiles(const Function& function, ExprId root);
/// Whether the function uses tiles. Each thread of a launch of such a kernel stands for a block.
bool uses_tiles(const Function& function);

/// Whether values of the type can carry a derivative: they have float components or are structs with such a field. For
/// arrays, whether the elements can.
bool is_differentiable(const Module& module, Type type);
/// Whether a kernel of the module has a parameter that can carry a derivative.
bool is_differentiable(const Module& module);

/// Number of times that one thread executes the innermost statement of the function's longest nest of loops, counting
/// only loops over ranges with constant bounds: 1 without such a loop. At most 2^40. Called functions do not count.
std::int64_t most_constant_trips(const Function& function);

/// Variables that statements of the block assign, including nested statements but excluding declarations. Ascending.
std::vector<VarId> assigned_variables(const Block& block);
/// Variables that statements of the block declare, including nested statements. Ascending.
std::vector<VarId> declared_variables(const Block& block);
/// Variables that the expression uses, including arrays. Ascending.
std::vector<VarId> variables_read(const Function& function, ExprId root);

}  // namespace assay::ir
