#include "ir/index_sources.hpp"

#include <cstddef>
#include <span>
#include <utility>

#include "ir/visit.hpp"

namespace assay::ir {
namespace {

void add_all(IndexSources& to, const IndexSources& from) {
  to.direct.insert(from.direct.begin(), from.direct.end());
  to.indirect.insert(from.indirect.begin(), from.indirect.end());
}

/// What a caller passes for a parameter, or what a variable contains.
struct VariableContent {
  IndexSources sources;            ///< of the value
  VarId kernel_parameter = kNone;  ///< the parameter of the kernel that an array parameter stands for
};

/// Interprets one call of a function, or the kernel, with sources for values.
class SourceWalk {
 public:
  SourceWalk(const Module& module, const Function& function, std::vector<VariableContent> parameters,
             std::vector<ParameterIndexSources>& found)
      : module_(module), function_(function), contents_(std::move(parameters)), found_(found) {
    contents_.resize(function.variables.size());
  }

  /// The sources of the results.
  IndexSources run() {
    do {
      is_changed_ = false;
      walk(function_.body);
    } while (is_changed_);
    return results_;
  }

 private:
  void set(VarId variable, const IndexSources& sources) {
    IndexSources& known = contents_[static_cast<std::size_t>(variable)].sources;
    const IndexSources before = known;
    add_all(known, sources);
    is_changed_ |= known != before;
  }

  void walk(const Block& block) {
    for (const Stmt& statement : block.statements)
      walk(statement);
  }

  void walk(const Stmt& statement) {
    std::visit(Overloaded{
                   [&](const Let& let) { set(let.variable, value(let.value)); },
                   [&](const Assign& assign) { set(assign.variable, value(assign.value)); },
                   [&](const Store& store) {
                     change(store.array, store.indices);
                     const Expr& array = function_.expr(store.array);
                     const IndexSources stored = value(store.value);
                     if (array.kind == ExprKind::kVariable && array.type.is_local_array()) set(array.variable, stored);
                   },
                   [&](const Atomic& atomic) {
                     change(atomic.array, atomic.indices);
                     value(atomic.value);
                     if (atomic.compare_operand != kNone) value(atomic.compare_operand);
                   },
                   [&](const Call& call) {
                     const IndexSources sources = enter(call.function, call.args);
                     for (const VarId result : call.results)
                       set(result, sources);
                   },
                   [&](const If& branch) {
                     value(branch.condition);
                     walk(branch.then_block);
                     walk(branch.else_block);
                   },
                   [&](const For& loop) {
                     set(loop.variable, value(loop.start));
                     value(loop.stop);
                     value(loop.step);
                     walk(loop.body);
                   },
                   [&](const While& loop) {
                     value(loop.condition);
                     walk(loop.body);
                   },
                   [&](const Return& leave) {
                     for (const ExprId result : leave.values)
                       add_all(results_, value(result));
                   },
                   [&](const auto&) {},  // break and continue
               },
               statement.node);
  }

  IndexSources of_indices(std::span<const ExprId> indices) {
    IndexSources sources;
    for (const ExprId index : indices)
      add_all(sources, value(index));
    return sources;
  }

  /// The parameter of the kernel that an array expression stands for; kNone for other arrays.
  VarId parameter_of(const Expr& array) const {
    if (array.kind != ExprKind::kVariable || !array.type.is_array()) return kNone;
    return contents_[static_cast<std::size_t>(array.variable)].kernel_parameter;
  }

  void change(ExprId array, std::span<const ExprId> indices) {
    const IndexSources sources = of_indices(indices);
    const VarId parameter = parameter_of(function_.expr(array));
    if (parameter != kNone) add_all(found_[static_cast<std::size_t>(parameter)].stores, sources);
  }

  /// The sources of the value of an expression. Records the loads in it.
  IndexSources value(ExprId id) {
    if (id == kNone) return {};
    const Expr& expr = function_.expr(id);
    switch (expr.kind) {
      case ExprKind::kLiteral:
      case ExprKind::kShapeOf: return {};
      case ExprKind::kVariable: return contents_[static_cast<std::size_t>(expr.variable)].sources;
      case ExprKind::kCall: return enter(expr.index, expr.args);
      case ExprKind::kLoad: return load(expr);
      default: return of_indices(expr.args);
    }
  }

  IndexSources load(const Expr& expr) {
    const Expr& array = function_.expr(expr.args[0]);
    IndexSources indices = of_indices(std::span(expr.args).subspan(1));
    if (!array.type.is_array()) {
      add_all(indices, value(expr.args[0]));
      return indices;
    }
    const VarId parameter = parameter_of(array);
    if (parameter == kNone) return {};
    add_all(found_[static_cast<std::size_t>(parameter)].loads, indices);
    if (!is_integer(array.type.scalar)) return {};
    IndexSources loaded{.direct = {parameter}, .indirect = std::move(indices.direct)};
    loaded.indirect.insert(indices.indirect.begin(), indices.indirect.end());
    return loaded;
  }

  IndexSources enter(std::int32_t callee, std::span<const ExprId> arguments) {
    std::vector<VariableContent> parameters;
    for (const ExprId argument : arguments) {
      const Expr& expr = function_.expr(argument);
      if (expr.type.is_array()) parameters.push_back({.sources = {}, .kernel_parameter = parameter_of(expr)});
      else parameters.push_back({.sources = value(argument)});
    }
    return SourceWalk(module_, module_.functions[static_cast<std::size_t>(callee)], std::move(parameters), found_)
        .run();
  }

  const Module& module_;
  const Function& function_;
  std::vector<VariableContent> contents_;      ///< by variable
  std::vector<ParameterIndexSources>& found_;  ///< the result, by parameter of the kernel
  IndexSources results_;
  bool is_changed_ = false;  ///< whether the last walk changed `contents_`
};

}  // namespace

std::vector<ParameterIndexSources> index_sources(const Module& module, const Function& kernel) {
  const auto count = static_cast<std::size_t>(kernel.parameter_count);
  std::vector<ParameterIndexSources> found(count);
  std::vector<VariableContent> parameters(count);
  for (std::size_t p = 0; p < count; ++p)
    parameters[p].kernel_parameter = static_cast<VarId>(p);
  SourceWalk(module, kernel, std::move(parameters), found).run();
  return found;
}

}  // namespace assay::ir
