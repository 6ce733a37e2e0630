// Parser of expressions: infers and checks the type of every node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/module.hpp"
#include "ir/text_cursor.hpp"
#include "ir/text_scope.hpp"

namespace assay::ir::text {

/// Parses the expressions of one function.
class ExpressionParser {
 public:
  /// Keeps references to all; appends nodes to `function`.
  ExpressionParser(Cursor& cursor, const ParsedDeclarations& scope, Function& function, const IndexByName& variables)
      : cursor_(cursor), scope_(scope), function_(function), variables_(variables) {}

  /// Parses one expression; kNone after a failure.
  ExprId parse();
  /// Parses expressions separated by commas, up to and including `close`.
  std::vector<ExprId> parse_list(std::string_view close);
  Type type_of(ExprId id) const { return id == kNone ? kVoid : function_.expr(id).type; }

 private:
  ExprId parse_primary();
  ExprId parse_postfix(ExprId operand);
  ExprId parse_literal();
  ExprId parse_integer(const Token& number, bool negative, Scalar scalar);
  ExprId parse_float(const Token& number, bool negative, Scalar scalar);
  ExprId parse_named_float(const Token& word, bool negative);
  ExprId parse_application(const Token& word);
  ExprId parse_operation(const Token& word, Op op);
  ExprId parse_with_field(const Token& word);
  ExprId parse_shape(const Token& word);
  ExprId parse_tile_load(const Token& word);
  ExprId parse_call(const Token& word);
  ExprId parse_load(ExprId array, Loc loc);
  ExprId parse_field(ExprId object, Loc loc);
  std::int32_t parse_field_name(ExprId object);
  Scalar parse_suffix(Scalar otherwise);

  ExprId add(Expr expr, Loc loc);
  ExprId literal(Scalar scalar, std::uint64_t bits, Loc loc);
  ExprId fail(Loc loc, std::string message);

  Cursor& cursor_;
  const ParsedDeclarations& scope_;  ///< structs, functions and kernels parsed so far
  Function& function_;               ///< function to which expression nodes are appended
  const IndexByName& variables_;     ///< variables in scope, by name
  int nesting_depth_ = 0;            ///< nesting depth of the current expression
};

}  // namespace assay::ir::text
