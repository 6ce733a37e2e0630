#include "frontend/warp/parse/function_context.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frontend/warp/parse/warp_names.hpp"
#include "ir/library.hpp"
#include "ir/spelling/spelling.hpp"

namespace assay::frontend {

std::vector<ir::ExprId> FunctionContext::adjoint_values() {
  std::vector<ir::ExprId> values;
  const auto given = function.parameter_count - static_cast<int>(adjoint_arrays_by_parameter.size());
  for (ir::VarId p = 0; p < given; ++p) {
    const auto found = adjoint_variables_by_parameter.find(function.var(p).name);
    if (found != adjoint_variables_by_parameter.end()) values.push_back(builder.var(found->second));
  }
  return values;
}

std::vector<ir::ExprId> FunctionContext::reference_values() {
  std::vector<ir::ExprId> values;
  for (const ir::VarId reference : references)
    values.push_back(builder.var(reference));
  return values;
}

std::string_view FunctionContext::global_name(SyntaxNode node) const {
  const SyntaxNode first = node.is(SyntaxKind::kAttribute) ? node.part(SyntaxField::kObject) : node;
  if (!first.is(SyntaxKind::kIdentifier)) return {};
  const std::string_view name = first.text();
  if (bindings.find(name) != ir::kNone || data_flow.assignments(name) > 0) return {};
  if (node.is(SyntaxKind::kAttribute) && scope().file_module(name) == nullptr) return {};
  return node.text();
}

std::optional<Constant> FunctionContext::constant(SyntaxNode node) const {
  const bool is_static = node.is(SyntaxKind::kCall) && scope().warp_name(node.part(SyntaxField::kFunction)) == "static";
  return (is_static ? static_scope() : scope()).constant(node);
}

void FunctionContext::enter_static(std::string_view name, std::int64_t value) {
  ModuleScope inner(file.module(), &static_scope());
  inner.define_constant(name, Constant::integer(value));
  copied_loop_scopes_.push_back(std::move(inner));
}

ir::ExprId FunctionContext::error(SyntaxNode node, std::string reason) {
  has_failed = true;
  file.report(
      {.loc = node.loc(), .function = entry.name, .construct_excerpt = describe(node), .reason = std::move(reason)});
  return ir::kNone;
}

void FunctionContext::note(SyntaxNode node, std::string reason) {
  file.report({.severity = Severity::kNote,
               .loc = node.loc(),
               .function = entry.name,
               .construct_excerpt = describe(node),
               .reason = std::move(reason)});
}

ir::ExprId FunctionContext::add(SyntaxNode node, ir::Expr expr) {
  expr.loc = node.loc();
  function.expressions.push_back(std::move(expr));
  return static_cast<ir::ExprId>(function.expressions.size()) - 1;
}

namespace {

std::string types_found(const FunctionContext& context, const std::vector<ir::Type>& types) {
  std::vector<std::string> names;
  for (const ir::Type type : types)
    names.push_back(context.type_name(type));
  return fmt::format("got {}", names.empty() ? "nothing" : fmt::to_string(fmt::join(names, " and ")));
}

/// Why Warp does not support the operator for these tiles; empty if it does, or without tiles.
std::string why_not_on_tiles(ir::Op op, const std::vector<ir::Type>& types) {
  const bool any = std::ranges::any_of(types, &ir::Type::is_tile);
  if (!any || !ir::is_elementwise(op) || op == ir::Op::kNeg || op == ir::Op::kCast) return {};
  const bool all = std::ranges::all_of(types, &ir::Type::is_tile);
  if ((op == ir::Op::kAdd || op == ir::Op::kSub) && all) return {};
  if (op == ir::Op::kMul || op == ir::Op::kDiv) return {};
  if ((op == ir::Op::kBitAnd || op == ir::Op::kBitOr || op == ir::Op::kBitXor) && all) return {};
  if (op == ir::Op::kAdd || op == ir::Op::kSub)
    return "Warp supports this operator for two tiles only; create a tile with wp.tile_full, or use wp.tile_map";
  return "this operation is supported for scalars only; use wp.tile_map for tiles";
}

/// Why Warp lacks an operation that the language has; empty if Warp has it.
std::string_view why_not_in_warp(ir::Op op, const std::vector<ir::Type>& types, ir::Type requested) {
  const bool is_of_transforms = op == ir::Op::kDiv || op == ir::Op::kNeg || op == ir::Op::kDot;
  if (is_of_transforms && types[0].is_transform())
    return "Warp does not compile this operation for transforms; use their translations and rotations";
  if (op == ir::Op::kCast && requested.is_bool() && types[0].is_float_scalar() && ir::row(types[0].scalar).bytes == 2)
    return "Warp does not convert 16-bit floats to bool; compare the value with zero";
  return {};
}

}  // namespace

ir::ExprId FunctionContext::apply_by_element(SyntaxNode node, ir::Op op, const std::vector<ir::ExprId>& args) {
  std::vector<ir::Type> types;
  for (const ir::ExprId arg : args)
    types.push_back(type_of(arg));
  if (const auto type = ir::result_type(op, types); !type.ok())
    return error(node, fmt::format("{}, {}", type.error().message, types_found(*this, types)));
  builder.at(node.loc());
  return builder.op(op, args);
}

ir::ExprId FunctionContext::operation(SyntaxNode node, ir::Op op, const std::vector<ir::ExprId>& args,
                                      ir::Type requested) {
  std::vector<ir::Type> types;
  for (const ir::ExprId arg : args) {
    if (arg == ir::kNone) return ir::kNone;
    types.push_back(type_of(arg));
  }
  if (const std::string reason = why_not_on_tiles(op, types); !reason.empty()) return error(node, reason);
  const auto type = ir::result_type(op, types, requested);
  if (const std::string_view reason = type.ok() ? why_not_in_warp(op, types, requested) : ""; !reason.empty())
    return error(node, std::string(reason));
  if (type.ok()) {
    builder.at(node.loc());
    return builder.op(op, args, requested);
  }
  // Warp supports some operations for more types, as functions.
  const auto found = ir::library_function(file.module(), warp_name(op), types);
  if (found.ok()) return call(node, *found, args);
  return error(node, fmt::format("{}, {}", type.error().message, types_found(*this, types)));
}

ir::ExprId FunctionContext::library_call(SyntaxNode node, std::string_view name, const std::vector<ir::ExprId>& args) {
  std::vector<ir::Type> types;
  for (const ir::ExprId arg : args) {
    if (arg == ir::kNone) return ir::kNone;
    types.push_back(type_of(arg));
  }
  const auto is_other_float = [](ir::Type type) {
    return ir::is_float(type.scalar) && type.scalar != ir::Scalar::kF32;
  };
  if (is_float32_only(name) && std::ranges::any_of(types, is_other_float))
    return error(node, fmt::format("Warp defines this function for float32 only, {}", types_found(*this, types)));
  const auto found = ir::library_function(file.module(), name, types);
  if (found.ok() && file.module().functions[static_cast<std::size_t>(*found)].results.size() > 1) {
    return error(node, "function returns several values; unpack them, as in a, b = ...");
  }
  if (found.ok()) return call(node, *found, args);
  return error(node, fmt::format("{}, {}", found.error().message, types_found(*this, types)));
}

ir::ExprId FunctionContext::call(SyntaxNode node, int function_index, const std::vector<ir::ExprId>& args) {
  builder.at(node.loc());
  return builder.call(function_index, args);
}

ir::ExprId FunctionContext::copy(ir::ExprId expr) {
  ir::Expr node = function.expr(expr);
  for (ir::ExprId& arg : node.args)
    arg = copy(arg);
  function.expressions.push_back(std::move(node));
  return static_cast<ir::ExprId>(function.expressions.size()) - 1;
}

std::string FunctionContext::type_name(ir::Type type) const {
  if (type.is_array()) return fmt::format("array(dtype={}, ndim={})", type_name(type.element()), type.rank);
  if (type.is_local_array()) return fmt::format("array of {} {}", type.extent, type_name(type.element()));
  if (type.is_struct()) return builder.module().structs[type.struct_id].name;
  if (type.tile_rank() == 1)
    return fmt::format("tile(shape={}, dtype={})", type.tile[0], type_name(type.tile_element_type()));
  if (type.tile_rank() == 2)
    return fmt::format("tile(shape=({}, {}), dtype={})", type.tile[0], type.tile[1],
                       type_name(type.tile_element_type()));
  if (type.is_scalar()) return std::string(ir::row(type.scalar).warp_name);
  if (std::string name = ir::spelling::short_name(type); !name.empty()) return name;
  if (type.is_vector()) return fmt::format("vector of {} {}", type.rows, type_name(type.component()));
  if (type.is_matrix()) return fmt::format("{}x{} matrix of {}", type.rows, type.cols, type_name(type.component()));
  return "nothing";
}

}  // namespace assay::frontend
