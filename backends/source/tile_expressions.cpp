// The part of ExpressionPrinter that prints tiles. Nested elementwise operations become a single tile_map:
//
//     tile_map<Tile<real, 4, 4>>([&](real x, real y) { return sin(x) * y; }, x, y)
#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "backends/source/expressions.hpp"
#include "ir/analysis.hpp"
#include "support/concat.hpp"

namespace assay::source {
namespace {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;
using ir::Op;
using ir::Type;

/// Rewrites elementwise tile operations as operations on one element, in a copy of the function that is restored
/// afterwards.
class OneElement {
 public:
  OneElement(ir::Function& body, const std::vector<std::string>& names)
      : body_(body), given_(body.variables.size()), variable_names_(names) {}
  OneElement(const OneElement&) = delete;
  OneElement& operator=(const OneElement&) = delete;
  ~OneElement() {
    for (auto& [id, expr] : std::views::reverse(before_))
      body_.expressions[static_cast<std::size_t>(id)] = std::move(expr);
    body_.variables.erase(body_.variables.begin() + static_cast<std::ptrdiff_t>(given_), body_.variables.end());
  }

  void take(ExprId id) {
    before_.emplace_back(id, body_.expr(id));
    Expr& e = body_.expressions[static_cast<std::size_t>(id)];
    if (!e.type.is_tile()) {
      // Other tile operations must be executed by all threads of the block, including threads without an element.
      if (ir::works_with_tiles(body_, id)) stand_in(id);
      return;
    }
    e.type = e.type.tile_element_type();
    const bool is_elementwise =
        e.kind == ExprKind::kCall || (e.kind == ExprKind::kOperation && ir::is_elementwise(e.op));
    if (is_elementwise) {
      // A copy, although taking an operand does not move `e`.
      for (const ExprId arg : std::vector<ExprId>(e.args))
        take(arg);
    } else if (e.kind == ExprKind::kOperation && e.op == Op::kSplat) {
      take(e.args[0]);
      const Expr value = body_.expr(e.args[0]);
      body_.expressions[static_cast<std::size_t>(id)] = value;
    } else {
      stand_in(id);
    }
  }

  const ir::Function& body() const { return body_; }
  const std::vector<std::string>& names() const { return variable_names_; }
  /// The tiles whose elements are operands, and the variable for the element of each.
  const std::vector<std::pair<ExprId, ir::VarId>>& operands() const { return operands_; }

 private:
  /// The lambda parameter for the element of a tile, or for a number, that is a variable or the result of another
  /// operation; one per variable.
  void stand_in(ExprId id) {
    Expr& e = body_.expressions[static_cast<std::size_t>(id)];
    const ir::VarId source = e.kind == ExprKind::kVariable ? e.variable : ir::kNone;
    auto known = source == ir::kNone ? by_variable_.end() : by_variable_.find(source);
    if (known == by_variable_.end()) {
      const auto parameter = static_cast<ir::VarId>(body_.variables.size());
      body_.variables.push_back({.name = "element", .type = e.type});
      variable_names_.push_back(source == ir::kNone ? fresh_name() : variable_names_[static_cast<std::size_t>(source)]);
      operands_.emplace_back(id, parameter);
      known = by_variable_.emplace(source == ir::kNone ? -2 - id : source, parameter).first;
    }
    e = Expr{.kind = ExprKind::kVariable, .type = e.type, .variable = known->second, .loc = e.loc};
  }

  std::string fresh_name() const {
    for (int n = 0;; ++n) {
      std::string name = n == 0 ? "element" : fmt::format("element_{}", n);
      if (std::ranges::find(variable_names_, name) == variable_names_.end()) return name;
    }
  }

  ir::Function& body_;
  std::size_t given_;                            ///< number of variables of the original function
  std::vector<std::pair<ExprId, Expr>> before_;  ///< the original rewritten expressions
  std::vector<std::string> variable_names_;
  std::vector<std::pair<ExprId, ir::VarId>> operands_;
  std::map<ir::VarId, ir::VarId> by_variable_;
};

}  // namespace

PrintedExpression ExpressionPrinter::print_elementwise(ExprId id) {
  if (!function_copy_) function_copy_ = function_;
  std::optional<OneElement> one(std::in_place, *function_copy_, variable_names_);
  one->take(id);
  ExpressionPrinter inner(unit_, one->body(), one->names(), extremum_operands_);
  const std::string value = inner.print(id);
  const auto operands = one->operands();
  const std::vector<std::string> names = one->names();
  one.reset();  // the operands may themselves be elementwise
  const std::string type = unit_.type(expr(id).type);
  if (operands.empty()) {
    unit_.helpers().use("tile_fill");
    return {concat("tile_fill<", type, ">(", value, ")"), kPostfixPrecedence};
  }
  unit_.helpers().use("tile_map");
  std::string parameters;
  std::string arguments;
  for (const auto& [tile, variable] : operands) {
    const std::string element = unit_.type(expr(tile).type.tile_element_type());
    append(parameters, parameters.empty() ? "" : ", ", element, " ", names[static_cast<std::size_t>(variable)]);
    append(arguments, ", ", print(tile));
  }
  return {concat("tile_map<", type, ">([&](", parameters, ") { return ", value, "; }", arguments, ")"),
          kPostfixPrecedence};
}

ExpressionPrinter::TilePlace ExpressionPrinter::tile_place(ExprId array, const std::vector<ExprId>& indices,
                                                           Type tile) {
  const std::size_t leading = ir::leading_index_count(expr(array).type, tile);
  TilePlace place{.array = print(array), .offsets = {}};
  for (std::size_t d = 0; d < leading; ++d) {
    unit_.helpers().use("subarray");
    place.array = concat("subarray(", place.array, ", ", print(indices[d], LiteralForm::kUntyped), ")");
  }
  place.offsets =
      arguments({indices.begin() + static_cast<std::ptrdiff_t>(leading), indices.end()}, LiteralForm::kUntyped);
  return place;
}

PrintedExpression ExpressionPrinter::load_tile(const Expr& e) {
  const std::vector<ExprId> offsets(e.args.begin() + 1, e.args.end());
  const std::string_view function = ir::has_tile(function_, offsets) ? "tile_load_indexed" : "tile_load";
  unit_.helpers().use(function);
  const TilePlace place = tile_place(e.args[0], offsets, e.type);
  std::string text = fmt::format("{}<{}>({}, {})", function, unit_.type(e.type), place.array, place.offsets);
  const std::string test = null_test(e.args[0]);
  if (test.empty()) return {std::move(text), kPostfixPrecedence};
  return {fmt::format("{} ? {} : {}", test, text, zero(e.type)), kTernaryPrecedence};
}

}  // namespace assay::source
