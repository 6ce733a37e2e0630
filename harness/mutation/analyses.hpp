// Analyses that decide which mutants of a kernel are equivalent to it.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/mutation/editor.hpp"
#include "harness/mutation/mutation.hpp"
#include "ir/module.hpp"

namespace assay::mutation {

/// By statement (numbered as in statements_of): whether it has an effect, that is, changes an array that outlives the
/// launch, or computes a value for such a statement. `dead` statements have no effect. A mutant that changes a
/// statement without effect is equivalent if the statement still terminates and accesses only the kernel's memory.
std::vector<bool> find_effective_statements(const ir::Function& function,
                                            const std::vector<ListedStatement>& statements,
                                            const std::vector<bool>& dead);

/// Whether no iteration writes a value that another one reads. Conservative: false may mean that it is not known. True
/// if one of these holds:
/// - the body does not use the loop variable, so that all iterations are identical;
/// - each outer adjoint that the body assigns is a sum that nothing else in the loop reads, a copy of itself, or a
///   value of which each iteration reads and changes only components that no other iteration uses; and each gradient
///   that the body reads and changes, or clears, is accessed only in slices that no other iteration accesses.
///
/// The index of a component or slice must be a linear function of the loop variable, of the variables of inner loops
/// and of variables that the loop does not change. No other iteration has it if the terms of the inner loops are
/// smaller than the step of the loop variable, or multiples of a number that is greater than its range. Indices are
/// assumed not to wrap around.
bool is_order_independent(const MutationContext& context, const ir::For& loop);

/// Whether a statement after the declaration may use the value with which the variable is declared. Copying the value
/// to another variable is a use only if that variable is used. The analysis takes flags into account: the value of an
/// early return is used only where the flag is true that is set together with the value. Conservative: true may mean
/// that it is not known. `function` contains the declaration.
bool may_use_initial_value(const ir::Function& function, const ir::Stmt& declaration);

/// Whether no other thread of any launch accesses the gradient element to which the statement with this number adds.
/// Conservative: false may mean that it is not known. In every access to the array, some index must differ between
/// threads: it has the form a i + b with a thread index i and a constant a, and its unknown part is in a range that is
/// shorter than a, or a multiple of a number that does not divide the difference of two threads. Tiles must be equal in
/// every access, so that each element belongs to one thread, and must not overlap; in a kernel with tiles, one thread
/// of each block makes all other accesses. Indices are assumed not to wrap around.
bool adds_to_private_element(const MutationContext& context, std::size_t statement);

}  // namespace assay::mutation
