// Steps that shrink expressions. Arenas store operands first, so an operand is already reduced when it replaces its
// parent.
#include <array>
#include <functional>
#include <optional>

#include "harness/reduce/rewrite.hpp"
#include "harness/reduce/step.hpp"
#include "ir/builder.hpp"
#include "ir/visit.hpp"

namespace assay::reduce {
namespace {

using namespace ir;

/// Calls visit(function, id) for each expression that is a value.
void for_each_value(Module& module, const std::function<void(Function&, ExprId)>& visit) {
  for (Function* function : written_functions(module)) {
    const auto count = static_cast<ExprId>(function->expressions.size());
    for (ExprId id = 0; id < count; ++id)
      if (function->expr(id).type.is_value()) visit(*function, id);
  }
}

bool is_leaf(const Expr& expr) { return expr.kind == ExprKind::kLiteral || expr.kind == ExprKind::kVariable; }

/// Plain replacement values of the type. Contains alternatives for positions in which the first is invalid.
std::vector<ExprId> plain_values(const Module& module, Function& function, Type type) {
  std::vector<ExprId> values;
  if (const ExprId plain = plain_value(module, function, type); plain != kNone) values.push_back(plain);
  if (type.is_scalar() && !is_float(type.scalar))
    values.push_back(Builder(module, function).literal(type, std::int64_t{0}));
  return values;
}

std::optional<VarId> first_parameter(const Function& function, Type type) {
  for (VarId p = 0; p < function.parameter_count; ++p)
    if (function.var(p).type == type) return p;
  return std::nullopt;
}

/// Replacements of the type for larger expressions: a parameter, a thread index, or the thread's element of an array.
std::vector<ExprId> parameter_values(const Module& module, Function& function, Type type) {
  Builder b(module, function);
  std::vector<ExprId> values;
  if (const auto parameter = first_parameter(function, type)) values.push_back(b.var(*parameter));
  if (!function.is_kernel) return values;
  const VarId thread = function.parameter_count;
  if (type == kI32) values.push_back(b.var(thread));
  if (const auto array = first_parameter(function, type.array_of(1))) values.push_back(b.load(*array, {b.var(thread)}));
  return values;
}

/// Offers each of the values, and replaces the expression by the first chosen value.
void choose_one(Function& function, ExprId where, const std::vector<ExprId>& values, const Choose& choose) {
  bool done = false;
  for (const ExprId value : values) {
    if (!choose() || done) continue;
    replace(function, where, value);
    done = true;
  }
}

}  // namespace

void take_operands(Module& module, const Choose& choose) {
  for_each_value(module, [&](Function& function, ExprId id) {
    std::vector<ExprId> operands;
    for (const ExprId arg : function.expr(id).args)
      if (function.expr(arg).type == function.expr(id).type) operands.push_back(arg);
    choose_one(function, id, operands, choose);
  });
}

void take_plain_values(Module& module, const Choose& choose) {
  for_each_value(module, [&](Function& function, ExprId id) {
    choose_one(function, id, plain_values(module, function, function.expr(id).type), choose);
  });
}

void take_parameters(Module& module, const Choose& choose) {
  for_each_value(module, [&](Function& function, ExprId id) {
    if (is_leaf(function.expr(id))) return;
    choose_one(function, id, parameter_values(module, function, function.expr(id).type), choose);
  });
}

}  // namespace assay::reduce
