// Prints the expressions of one function as C++ text, with only the parentheses required for readability or -Wall.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/source/literals.hpp"
#include "backends/source/overflow.hpp"
#include "backends/source/unit.hpp"
#include "ir/extremum_operands.hpp"
#include "ir/module.hpp"

namespace assay::source {

// Precedence as in C++, higher binds tighter.
inline constexpr int kTernaryPrecedence = 2;   ///< precedence of the operator ?: in C++
inline constexpr int kPostfixPrecedence = 15;  ///< precedence of calls, subscripts and member accesses in C++

/// The text of an expression, with the precedence of its outermost operator.
struct PrintedExpression {
  std::string text;                      ///< printed expression
  int precedence = 0;                    ///< precedence of its outermost operator
  std::string_view infix_operator = {};  ///< the outermost operator if it is infix; otherwise empty
};

/// Prints the expressions of one function.
class ExpressionPrinter {
 public:
  /// `names` contains the name of each variable in scope; it may change between calls. Sums in `extremum_operands` are
  /// printed so that no compiler contracts them.
  ExpressionPrinter(SourceUnit& unit, const ir::Function& function, const std::vector<std::string>& names,
                    const ir::ExtremumOperands& extremum_operands);

  /// The expression as an operand of a comma or an assignment.
  std::string print(ir::ExprId expr, LiteralForm form = LiteralForm::kTyped);
  /// The expression as an operand of `<` or `>`.
  std::string compared(ir::ExprId expr);
  /// The initializer of a variable of the expression's type: a vector's components as {a, b, c}.
  std::string initializer(ir::ExprId expr);
  /// A condition in parentheses.
  std::string condition(ir::ExprId expr);
  /// "(!c)", or "(c)" if the expression is itself a negation.
  std::string negated_condition(ir::ExprId expr);
  /// "x.at(i, j)", or "x[i]" for a local array.
  std::string element(ir::ExprId array, const std::vector<ir::ExprId>& indices);
  /// The array and the offsets of an access to a tile as two arguments, to be separated by a comma or a value. If the
  /// array has more dimensions than the tile, the array is subarray(x, i).
  struct TilePlace {
    std::string array;
    std::string offsets;
  };
  TilePlace tile_place(ir::ExprId array, const std::vector<ir::ExprId>& indices, ir::Type tile);
  /// "x.data", which may be null, if the array belongs to a nullable parameter; otherwise empty.
  std::string null_test(ir::ExprId array);
  std::string subscript(ir::ExprId index) { return "[" + print(index) + "]"; }
  std::string arguments(const std::vector<ir::ExprId>& args, LiteralForm form);
  /// Zero of a type, for contexts in which another operand determines the type of a scalar.
  std::string zero(ir::Type type);

 private:
  PrintedExpression text(ir::ExprId expr, LiteralForm form);
  PrintedExpression operation(ir::ExprId expr);
  std::optional<PrintedExpression> rounded(ir::ExprId expr);
  bool lists_components(const ir::Expr& e) const;
  PrintedExpression extract(const ir::Expr& e);
  PrintedExpression pattern(const ir::Expr& expr);
  PrintedExpression infix(const ir::Expr& expr, std::string_view token, int precedence);
  PrintedExpression prefix(const ir::Expr& expr, std::string_view token);
  PrintedExpression conditional(const ir::Expr& expr);
  PrintedExpression call_pattern(const ir::Expr& expr, std::string_view pattern, std::string_view prefix = "");
  PrintedExpression load(const ir::Expr& expr);
  /// A part of an element of an array that may be null. Reads no other part, unlike a part of the loaded element.
  std::optional<PrintedExpression> nullable_part(ir::ExprId expr);
  // tile_expressions.cpp
  PrintedExpression print_elementwise(ir::ExprId expr);
  PrintedExpression load_tile(const ir::Expr& expr);
  PrintedExpression cast(const ir::Expr& expr);
  PrintedExpression narrowed(const ir::Expr& expr, PrintedExpression result);
  bool wraps(const ir::Expr& expr) const;
  void use_operator(const ir::Expr& expr);
  std::string operand(ir::ExprId expr, int precedence, LiteralForm form = LiteralForm::kTyped);

  const ir::Expr& expr(ir::ExprId id) const { return function_.expr(id); }
  /// Returns the overflow analysis of the function. It is computed on first use, because kernels without integer
  /// arithmetic do not need it.
  const OverflowAnalysis& overflow_analysis() const {
    if (!overflow_analysis_) overflow_analysis_.emplace(function_);
    return *overflow_analysis_;
  }

  SourceUnit& unit_;                                ///< names, helpers and setters of the source text
  const ir::Function& function_;                    ///< function whose expressions are printed
  const std::vector<std::string>& variable_names_;  ///< names of the variables in scope, by VarId
  const ir::ExtremumOperands& extremum_operands_;   ///< see the constructor
  /// Result of overflow_analysis(); nullopt before its first call.
  mutable std::optional<OverflowAnalysis> overflow_analysis_;
  std::optional<ir::Function> function_copy_;  ///< copy of the function that print_elementwise changes
};

/// The functions that an operation's text calls.
const std::vector<std::string_view>& functions_of(ir::Op op);

}  // namespace assay::source
