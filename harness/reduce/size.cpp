#include "harness/reduce/size.hpp"

#include <bit>
#include <cstdlib>

#include <fmt/format.h>

#include "harness/judge/inputs/preconditions.hpp"
#include "harness/reduce/rewrite.hpp"
#include "ir/visit.hpp"

namespace assay::reduce {
namespace {

using namespace ir;

std::int64_t weight_of(const Expr& expr) {
  if (expr.kind == ExprKind::kLiteral) return 1;
  return expr.kind == ExprKind::kVariable ? 2 : 3;
}

std::int64_t digits_of(const Expr& expr) {
  if (expr.kind != ExprKind::kLiteral) return 0;
  if (is_float(expr.type.scalar)) return std::ssize(fmt::format("{}", std::bit_cast<double>(expr.bits)));
  const auto value = static_cast<std::int64_t>(expr.bits);
  return std::bit_width(value < 0 ? ~expr.bits + 1 : expr.bits) + (value < 0 ? 1 : 0);
}

std::int64_t weight_of(Type type) {
  if (type.shape == Shape::kStruct || type.is_void()) return 0;
  const bool is_usual = type.scalar == Scalar::kF32 || type.scalar == Scalar::kI32 || type.scalar == Scalar::kBool;
  return (is_usual ? 0 : 1) + type.components() - 1;
}

void add(KernelSize& size, const Function& function) {
  for_each_statement(function.body, [&](const Stmt&) { ++size.statements; });
  for (const Expr& expr : function.expressions) {
    size.expression_weight += weight_of(expr);
    size.literal_digits += digits_of(expr);
    size.type_weight += weight_of(expr.type);
  }
  for (const Variable& variable : function.variables)
    size.type_weight += weight_of(variable.type);
  size.parameters += function.parameter_count + function.launch_rank;
  for (VarId p = 0; p < function.parameter_count; ++p)
    size.parameters += function.var(p).type.rank;
}

/// Penalties for a launch of unknown extent, and for a known extent.
constexpr std::int64_t kOpenLaunch = 100;

bool is_number(const harness::PreconditionTerm& term) { return term.kind == harness::PreconditionTerm::Kind::kNumber; }

bool is_pinned(const std::optional<harness::PreconditionRange>& range) {
  return range && range->low && range->high && is_number(*range->low) && is_number(*range->high) &&
         range->low->number == range->high->number;
}

std::int64_t openness(const Module& module, const Function& kernel) {
  const Result<harness::Preconditions> preconditions = harness::parse_preconditions(module, kernel);
  if (!preconditions.ok()) return kOpenLaunch;
  std::int64_t open = preconditions->launch_extents.empty() ? kOpenLaunch : 0;
  for (const harness::PreconditionTerm& extent : preconditions->launch_extents)
    open += is_number(extent) ? std::bit_width(static_cast<std::uint64_t>(std::abs(extent.number))) : kOpenLaunch / 2;
  for (VarId p = 0; p < kernel.parameter_count; ++p) {
    const auto number = static_cast<std::size_t>(p);
    const bool is_open = !preconditions->range_by_parameter[number] && !preconditions->must_be_permutation[number];
    if (!is_pinned(preconditions->range_by_parameter[number])) open += is_open ? 2 : 3;
  }
  return open;
}

}  // namespace

KernelSize size_of(const Module& module) {
  KernelSize size;
  for (const Function& function : module.functions) {
    if (!is_written(function)) continue;
    size.functions +=
        1 + (function.gradient_function_index != kNone ? 1 : 0) + (function.replay_function_index != kNone ? 1 : 0);
    add(size, function);
  }
  add(size, module.kernels.front());
  for (const StructDef& definition : module.structs) {
    size.parameters += std::ssize(definition.fields);
    for (const Field& field : definition.fields)
      size.type_weight += weight_of(field.type);
  }
  size.unfixed_input_weight = openness(module, module.kernels.front());
  return size;
}

}  // namespace assay::reduce
