// Mutations of the indices of gradients, and of the effects that the replay repeats.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "harness/mutation/finders.hpp"
#include "ir/analysis.hpp"
#include "ir/visit.hpp"

namespace assay::mutation {

using namespace ir;

namespace {

/// One access to a gradient: its indices, and how to replace them.
struct GradientAccess {
  std::size_t statement = 0;
  VarId gradient = kNone;
  std::vector<ExprId> indices;
  std::optional<ExpressionPosition> load;  ///< if it is a load in an expression
};

std::vector<GradientAccess> gradient_accesses(const MutationContext& context) {
  std::vector<GradientAccess> found;
  for (std::size_t s = 0; s < context.statements.size(); ++s) {
    const auto& node = context.statements[s].statement->node;
    const auto keep = [&](ExprId array, const std::vector<ExprId>& indices) {
      const VarId variable = context.function.expr(array).variable;
      if (context.is_gradient(variable)) found.push_back({s, variable, indices, std::nullopt});
    };
    if (const auto* atomic = std::get_if<Atomic>(&node)) keep(atomic->array, atomic->indices);
    if (const auto* store = std::get_if<Store>(&node)) keep(store->array, store->indices);
  }
  for (const CotangentLoad& seed : cotangent_loads(context)) {
    const std::vector<ExprId> indices(seed.load->args.begin() + 1, seed.load->args.end());
    found.push_back({seed.statement, seed.gradient, indices, seed.position});
  }
  return found;
}

Mutation reindexed(MutationOperator op, const MutationContext& context, const GradientAccess& access,
                   std::function<void(Builder&, std::vector<ExprId>&)> change) {
  return {op, access.statement, context.statements[access.statement].statement->loc,
          fmt::format("{}: '{}'", row(op).change, name_of(context, access.gradient)), [=](FunctionEditor& edit) {
            std::vector<ExprId> indices = access.indices;
            change(edit.make(), indices);
            if (access.load) return edit.replace(*access.load, edit.make().load(access.gradient, indices));
            auto& node = edit.at(access.statement).node;
            if (auto* atomic = std::get_if<Atomic>(&node)) atomic->indices = indices;
            if (auto* store = std::get_if<Store>(&node)) store->indices = indices;
          }};
}

/// Whether the index is loaded from an array: idx[i], or a variable set to it.
bool is_looked_up(const MutationContext& context, ExprId index) {
  const Expr& expr = context.function.expr(index);
  if (expr.kind == ExprKind::kLoad) return true;
  if (expr.kind != ExprKind::kVariable) return false;
  return std::ranges::any_of(context.statements, [&](const ListedStatement& listed) {
    const auto* let = std::get_if<Let>(&listed.statement->node);
    return let != nullptr && let->variable == expr.variable && let->value != kNone &&
           context.function.expr(let->value).kind == ExprKind::kLoad;
  });
}

void find_indices(MutationOperator op, const MutationContext& context, std::vector<Mutation>& found) {
  const VarId thread = context.function.parameter_count;
  for (const GradientAccess& access : gradient_accesses(context)) {
    if (op == MutationOperator::kTransposedIndex) {
      // A tile of indices belongs to the dimension of its length.
      if (access.indices.size() < 2 || has_tile(context.function, access.indices)) continue;
      found.push_back(reindexed(op, context, access,
                                [](Builder&, std::vector<ExprId>& indices) { std::swap(indices[0], indices[1]); }));
      continue;
    }
    for (std::size_t k = 0; k < access.indices.size(); ++k) {
      const Type type = context.function.expr(access.indices[k]).type;
      if (op == MutationOperator::kThreadIndexForLoadedIndex) {
        if (!is_looked_up(context, access.indices[k]) || type != kI32) continue;
        found.push_back(reindexed(op, context, access,
                                  [=](Builder& make, std::vector<ExprId>& indices) { indices[k] = make.var(thread); }));
        continue;
      }
      const Op away = op == MutationOperator::kIndexPlusOne ? Op::kAdd : Op::kSub;
      found.push_back(reindexed(op, context, access, [=](Builder& make, std::vector<ExprId>& indices) {
        indices[k] = make.op(away, {indices[k], make.literal(type.component(), std::int64_t{1})});
      }));
    }
  }
}

/// Mutations that add to gradients to which the kernel adds nothing.
void find_inactive(const MutationContext& context, std::vector<Mutation>& found) {
  if (context.statements.empty()) return;  // no output is differentiable
  std::vector<bool> added_to(context.function.variables.size(), false);
  for (const GradientAccess& access : gradient_accesses(context)) {
    const auto& node = context.statements[access.statement].statement->node;
    if (std::holds_alternative<Atomic>(node)) added_to[static_cast<std::size_t>(access.gradient)] = true;
  }
  for (VarId gradient = 0; gradient < context.function.parameter_count; ++gradient) {
    const Type type = context.function.var(gradient).type;
    if (!context.is_gradient(gradient) || added_to[static_cast<std::size_t>(gradient)]) continue;
    if (type.element().is_struct()) continue;
    found.push_back({MutationOperator::kWriteToInactiveGradient, 0, context.function.loc,
                     fmt::format("1 is added to '{}', which must stay zero", name_of(context, gradient)),
                     [=](FunctionEditor& edit) {
                       Builder& make = edit.make();
                       const std::vector<ExprId> origin(type.rank, make.i32(0));
                       edit.insert_before(0, Stmt{Atomic{.op = AtomicOp::kAdd,
                                                         .array = make.var(gradient),
                                                         .indices = origin,
                                                         .value = one(make, type.element())}});
                     }});
  }
}

bool is_scratch(const MutationContext& context, VarId array) {
  for (std::size_t s = 0; s < context.statements.size(); ++s) {
    if (stores_to(context, s, array)) return true;
  }
  return false;
}

}  // namespace

void find_memory(MutationOperator op, const MutationContext& context, std::vector<Mutation>& found) {
  if (op == MutationOperator::kWriteToInactiveGradient) return find_inactive(context, found);
  find_indices(op, context, found);
}

void find_replay(MutationOperator op, const MutationContext& context, std::vector<Mutation>& found) {
  for (const CotangentLoad& seed : cotangent_loads(context)) {
    const VarId primal = context.primal_parameter_by_variable[static_cast<std::size_t>(seed.gradient)];
    const Type element = context.function.var(primal).type.element();
    if (element.is_struct() || !context.function.var(primal).type.is_array()) continue;
    const bool stored = stores_to(context, seed.statement + 1, seed.gradient);
    // Stores of the backward kernel itself go to a scratch copy.
    if (is_scratch(context, primal) || stored != (op == MutationOperator::kReplayedStore)) continue;
    const std::vector<ExprId> indices(seed.load->args.begin() + 1, seed.load->args.end());
    const std::size_t s = seed.statement;
    found.push_back(
        {op, s, context.statements[s].statement->loc,
         fmt::format("the backward pass changes '{}' again", name_of(context, primal)), [=](FunctionEditor& edit) {
           Builder& make = edit.make();
           const ExprId value = one(make, element);
           const ExprId array = make.var(primal);
           if (op == MutationOperator::kReplayedAtomic) {
             edit.insert_after(s, {Atomic{.op = AtomicOp::kAdd, .array = array, .indices = indices, .value = value}});
           } else {
             edit.insert_after(s, {Store{.array = array, .indices = indices, .value = value}});
           }
         }});
  }
}

}  // namespace assay::mutation
