// Expressions of one function as C++ text, with no more parentheses than a reader or -Wall wants.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/source/literals.hpp"
#include "backends/source/overflow.hpp"
#include "backends/source/unit.hpp"
#include "ir/module.hpp"

namespace assay::source {

// Precedence as in C++, higher binds tighter.
inline constexpr int kTernaryText = 2;
inline constexpr int kPostfixText = 15;

/// Text with the precedence of its outermost operator.
struct Text {
  std::string text;
  int precedence = 0;
  std::string_view token = {};  ///< of an infix operator
};

class ExpressionPrinter {
 public:
  /// `names` holds the name of each variable of the function that is in scope; it may change between calls.
  ExpressionPrinter(Unit& unit, const ir::Function& function, const std::vector<std::string>& names);

  /// The expression as an operand of a comma or an assignment.
  std::string print(ir::ExprId expr, LiteralForm form = LiteralForm::kTyped);
  /// The value that a variable of the expression's type is initialised with: a vector's components as {a, b, c}.
  std::string initialiser(ir::ExprId expr);
  /// A condition in parentheses.
  std::string condition(ir::ExprId expr);
  /// "(!c)", or "(c)" where the expression is itself a negation.
  std::string negated_condition(ir::ExprId expr);
  /// "x.at(i, j)", or "x[i]" for a local array.
  std::string element(ir::ExprId array, const std::vector<ir::ExprId>& indices);
  /// "x.data", which may be null, when the array belongs to a nullable parameter; else empty.
  std::string null_test(ir::ExprId array);
  std::string subscript(ir::ExprId index) { return "[" + print(index) + "]"; }
  std::string arguments(const std::vector<ir::ExprId>& args, LiteralForm form);
  /// Zero of a type, where another operand tells the type of a scalar.
  std::string zero(ir::Type type);

 private:
  Text text(ir::ExprId expr, LiteralForm form);
  Text operation(const ir::Expr& expr);
  bool lists_components(const ir::Expr& e) const;
  Text extract(const ir::Expr& e);
  Text pattern(const ir::Expr& expr);
  Text infix(const ir::Expr& expr, std::string_view token, int precedence);
  Text prefix(const ir::Expr& expr, std::string_view token);
  Text conditional(const ir::Expr& expr);
  Text call_pattern(const ir::Expr& expr, std::string_view pattern);
  Text load(const ir::Expr& expr);
  // tile_expressions.cpp
  Text by_element(ir::ExprId expr);
  Text load_tile(const ir::Expr& expr);
  Text cast(const ir::Expr& expr);
  Text narrowed(const ir::Expr& expr, Text result);
  bool wraps(const ir::Expr& expr) const;
  void use_operator(const ir::Expr& expr);
  std::string operand(ir::ExprId expr, int precedence, LiteralForm form = LiteralForm::kTyped);

  const ir::Expr& expr(ir::ExprId id) const { return function_.expr(id); }
  /// Found out when it is first asked for: kernels without arithmetic on integers never do.
  const Overflow& overflow() const {
    if (!overflow_) overflow_.emplace(function_);
    return *overflow_;
  }

  Unit& unit_;
  const ir::Function& function_;
  const std::vector<std::string>& names_;
  mutable std::optional<Overflow> overflow_;
  std::optional<ir::Function> copy_;  ///< for by_element
};

/// The functions that an operation's text calls.
const std::vector<std::string_view>& functions_of(ir::Op op);

}  // namespace assay::source
