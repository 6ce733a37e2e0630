// The body of one function or kernel: statements as C++ text.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/source/expressions.hpp"
#include "backends/source/lines.hpp"
#include "backends/source/names.hpp"
#include "backends/source/unit.hpp"
#include "ir/module.hpp"

namespace assay::source {

/// How a body is left before its end.
enum class Leaving {
  kReturn,      ///< it is a function's
  kNextThread,  ///< it is the body of the loop over threads
};

/// The label behind the body of a thread, in a block of its own, that a return inside an inner loop jumps to.
inline constexpr std::string_view kNextThreadLabel = "next_thread";
/// Whether the function returns from inside a loop.
bool returns_from_loop(const ir::Function& function);

class FunctionPrinter {
 public:
  FunctionPrinter(Unit& unit, const ir::Function& function, bool source_comments);

  /// A name for something that the function's text needs and the source does not name, unlike all that it does name.
  std::string internal_name(std::string_view name);
  /// "Array<real, 1> x", "real k"; declares the names.
  std::vector<std::string> parameters();
  const std::string& name(ir::VarId variable) const { return names_[static_cast<std::size_t>(variable)]; }
  /// Declares a variable in the current scope and returns its name.
  const std::string& declare(ir::VarId variable);

  /// Call after the parameters and, of kernels, the thread indices are declared.
  std::string body(Leaving leaving, int depth);

 private:
  /// Names that the body's text may mention besides its variables.
  void reserve_functions();
  /// "// 12: y[i] = x[i]" where the source's line is another than the one shown last, else empty.
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
  void print(const ir::Break&) { lines_.add("break;"); }
  void print(const ir::Continue&) { lines_.add("continue;"); }
  void print(const ir::Return& node);

  /// Whether the kernel has tiles, and both reads and changes the array: a block's threads must then wait for each
  /// other around each change.
  bool needs_barriers(ir::ExprId array) const;
  /// A change of memory that all threads of a tile kernel's block come to: by all, of a tile, or by one.
  void change(ir::ExprId array, bool by_all, const std::string& statement);
  void find_accesses();
  /// A tile that must not be computed between the barriers: a variable's name.
  std::string kept(ir::ExprId array, ir::ExprId tile);
  /// A new variable with the value, declared in front of the statement.
  std::string keep(ir::ExprId value);
  /// The value as an operand of what only the first thread of a block does.
  std::string for_leader(ir::ExprId value);
  /// An element that only the first thread of a block touches.
  std::string element_for_leader(ir::ExprId array, const std::vector<ir::ExprId>& indices);

  using Matches = std::function<bool(ir::ExprId)>;
  std::string assignment(std::string place, Matches is_place, ir::ExprId value);
  bool same(ir::ExprId a, ir::ExprId b) const;
  bool is_constant_in_loop(ir::ExprId id) const;
  std::string step_text(const std::string& variable, const ir::Expr& step);

  Unit& unit_;
  const ir::Function& function_;
  bool source_comments_;
  std::vector<std::string> legal_;  ///< by variable: its name as an identifier
  std::vector<std::string> names_;  ///< by variable: the identifier that it has, once declared
  NameScopes scopes_;
  std::vector<bool> assigned_;  ///< by variable
  bool tiled_;
  std::vector<bool> read_;     ///< by variable: arrays that elements are loaded from
  std::vector<bool> changed_;  ///< by variable: arrays that elements are stored or added to
  ExpressionPrinter expressions_;
  Lines lines_;
  Leaving leaving_ = Leaving::kReturn;
  int loops_ = 0;      ///< loops around the current statement, inside the body
  int commented_ = 0;  ///< the line of the source that was shown last
};

}  // namespace assay::source
