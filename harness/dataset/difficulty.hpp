// Measures of how hard a kernel is to translate: its size, nesting, language features, loops and memory accesses. They
// depend on the program only, not on its names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.hpp"

namespace assay::dataset {

/// The measures of one kernel, which become columns of its row.
struct KernelDifficulty {
  int statement_count = 0;   ///< statements of the kernel and of its functions, including nested ones
  int nesting_depth = 0;     ///< greatest number of branches and loops around a statement; 0: straight-line code
  int expression_depth = 0;  ///< greatest number of operations and loads on a path through an expression
  std::string loop_kind;     ///< the hardest kind of loop: "none", "static" (constant bounds), "dynamic", "while"
  std::vector<std::string> features;         ///< language features, such as "atomic" and "struct", sorted
  std::vector<std::string> memory_patterns;  ///< how arrays are indexed (MemoryPattern), sorted
  friend bool operator==(const KernelDifficulty&, const KernelDifficulty&) = default;
};

/// The measures of a kernel. Functions of Warp's library count as one operation, however they are defined.
KernelDifficulty measure_difficulty(const ir::Module& module, const ir::Function& kernel);

/// How the indices of one access to an array are computed, from the easiest to the hardest pattern.
enum class MemoryPattern : std::uint8_t {
  kBroadcast,    ///< the same element for all threads
  kElementwise,  ///< thread indices in order, and constants: x[i, j], x[i, 0]
  kTransposed,   ///< thread indices in another order: x[j, i]
  kShifted,      ///< arithmetic on thread indices: x[i + 1], x[i / 2]
  kLoop,         ///< the variable of a loop: x[i, k]
  kComputed,     ///< a variable or parameter: x[cursor]
  kIndirect,     ///< an element of an array: x[at[i]]
};

/// The name of a pattern in rows: "elementwise". An indirect load is "gather", an indirect store "scatter".
std::string_view name_of(MemoryPattern pattern, bool is_store);

/// The name of a function of the module in Python, without `wp.`.
std::string name_in_python(const ir::Module& module, std::int32_t function);

/// The name of the function that an expression of the kernel calls in Python, without `wp.`; nothing for an operator, a
/// variable or a literal.
std::optional<std::string> function_called(const ir::Module& module, const ir::Function& kernel, const ir::Expr& expr);

/// The functions of Warp and of the user that a kernel calls, in order of their first use, without `wp.`: "sin",
/// "normalize", "atomic_add".
std::vector<std::string> functions_called(const ir::Module& module, const ir::Function& kernel);

/// The number of branches and loops of each kind directly in a function.
struct ControlFlow {
  int branch_count = 0;           ///< number of `if` statements, without those that only return
  int early_return_count = 0;     ///< number of `if` statements that only return, such as a check of a bound
  int for_count = 0;              ///< number of range loops
  int while_count = 0;            ///< number of while loops
  bool has_nested_loops = false;  ///< whether a loop contains a loop
  bool has_early_return = false;
};
ControlFlow control_flow_of(const ir::Function& function);

}  // namespace assay::dataset
