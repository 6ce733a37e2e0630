#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "ir/analysis.hpp"
#include "ir/builder.hpp"
#include "ir/limits.hpp"
#include "ir/text.hpp"
#include "ir/verify_parts.hpp"

namespace assay::ir::detail {
namespace {

/// Whether the bits are a valid Expr::bits of the scalar type.
bool bits_fit(Scalar scalar, std::uint64_t bits) {
  if (!is_float(scalar)) return static_cast<std::uint64_t>(wrap_to(scalar, static_cast<std::int64_t>(bits))) == bits;
  const auto value = std::bit_cast<double>(bits);
  // Only the f64 promotion and the printers use the payload of a NaN.
  return std::isnan(value) || std::bit_cast<std::uint64_t>(round_to(scalar, value)) == bits;
}

class ExpressionVerifier {
 public:
  ExpressionVerifier(const Module& module, const Function& function, const Callees& callees,
                     VerifierDiagnostics& diagnostics)
      : module_(module), function_(function), callees_(callees), diagnostics_(diagnostics) {}

  std::vector<bool> verify() {
    const std::size_t count = function_.expressions.size();
    sound_.reserve(count);
    depths_.reserve(count);
    nodes_.reserve(count);
    for (ExprId id = 0; id < static_cast<ExprId>(count); ++id)
      sound_.push_back(is_sound(id));
    return std::move(sound_);
  }

 private:
  bool is_sound(ExprId id) {
    const Expr& expr = function_.expr(id);
    depths_.push_back(1);
    nodes_.push_back(1);
    for (const ExprId arg : expr.args) {
      if (arg < 0 || arg >= id) {
        return diagnose(expr, VerifierRule::kOperandAfterUse,
                        fmt::format("operand must precede its expression: expression {} has operand {}", id, arg));
      }
      if (!sound_[static_cast<std::size_t>(arg)]) return false;
      depths_.back() = std::max(depths_.back(), depths_[static_cast<std::size_t>(arg)] + 1);
      nodes_.back() += nodes_[static_cast<std::size_t>(arg)];
    }
    if (depths_.back() > kMaxExpressionDepth || nodes_.back() > kMaxExpressionNodes) {
      return diagnose(expr, VerifierRule::kExpressionSize,
                      fmt::format("expression must have a depth of at most {} and at most {} nodes, got {} and {}",
                                  kMaxExpressionDepth, kMaxExpressionNodes, depths_.back(), nodes_.back()));
    }
    if (!verify_type(module_, expr.type, expr.loc, diagnostics_)) return false;
    const std::optional<Type> type = inferred(expr);
    if (!type) return false;
    if (*type == expr.type) return true;
    return diagnose(
        expr, VerifierRule::kExpressionType,
        fmt::format("expression has type {}, but its operands require type {}", name(expr.type), name(*type)));
  }

  /// The type that follows from the operands, or nothing if a rule is broken.
  std::optional<Type> inferred(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::kLiteral: return literal(expr);
      case ExprKind::kVariable: return variable(expr);
      case ExprKind::kOperation: return operation(expr);
      case ExprKind::kLoad: return load(expr);
      case ExprKind::kShapeOf: return shape_of(expr);
      case ExprKind::kField: return field(expr);
      case ExprKind::kCall: return call(expr);
    }
    return reject(expr, VerifierRule::kOperandTypes, "unknown kind of expression");
  }

  std::optional<Type> literal(const Expr& expr) {
    if (expr.type.is_scalar() && expr.args.empty() && bits_fit(expr.type.scalar, expr.bits)) return expr.type;
    return reject(expr, VerifierRule::kLiteralValue,
                  fmt::format("bits 0x{:x} are not a valid literal of type {}", expr.bits, name(expr.type)));
  }

  std::optional<Type> variable(const Expr& expr) {
    const auto count = static_cast<std::int64_t>(function_.variables.size());
    if (expr.variable >= 0 && expr.variable < count && expr.args.empty()) return function_.var(expr.variable).type;
    return reject(expr, VerifierRule::kUnknownVariable,
                  fmt::format("variable {} does not exist: the function has {} variables", expr.variable, count));
  }

  std::optional<Type> operation(const Expr& expr) {
    if (static_cast<int>(expr.op) >= kOpCount) return reject(expr, VerifierRule::kOperandTypes, "unknown operation");
    const bool with_field = row(expr.op).rule == TypeRule::kWithField;
    types_.clear();
    for (const ExprId arg : expr.args)
      types_.push_back(function_.expr(arg).type);
    const Type requested = with_field && !types_.empty() ? types_[0] : expr.type;
    const Result<Type> type = result_type(expr.op, types_, requested);
    if (!type.ok()) return reject(expr, VerifierRule::kOperandTypes, type.error().message);
    if (with_field) {
      const std::optional<Type> field = field_type(expr);
      if (!field) return std::nullopt;
      if (types_[1] != *field) {
        return reject(expr, VerifierRule::kOperandTypes,
                      fmt::format("with_field cannot set a field of type {} to a value of type {}", name(*field),
                                  name(types_[1])));
      }
    }
    return type.value();
  }

  std::optional<Type> load(const Expr& expr) {
    if (expr.args.empty()) return reject(expr, VerifierRule::kArrayOperand, "load requires an array operand, got none");
    const std::span<const ExprId> indices = std::span(expr.args).subspan(1);
    if (!verify_element_access(function_, expr.args[0], indices, expr.loc, diagnostics_)) return std::nullopt;
    const Type array = function_.expr(expr.args[0]).type;
    if (loads_tile(function_, expr) ? tile_fits(function_, expr.args[0], indices, expr.type)
                                    : !has_tile(function_, indices)) {
      return loads_tile(function_, expr) ? expr.type : array.element();
    }
    return reject(expr, VerifierRule::kTileArrayAccess,
                  fmt::format("cannot load a value of type {} from an array of type {}", name(expr.type), name(array)));
  }

  std::optional<Type> shape_of(const Expr& expr) {
    const Expr* array = expr.args.size() == 1 ? &function_.expr(expr.args[0]) : nullptr;
    if (array == nullptr || array->kind != ExprKind::kVariable || !array->type.is_array()) {
      return reject(expr, VerifierRule::kArrayOperand, "operand of shape must be an array variable");
    }
    if (expr.index >= 0 && expr.index < array->type.rank) return kI32;
    return reject(expr, VerifierRule::kShapeDimension,
                  fmt::format("dimension {} does not exist in an array of rank {}", expr.index, array->type.rank));
  }

  std::optional<Type> field(const Expr& expr) {
    if (expr.args.size() == 1) return field_type(expr);
    return reject(expr, VerifierRule::kOperandTypes,
                  fmt::format("field access takes 1 operand, got {}", expr.args.size()));
  }

  /// The type of field `index` of the struct that is the first operand.
  std::optional<Type> field_type(const Expr& expr) {
    const Type type = function_.expr(expr.args[0]).type;
    if (!type.is_struct()) {
      return reject(expr, VerifierRule::kUnknownField,
                    fmt::format("field access requires a struct, got {}", name(type)));
    }
    const StructDef& definition = module_.structs[type.struct_id];
    if (expr.index >= 0 && static_cast<std::size_t>(expr.index) < definition.fields.size()) {
      return definition.fields[static_cast<std::size_t>(expr.index)].type;
    }
    return reject(expr, VerifierRule::kUnknownField,
                  fmt::format("field {} does not exist in struct {}", expr.index, definition.name));
  }

  std::optional<Type> call(const Expr& expr) {
    if (expr.index < 0 || static_cast<std::size_t>(expr.index) >= callees_.functions.size()) {
      return reject(expr, VerifierRule::kUnknownFunction,
                    fmt::format("function {} is not declared before its caller", expr.index));
    }
    const Function& callee = callees_.functions[static_cast<std::size_t>(expr.index)];
    if (!verify_arguments(module_, function_, callee, expr.args, expr.loc, diagnostics_)) return std::nullopt;
    const bool applied_to_tile =
        std::ranges::any_of(expr.args, [&](ExprId arg) { return function_.expr(arg).type.is_tile(); });
    if (applied_to_tile && !acts_on_scalars(callee)) {
      return reject(expr, VerifierRule::kCallArguments,
                    fmt::format("function {} cannot be applied to a tile: it must take scalars and return one scalar",
                                callee.name));
    }
    const Type type = callee.results.size() == 1 ? called_type(function_, callee, expr.args) : kVoid;
    for (const ExprId arg : expr.args) {
      const Type given = function_.expr(arg).type;
      if (!given.is_tile() || given.tile == type.tile) continue;
      return reject(expr, VerifierRule::kCallArguments,
                    fmt::format("function {} cannot be applied to tiles of different shapes", callee.name));
    }
    if (!type.is_void()) return type;
    return reject(expr, VerifierRule::kCallResults,
                  fmt::format("function {} returns {} values; a call in an expression must return one", callee.name,
                              callee.results.size()));
  }

  static bool acts_on_scalars(const Function& callee) {
    const auto parameters = std::span(callee.variables).first(static_cast<std::size_t>(callee.parameter_count));
    return callee.results.size() == 1 && callee.results[0].is_scalar() &&
           std::ranges::all_of(parameters, [](const Variable& parameter) { return parameter.type.is_scalar(); });
  }

  std::string name(Type type) const { return to_text(module_, type); }
  bool diagnose(const Expr& expr, VerifierRule rule, const std::string& message) {
    diagnostics_.add(rule, expr.loc, message);
    return false;
  }
  std::optional<Type> reject(const Expr& expr, VerifierRule rule, const std::string& message) {
    diagnostics_.add(rule, expr.loc, message);
    return std::nullopt;
  }

  const Module& module_;
  const Function& function_;
  const Callees& callees_;
  VerifierDiagnostics& diagnostics_;
  std::vector<bool> sound_;
  std::vector<int> depths_;
  std::vector<std::int64_t> nodes_;
  std::vector<Type> types_;  ///< of the operands of the current expression
};

}  // namespace

std::vector<bool> verify_expressions(const Module& module, const Function& function, const Callees& callees,
                                     VerifierDiagnostics& diagnostics) {
  return ExpressionVerifier(module, function, callees, diagnostics).verify();
}

bool verify_element_access(const Function& function, ExprId array, std::span<const ExprId> indices, Loc loc,
                           VerifierDiagnostics& diagnostics) {
  const Expr& expr = function.expr(array);
  if (expr.kind != ExprKind::kVariable || !(expr.type.is_array() || expr.type.is_local_array())) {
    diagnostics.add(VerifierRule::kArrayOperand, loc, "only array variables can be indexed");
    return false;
  }
  const std::size_t rank = expr.type.is_array() ? expr.type.rank : 1;
  if (indices.size() != rank) {
    diagnostics.add(VerifierRule::kIndexCount, loc,
                    fmt::format("array access has {} indices, expected {}", indices.size(), rank));
    return false;
  }
  const auto is_index = [&](ExprId id) {
    const Type type = function.expr(id).type;
    return type.is_integer_scalar() || (type.is_tile() && type == tile_type(Scalar::kI32, type.tile[0]));
  };
  if (std::all_of(indices.begin(), indices.end(), is_index)) return true;
  diagnostics.add(VerifierRule::kIndexType, loc, "index must be an integer scalar");
  return false;
}

bool tile_fits(const Function& function, ExprId array, std::span<const ExprId> indices, Type tile) {
  const Type from = function.expr(array).type;
  const bool fits =
      from.is_array() && tile.is_tile() && from.element() == tile.tile_element_type() && from.rank >= tile.tile_rank();
  if (!fits) return false;
  const std::size_t leading = leading_index_count(from, tile);
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const Type index = function.expr(indices[d]).type;
    if (index.is_tile() && (d < leading || index.tile[0] != tile.tile[d - leading])) return false;
  }
  return true;
}

bool verify_arguments(const Module& module, const Function& function, const Function& callee,
                      const std::vector<ExprId>& args, Loc loc, VerifierDiagnostics& diagnostics) {
  const auto count = static_cast<std::size_t>(callee.parameter_count);
  if (args.size() != count) {
    diagnostics.add(VerifierRule::kCallArguments, loc,
                    fmt::format("function {} takes {} arguments, got {}", callee.name, count, args.size()));
    return false;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Variable& parameter = callee.variables[i];
    const Expr& arg = function.expr(args[i]);
    if (arg.type.is_tile() && arg.type.tile_element_type() == parameter.type) continue;
    if (arg.type != parameter.type) {
      diagnostics.add(VerifierRule::kCallArguments, loc,
                      fmt::format("argument {} of {} has type {}, expected {}", i + 1, callee.name,
                                  to_text(module, arg.type), to_text(module, parameter.type)));
      return false;
    }
    if (!arg.type.is_array()) continue;
    if (arg.kind != ExprKind::kVariable) {
      diagnostics.add(VerifierRule::kArrayOperand, loc,
                      fmt::format("argument {} of {} must be an array variable", i + 1, callee.name));
      return false;
    }
    if (function.var(arg.variable).is_nullable && !parameter.is_nullable) {
      diagnostics.add(VerifierRule::kCallArguments, loc,
                      fmt::format("argument {} of {} is nullable but the parameter is not", i + 1, callee.name));
      return false;
    }
  }
  return true;
}

}  // namespace assay::ir::detail
