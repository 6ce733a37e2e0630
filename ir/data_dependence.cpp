#include "ir/data_dependence.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "ir/analysis.hpp"
#include "ir/element_part.hpp"
#include "ir/visit.hpp"

namespace assay::ir {
namespace {

/// What a caller passes for a parameter, or what a variable contains.
struct Content {
  bool depends_on_data = false;    ///< whether the value depends on the content of an array
  VarId kernel_parameter = kNone;  ///< the parameter of the kernel that an array parameter stands for
};

/// Interprets one call of a function, or the kernel, with "depends on data" for values.
class FunctionWalk {
 public:
  FunctionWalk(const Module& module, const Function& function, std::vector<Content> parameters, bool is_conditional,
               std::vector<DataDependence>& dependences)
      : module_(module),
        function_(function),
        contents_(std::move(parameters)),
        assigned_variables_(assigned_variables(function.body)),
        is_conditional_(is_conditional),
        dependences_(dependences) {
    contents_.resize(function.variables.size());
  }

  /// Whether the results depend on data.
  bool run() {
    do {
      is_changed_ = false;
      is_left_conditionally_ = false;
      conditional_accesses_.clear();
      certain_accesses_.clear();
      walk(function_.body, is_conditional_);
    } while (is_changed_);
    for (const Access& access : conditional_accesses_)
      if (std::ranges::none_of(certain_accesses_, [&](const Access& certain) { return is_same(access, certain); }))
        if (DataDependence* const dependence = dependence_of(function_.expr(access.array)))
          dependence->is_conditional = true;
    return results_depend_;
  }

 private:
  struct Access {
    ExprId array;
    std::vector<ExprId> indices;
  };

  /// Whether both accesses are to the same element wherever both are made.
  bool is_same(const Access& a, const Access& b) const {
    const auto is_constant = [&](ExprId index) {
      return std::ranges::none_of(variables_read(function_, index), [&](VarId variable) {
        return std::ranges::binary_search(assigned_variables_, variable);
      });
    };
    return function_.expr(a.array).variable == function_.expr(b.array).variable &&
           std::ranges::equal(a.indices, b.indices,
                              [&](ExprId x, ExprId y) { return is_constant(x) && same_expression(function_, x, y); });
  }

  bool& dependence_of(VarId variable) { return contents_[static_cast<std::size_t>(variable)].depends_on_data; }

  void set(VarId variable, bool depends) {
    if (!depends || dependence_of(variable)) return;
    dependence_of(variable) = true;
    is_changed_ = true;
  }

  void walk(const Block& block, bool conditional) {
    for (const Stmt& statement : block.statements)
      walk(statement, conditional || is_left_conditionally_);
  }

  /// The body runs again after a conditional `break` or `return` in it.
  void walk_loop(const Block& body, bool conditional) {
    const std::size_t before = certain_accesses_.size();
    const bool was_left = is_left_conditionally_;
    walk(body, conditional || is_left_conditionally_);
    if (is_left_conditionally_ && !was_left) certain_accesses_.resize(before);
    walk(body, conditional || is_left_conditionally_);
  }

  void walk(const Stmt& statement, bool conditional) {
    std::visit(Overloaded{
                   [&](const Let& let) { set(let.variable, value(let.value, conditional) || conditional); },
                   [&](const Assign& assign) { set(assign.variable, value(assign.value, conditional) || conditional); },
                   [&](const Store& store) {
                     const bool depends = access(store.array, store.indices, conditional);
                     store_to_local(store.array, value(store.value, conditional) || depends);
                   },
                   [&](const Atomic& atomic) {
                     access(atomic.array, atomic.indices, conditional);
                     value(atomic.value, conditional);
                     if (atomic.compare_operand != kNone) value(atomic.compare_operand, conditional);
                     if (atomic.result != kNone) set(atomic.result, true);
                   },
                   [&](const Call& call) {
                     const bool depends = enter(call.function, call.args, conditional);
                     for (const VarId result : call.results)
                       set(result, depends);
                   },
                   [&](const If& branch) {
                     const bool inside = value(branch.condition, conditional) || conditional;
                     walk(branch.then_block, inside);
                     walk(branch.else_block, inside);
                   },
                   [&](const For& loop) {
                     bool depends = conditional;
                     for (const ExprId bound : {loop.start, loop.stop, loop.step})
                       depends |= value(bound, conditional);
                     set(loop.variable, depends);
                     walk_loop(loop.body, depends);
                   },
                   [&](const While& loop) { walk_loop(loop.body, value(loop.condition, conditional) || conditional); },
                   [&](const Return& leave) {
                     is_left_conditionally_ |= conditional;
                     results_depend_ |= conditional;
                     for (const ExprId result : leave.values)
                       results_depend_ |= value(result, conditional);
                   },
                   [&](const auto&) { is_left_conditionally_ |= conditional; },  // break and continue
               },
               statement.node);
  }

  void store_to_local(ExprId array, bool depends) {
    const Expr& expr = function_.expr(array);
    if (expr.kind == ExprKind::kVariable && expr.type.is_local_array()) set(expr.variable, depends);
  }

  /// Records an access; returns whether it or its indices depend on data.
  bool access(ExprId array, const std::vector<ExprId>& indices, bool conditional) {
    std::vector<bool> is_computed;
    for (const ExprId index : indices)
      is_computed.push_back(value(index, conditional));
    const bool is_any_computed = std::ranges::find(is_computed, true) != is_computed.end();
    const Expr& expr = function_.expr(array);
    if (expr.type.is_array()) {
      if (DataDependence* const dependence = dependence_of(expr)) {
        for (std::size_t d = 0; d < is_computed.size(); ++d)
          if (is_computed[d]) dependence->has_computed_index[d] = true;
        (conditional ? conditional_accesses_ : certain_accesses_).push_back({array, indices});
      } else {
        for (DataDependence& any : dependences_) {
          any.is_conditional = true;
          any.has_computed_index.assign(any.has_computed_index.size(), true);
        }
      }
    }
    return is_any_computed || conditional;
  }

  /// The result for the parameter that the array stands for; null if it is unknown.
  DataDependence* dependence_of(const Expr& array) {
    const VarId parameter = array.kind == ExprKind::kVariable
                                ? contents_[static_cast<std::size_t>(array.variable)].kernel_parameter
                                : kNone;
    return parameter == kNone ? nullptr : &dependences_[static_cast<std::size_t>(parameter)];
  }

  /// Whether the value of the expression depends on data. Records the accesses in it.
  bool value(ExprId id, bool conditional) {
    if (id == kNone) return false;
    const Expr& expr = function_.expr(id);
    switch (expr.kind) {
      case ExprKind::kLiteral:
      case ExprKind::kShapeOf: return false;
      case ExprKind::kVariable: return dependence_of(expr.variable);
      case ExprKind::kCall: return enter(expr.index, expr.args, conditional);
      case ExprKind::kLoad: {
        const std::vector<ExprId> indices(expr.args.begin() + 1, expr.args.end());
        const bool depends = access(expr.args[0], indices, conditional);
        const Expr& array = function_.expr(expr.args[0]);
        return depends || array.type.is_array() || dependence_of(array.variable);
      }
      default: break;
    }
    bool depends = false;
    for (const ExprId operand : expr.args) {
      const bool is_skipped = is_lazy(expr.op) && expr.kind == ExprKind::kOperation && depends;
      depends |= value(operand, conditional || is_skipped);
    }
    return depends;
  }

  /// Walks a called function; returns whether its results depend on data.
  bool enter(std::int32_t callee, const std::vector<ExprId>& arguments, bool conditional) {
    std::vector<Content> parameters;
    for (const ExprId argument : arguments) {
      const Expr& expr = function_.expr(argument);
      Content& parameter = parameters.emplace_back();
      if (!expr.type.is_array()) parameter.depends_on_data = value(argument, conditional);
      else if (expr.kind == ExprKind::kVariable)
        parameter.kernel_parameter = contents_[static_cast<std::size_t>(expr.variable)].kernel_parameter;
    }
    return FunctionWalk(module_, module_.functions[static_cast<std::size_t>(callee)], std::move(parameters),
                        conditional, dependences_)
        .run();
  }

  const Module& module_;
  const Function& function_;
  std::vector<Content> contents_;          ///< by variable
  std::vector<VarId> assigned_variables_;  ///< ascending
  /// Accesses to arrays; data decides whether those of the first list are made.
  std::vector<Access> conditional_accesses_, certain_accesses_;
  bool is_conditional_;                       ///< whether data decides if the function is called
  std::vector<DataDependence>& dependences_;  ///< the result, by parameter of the kernel
  bool is_left_conditionally_ = false;  ///< whether data may have ended a loop or the function before this statement
  bool results_depend_ = false;
  bool is_changed_ = false;  ///< whether the last walk changed `contents_`
};

}  // namespace

std::vector<DataDependence> data_dependences(const Module& module, const Function& kernel) {
  const auto count = static_cast<std::size_t>(kernel.parameter_count);
  std::vector<DataDependence> dependences(count);
  std::vector<Content> parameters(count);
  for (std::size_t p = 0; p < count; ++p) {
    parameters[p].kernel_parameter = static_cast<VarId>(p);
    dependences[p].has_computed_index.assign(kernel.variables[p].type.rank, false);
  }
  FunctionWalk(module, kernel, std::move(parameters), false, dependences).run();
  return dependences;
}

}  // namespace assay::ir
