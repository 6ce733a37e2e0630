#include "harness/mutation/exact_values.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>
#include <vector>

#include "ir/builder.hpp"
#include "ir/visit.hpp"

namespace assay::mutation {

using namespace ir;

namespace {

/// Follows numbers to the constants that they come from. A number on which it itself depends adds no other constant, so
/// what is visited again counts as exact.
class ExactValues {
 public:
  ExactValues(const Module& module, Scalar low) : module_(module), low_(low) {}

  bool has_field(Type struct_type, std::int32_t field) {
    if (!fields_.insert({struct_type.struct_id, field}).second) return true;
    return !comes_from_arguments(struct_type) && all_functions([&](const Function& function) {
      return std::ranges::all_of(function.expressions, [&](const Expr& expr) {
        if (expr.kind != ExprKind::kOperation || expr.type != struct_type) return true;
        if (expr.op == Op::kWithField) return expr.index != field || is_exact(function, expr.args[1]);
        if (expr.op == Op::kMake) return is_exact(function, expr.args[static_cast<std::size_t>(field)]);
        return expr.op == Op::kWhere || expr.op == Op::kConditional;
      });
    });
  }

 private:
  template <class Test>
  bool all_functions(const Test& test) const {
    return std::ranges::all_of(module_.functions, test) && std::ranges::all_of(module_.kernels, test);
  }

  /// Whether a kernel may get structs of the type from its arguments, possibly inside of other structs.
  bool comes_from_arguments(Type struct_type) const {
    for (const StructDef& other : module_.structs)
      for (const Field& field : other.fields)
        if (field.type == struct_type || field.type.element() == struct_type) return true;
    for (const Function& kernel : module_.kernels)
      for (int p = 0; p < kernel.parameter_count; ++p)
        if (kernel.var(p).type == struct_type || kernel.var(p).type.element() == struct_type) return true;
    return false;
  }

  bool is_exact(const Function& function, ExprId id) {
    const Expr& expr = function.expr(id);
    switch (expr.kind) {
      case ExprKind::kLiteral: {
        const auto number = std::bit_cast<double>(expr.bits);
        return expr.type.is_float_scalar() && round_to(low_, number) == number;
      }
      case ExprKind::kVariable: return has_exact_variable(function, expr.variable);
      case ExprKind::kField: return has_field(function.expr(expr.args[0]).type, expr.index);
      case ExprKind::kCall: return returns_exact(expr.index, 0);
      case ExprKind::kOperation: break;
      default: return false;
    }
    switch (expr.op) {
      case Op::kSign:
      case Op::kStep: return true;
      case Op::kNeg:
      case Op::kAbs: return is_exact(function, expr.args[0]);
      case Op::kWhere:
      case Op::kConditional: return is_exact(function, expr.args[1]) && is_exact(function, expr.args[2]);
      default: return false;
    }
  }

  bool has_exact_variable(const Function& function, VarId variable) {
    if (function.is_parameter(variable) || !function.var(variable).type.is_float_scalar()) return false;
    if (!variables_.insert({&function, variable}).second) return true;
    bool is_exact_so_far = true;
    for_each_statement(function.body, [&](const Stmt& statement) {
      if (!is_exact_so_far) return;
      if (const auto* let = std::get_if<Let>(&statement.node)) {
        if (let->variable == variable && let->value != kNone) is_exact_so_far = is_exact(function, let->value);
      } else if (const auto* assign = std::get_if<Assign>(&statement.node)) {
        if (assign->variable == variable) is_exact_so_far = is_exact(function, assign->value);
      } else if (const auto* call = std::get_if<Call>(&statement.node)) {
        for (std::size_t k = 0; k < call->results.size(); ++k)
          if (call->results[k] == variable) is_exact_so_far = is_exact_so_far && returns_exact(call->function, k);
      } else if (const auto* atomic = std::get_if<Atomic>(&statement.node)) {
        if (atomic->result == variable) is_exact_so_far = false;
      }
    });
    return is_exact_so_far;
  }

  bool returns_exact(std::int32_t index, std::size_t result) {
    if (!results_.insert({index, result}).second) return true;
    const Function& function = module_.functions[static_cast<std::size_t>(index)];
    bool is_exact_so_far = true;
    for_each_statement(function.body, [&](const Stmt& statement) {
      const auto* leave = std::get_if<Return>(&statement.node);
      if (leave != nullptr) is_exact_so_far = is_exact_so_far && is_exact(function, leave->values[result]);
    });
    return is_exact_so_far;
  }

  const Module& module_;
  Scalar low_;
  std::set<std::pair<std::uint16_t, std::int32_t>> fields_;  ///< visited fields, by number of the struct
  std::set<std::pair<const Function*, VarId>> variables_;    ///< visited variables
  std::set<std::pair<std::int32_t, std::size_t>> results_;   ///< visited results, by index of the function
};

}  // namespace

bool has_exact_field(const Module& module, Type struct_type, std::int32_t field, Scalar low) {
  return ExactValues(module, low).has_field(struct_type, field);
}

}  // namespace assay::mutation
