// Steps that remove or shrink declarations: parameters, fields, dimensions, derivatives of functions.
#include <algorithm>
#include <variant>
#include <vector>

#include "harness/reduce/preconditions.hpp"
#include "harness/reduce/rewrite.hpp"
#include "harness/reduce/step.hpp"
#include "ir/builder.hpp"
#include "ir/visit.hpp"

namespace assay::reduce {
namespace {

using namespace ir;

bool is_mentioned(Function& function, VarId variable) {
  bool found = false;
  for_each_reference(function, [&](VarId& mentioned) { found |= mentioned == variable; });
  return found;
}

/// Calls visit(args) for the arguments of each call of the function. Kernels are never called.
void for_each_call(Module& module, const Function& callee, const std::function<void(std::vector<ExprId>&)>& visit) {
  if (callee.is_kernel) return;
  const auto number = static_cast<std::int32_t>(&callee - module.functions.data());
  for (Function* function : written_functions(module)) {
    for (Expr& expr : function->expressions)
      if (expr.kind == ExprKind::kCall && expr.index == number) visit(expr.args);
    for_each_statement(function->body, [&](Stmt& statement) {
      auto* call = std::get_if<Call>(&statement.node);
      if (call != nullptr && call->function == number) visit(call->args);
    });
  }
}

/// Whether another function must have the same parameters: the derivative of this one, or the function that it derives.
bool has_fixed_signature(const Module& module, const Function& function) {
  if (function.gradient_function_index != kNone || function.replay_function_index != kNone) return true;
  const auto number = static_cast<std::int32_t>(&function - module.functions.data());
  return !function.is_kernel && std::ranges::any_of(module.functions, [number](const Function& other) {
    return other.gradient_function_index == number || other.replay_function_index == number;
  });
}

void remove_parameter(Module& module, Function& function, VarId parameter) {
  if (function.is_kernel) drop_preconditions_about(function, function.var(parameter).name);
  for_each_call(module, function, [parameter](std::vector<ExprId>& args) { args.erase(args.begin() + parameter); });
  remove_variable(function, parameter);
  --function.parameter_count;
}

/// Visits each parameter, the last one first, so that the numbers of the others do not change.
void for_each_parameter(Module& module, const std::function<void(Function&, VarId)>& visit) {
  for (Function* function : written_functions(module)) {
    if (has_fixed_signature(module, *function)) continue;
    for (VarId p = function->parameter_count; p-- > 0;)
      visit(*function, p);
  }
}

/// Calls `visit` with each field number of the struct in the atomics of the function.
void for_each_updated_field(const Module& module, Function& function, std::uint16_t structure,
                            const std::function<void(std::int32_t&)>& visit) {
  for_each_statement(function.body, [&](Stmt& statement) {
    auto* atomic = std::get_if<Atomic>(&statement.node);
    if (atomic == nullptr) return;
    Type whole = function.expr(atomic->array).type.element();
    for (std::int32_t& field : atomic->fields) {
      const Type part = module.structs[whole.struct_id].fields[static_cast<std::size_t>(field)].type;
      if (whole.struct_id == structure) visit(field);
      whole = part;
    }
  });
}

bool mentions_field(const Module& module, Function& function, std::uint16_t structure, std::int32_t field) {
  bool is_updated = false;
  for_each_updated_field(module, function, structure, [&](std::int32_t& other) { is_updated |= other == field; });
  return is_updated || std::ranges::any_of(function.expressions, [&](const Expr& expr) {
           const bool reads = expr.kind == ExprKind::kField;
           if (!reads && !(expr.kind == ExprKind::kOperation && expr.op == Op::kWithField)) return false;
           const Type object = function.expr(expr.args.front()).type;
           return object.struct_id == structure && expr.index == field;
         });
}

void remove_field(Module& module, std::uint16_t structure, std::int32_t field) {
  const auto renumber = [&](Function& function) {
    for (Expr& expr : function.expressions) {
      const bool reads = expr.kind == ExprKind::kField;
      if (!reads && !(expr.kind == ExprKind::kOperation && expr.op == Op::kWithField)) continue;
      if (function.expr(expr.args.front()).type.struct_id == structure && expr.index > field) --expr.index;
    }
    for_each_updated_field(module, function, structure, [&](std::int32_t& other) {
      if (other > field) --other;
    });
  };
  for (Function& function : module.functions)
    renumber(function);
  renumber(module.kernels.front());
  auto& fields = module.structs[structure].fields;
  fields.erase(fields.begin() + field);
}

/// Removes the last dimension of an array of the kernel.
void flatten(Function& kernel, VarId array) {
  Type& type = kernel.variables[static_cast<std::size_t>(array)].type;
  --type.rank;
  const auto is_array = [&](ExprId id) { return kernel.expr(id).variable == array; };
  for (Expr& expr : kernel.expressions) {
    if (expr.kind == ExprKind::kVariable && expr.variable == array) expr.type = type;
    if (expr.kind == ExprKind::kLoad && is_array(expr.args.front())) expr.args.pop_back();
    if (expr.kind == ExprKind::kShapeOf && is_array(expr.args.front()))
      expr.index = std::min(expr.index, std::int32_t{type.rank} - 1);
  }
  for_each_statement(kernel.body, [&](Stmt& statement) {
    if (auto* store = std::get_if<Store>(&statement.node); store != nullptr && is_array(store->array))
      store->indices.pop_back();
    if (auto* atomic = std::get_if<Atomic>(&statement.node); atomic != nullptr && is_array(atomic->array))
      atomic->indices.pop_back();
  });
}

/// Removes a thread index and replaces it by 0.
void drop_thread_index(const Module& module, Function& kernel, VarId index) {
  const ExprId zero = Builder(module, kernel).i32(0);
  for (ExprId id = 0; id < zero; ++id)
    if (kernel.expr(id).kind == ExprKind::kVariable && kernel.expr(id).variable == index) replace(kernel, id, zero);
  drop_launch_annotation(kernel);
  remove_variable(kernel, index);
  --kernel.launch_rank;
}

}  // namespace

void drop_parameters(Module& module, const Choose& choose) {
  for_each_parameter(module, [&](Function& function, VarId p) {
    if (!is_mentioned(function, p) && choose()) remove_parameter(module, function, p);
  });
}

void merge_parameters(Module& module, const Choose& choose) {
  for_each_parameter(module, [&](Function& function, VarId p) {
    VarId earlier = 0;
    while (earlier < p && !(function.var(earlier).type == function.var(p).type))
      ++earlier;
    if (earlier == p || !choose()) return;
    for_each_reference(function, [&](VarId& mentioned) {
      if (mentioned == p) mentioned = earlier;
    });
    remove_parameter(module, function, p);
  });
}

void drop_fields(Module& module, const Choose& choose) {
  for (std::uint16_t s = 0; s < module.structs.size(); ++s) {
    for (auto f = static_cast<std::int32_t>(module.structs[s].fields.size()); f-- > 0;) {
      const auto mentions = [&](Function& function) { return mentions_field(module, function, s, f); };
      const bool used = mentions(module.kernels.front()) || std::ranges::any_of(module.functions, mentions);
      if (!used && choose() && module.structs[s].fields.size() > 1) remove_field(module, s, f);
    }
  }
}

void drop_dimensions(Module& module, const Choose& choose) {
  Function& kernel = module.kernels.front();
  for (VarId p = 0; p < kernel.parameter_count; ++p)
    if (kernel.var(p).type.rank > 1 && choose()) flatten(kernel, p);
  for (int d = kernel.launch_rank; d-- > 1;)
    if (choose()) drop_thread_index(module, kernel, kernel.parameter_count + d);
}

void drop_derivatives(Module& module, const Choose& choose) {
  for (Function& function : module.functions) {
    if (function.gradient_function_index != kNone && choose()) function.gradient_function_index = kNone;
    if (function.replay_function_index != kNone && choose()) function.replay_function_index = kNone;
  }
}

}  // namespace assay::reduce
