// Prints the body of one function or kernel as C++ statements.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/source/expressions.hpp"
#include "backends/source/lines.hpp"
#include "backends/source/names.hpp"
#include "backends/source/unit.hpp"
#include "ir/analysis.hpp"
#include "ir/element_part.hpp"
#include "ir/module.hpp"

namespace assay::source {

/// How an early return is printed.
enum class EarlyReturnForm {
  kReturn,            ///< as `return`, in the body of a function
  kJumpToNextThread,  ///< as a jump to the next thread, in the body of the loop over threads
};

/// The label after the code of one thread, to which an early return inside an inner loop jumps.
inline constexpr std::string_view kNextThreadLabel = "next_thread";
/// Whether the function returns from inside a loop.
bool returns_from_loop(const ir::Function& function);

/// Prints the statements of one function.
class FunctionPrinter {
 public:
  /// Sums in `extremum_operands` are printed so that no compiler contracts them.
  FunctionPrinter(SourceUnit& unit, const ir::Function& function, const ir::ExtremumOperands& extremum_operands,
                  bool prints_source_comments);

  /// A unique name for an internal variable that does not exist in the source.
  std::string internal_name(std::string_view name);
  /// "Array<real, 1> x", "real k"; declares the names.
  std::vector<std::string> parameters();
  const std::string& name(ir::VarId variable) const { return declared_names_[static_cast<std::size_t>(variable)]; }
  /// Declares a variable in the current scope and returns its name.
  const std::string& declare(ir::VarId variable);

  /// Must be called after the parameters and, for kernels, the thread indices are declared.
  std::string body(EarlyReturnForm early_return, int depth);

 private:
  /// Reserves the names that the body uses in addition to its variables.
  void reserve_functions(bool has_extremum_operands);
  /// "// 12: y[i] = x[i]" if the source line differs from the last one shown, otherwise empty.
  std::string_view comment(ir::Loc loc);
  void block(const ir::Block& block);
  void statement(const ir::Stmt& statement);

  void print(const ir::Let& node);
  void print(const ir::Assign& node);
  void print(const ir::Store& node);
  void print(const ir::Atomic& node);
  void print(const ir::Call& node);
  void print(const ir::If& node);
  void print(const ir::For& node);
  void print(const ir::While& node);
  void print(const ir::Break&) { printed_lines_.add("break;"); }
  void print(const ir::Continue&) { printed_lines_.add("continue;"); }
  void print(const ir::Return& node);

  /// Whether the kernel has tiles and both reads and changes the array, so that each change needs barriers before and
  /// after it.
  bool needs_barriers(ir::ExprId array) const;
  /// Prints a change of memory that all threads of a tile kernel's block execute: by all threads (of a tile) or by one.
  void change(ir::ExprId array, bool by_all, const std::string& statement);
  void find_accesses();
  /// The name of a variable with a tile that must be computed before the barriers.
  std::string hoisted_tile(ir::ExprId array, ir::ExprId tile);
  /// Declares a new variable with the value before the statement.
  std::string hoist(ir::ExprId value);
  /// The value as an operand of a statement that only the first thread of a block executes.
  std::string for_leader(ir::ExprId value);
  /// Whether the call changes arrays in a kernel with tiles, so that only the first thread of a block executes it.
  bool is_call_by_leader(int function) const;
  /// A call that only the first thread of a block executes.
  std::string call_for_leader(int function, const std::vector<ir::ExprId>& args);
  /// The value, which the first thread of a block computes for all of them.
  std::string from_leader(const std::string& value);
  /// An element that only the first thread of a block accesses.
  std::string element_for_leader(ir::ExprId array, const std::vector<ir::ExprId>& indices);

  /// "place.field[i]" for the path.
  std::string part_of(std::string place, const std::vector<ir::ElementPartStep>& path);
  /// An assignment to the part of the place that changes.
  std::string assignment(std::string place, ir::ChangedElementPart part);
  bool is_constant_in_loop(ir::ExprId id) const;
  std::string step_text(const std::string& variable, const ir::Expr& step);

  SourceUnit& unit_;                         ///< names, helpers and setters of the source text
  const ir::Function& function_;             ///< function that is printed
  bool prints_source_comments_;              ///< whether to print the source line above its statements
  std::vector<std::string> legal_names_;     ///< name of each variable as a legal identifier, not yet unique
  std::vector<std::string> declared_names_;  ///< identifier of each declared variable
  NameScopes name_scopes_;                   ///< identifiers in use, by scope
  std::vector<bool> is_assigned_;            ///< for each variable: whether a statement assigns it
  bool is_tiled_;                            ///< whether the function is a kernel with tiles
  std::vector<bool> is_loaded_from_;         ///< for each array variable: whether elements are loaded from it
  std::vector<bool> is_stored_to_;           ///< for each array variable: whether elements are stored or added to it
  /// In a kernel with tiles, for each function of the module: how it uses its parameters.
  std::vector<ir::ParameterUses> uses_by_function_;
  ExpressionPrinter expression_printer_;  ///< printer of the expressions in the statements
  IndentedLines printed_lines_;           ///< statements printed so far
  /// How an early return is printed at the current statement.
  EarlyReturnForm early_return_form_ = EarlyReturnForm::kReturn;
  int loop_depth_ = 0;           ///< nesting depth of loops around the current statement
  int last_commented_line_ = 0;  ///< number of the source line that was last printed as a comment; 0: none
};

}  // namespace assay::source
