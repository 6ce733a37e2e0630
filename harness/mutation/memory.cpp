// Mistakes in where gradients are read and written, and in what the replay repeats.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "harness/mutation/finders.hpp"
#include "ir/analysis.hpp"
#include "ir/visit.hpp"

namespace assay::mutation {

using namespace ir;

namespace {

/// One access of a gradient: its indices, and how to give it others.
struct Access {
  std::size_t statement = 0;
  VarId gradient = kNone;
  std::vector<ExprId> indices;
  std::optional<Place> load;  ///< where it is a load in an expression
};

std::vector<Access> gradient_accesses(const Setting& setting) {
  std::vector<Access> found;
  for (std::size_t s = 0; s < setting.statements.size(); ++s) {
    const auto& node = setting.statements[s].statement->node;
    const auto keep = [&](ExprId array, const std::vector<ExprId>& indices) {
      const VarId variable = setting.function.expr(array).variable;
      if (setting.is_gradient(variable)) found.push_back({s, variable, indices, std::nullopt});
    };
    if (const auto* atomic = std::get_if<Atomic>(&node)) keep(atomic->array, atomic->indices);
    if (const auto* store = std::get_if<Store>(&node)) keep(store->array, store->indices);
  }
  for (const SeedLoad& seed : seed_loads(setting)) {
    const std::vector<ExprId> indices(seed.load->args.begin() + 1, seed.load->args.end());
    found.push_back({seed.statement, seed.gradient, indices, seed.place});
  }
  return found;
}

Mutation reindexed(Operator op, const Setting& setting, const Access& access,
                   std::function<void(Builder&, std::vector<ExprId>&)> change) {
  return {op, access.statement, setting.statements[access.statement].statement->loc,
          fmt::format("{}: '{}'", row(op).change, name_of(setting, access.gradient)), [=](Editor& edit) {
            std::vector<ExprId> indices = access.indices;
            change(edit.make(), indices);
            if (access.load) return edit.replace(*access.load, edit.make().load(access.gradient, indices));
            auto& node = edit.at(access.statement).node;
            if (auto* atomic = std::get_if<Atomic>(&node)) atomic->indices = indices;
            if (auto* store = std::get_if<Store>(&node)) store->indices = indices;
          }};
}

/// Whether the index comes out of an array: idx[i], or a variable that was set to it.
bool is_looked_up(const Setting& setting, ExprId index) {
  const Expr& expr = setting.function.expr(index);
  if (expr.kind == ExprKind::kLoad) return true;
  if (expr.kind != ExprKind::kVariable) return false;
  return std::ranges::any_of(setting.statements, [&](const Listed& listed) {
    const auto* let = std::get_if<Let>(&listed.statement->node);
    return let != nullptr && let->variable == expr.variable && let->value != kNone &&
           setting.function.expr(let->value).kind == ExprKind::kLoad;
  });
}

void find_indices(Operator op, const Setting& setting, std::vector<Mutation>& found) {
  const VarId thread = setting.function.parameter_count;
  for (const Access& access : gradient_accesses(setting)) {
    if (op == Operator::kTransposedIndex) {
      if (access.indices.size() < 2) continue;
      found.push_back(reindexed(op, setting, access,
                                [](Builder&, std::vector<ExprId>& indices) { std::swap(indices[0], indices[1]); }));
      continue;
    }
    for (std::size_t k = 0; k < access.indices.size(); ++k) {
      const Type type = setting.function.expr(access.indices[k]).type;
      if (op == Operator::kThreadForIndex) {
        if (!is_looked_up(setting, access.indices[k]) || type != kI32) continue;
        found.push_back(reindexed(op, setting, access,
                                  [=](Builder& make, std::vector<ExprId>& indices) { indices[k] = make.var(thread); }));
        continue;
      }
      const Op away = op == Operator::kIndexPlusOne ? Op::kAdd : Op::kSub;
      found.push_back(reindexed(op, setting, access, [=](Builder& make, std::vector<ExprId>& indices) {
        indices[k] = make.op(away, {indices[k], make.literal(type, std::int64_t{1})});
      }));
    }
  }
}

/// Adds to the gradients to which the kernel adds nothing.
void find_inactive(const Setting& setting, std::vector<Mutation>& found) {
  std::vector<bool> added_to(setting.function.variables.size(), false);
  for (const Access& access : gradient_accesses(setting)) {
    const auto& node = setting.statements[access.statement].statement->node;
    if (std::holds_alternative<Atomic>(node)) added_to[static_cast<std::size_t>(access.gradient)] = true;
  }
  for (VarId gradient = 0; gradient < setting.function.parameter_count; ++gradient) {
    const Type type = setting.function.var(gradient).type;
    if (!setting.is_gradient(gradient) || added_to[static_cast<std::size_t>(gradient)]) continue;
    if (type.element().is_struct()) continue;
    found.push_back({Operator::kInactiveGradient, 0, setting.function.loc,
                     fmt::format("1 is added to '{}'", name_of(setting, gradient)), [=](Editor& edit) {
                       Builder& make = edit.make();
                       const std::vector<ExprId> origin(type.rank, make.i32(0));
                       edit.insert_before(0, Stmt{Atomic{.op = AtomicOp::kAdd,
                                                         .array = make.var(gradient),
                                                         .indices = origin,
                                                         .value = one(make, type.element())}});
                     }});
  }
}

bool is_scratch(const Setting& setting, VarId array) {
  for (std::size_t s = 0; s < setting.statements.size(); ++s) {
    if (stores_to(setting, s, array)) return true;
  }
  return false;
}

}  // namespace

void find_memory(Operator op, const Setting& setting, std::vector<Mutation>& found) {
  if (op == Operator::kInactiveGradient) return find_inactive(setting, found);
  find_indices(op, setting, found);
}

void find_replay(Operator op, const Setting& setting, std::vector<Mutation>& found) {
  for (const SeedLoad& seed : seed_loads(setting)) {
    const VarId primal = setting.primal_of[static_cast<std::size_t>(seed.gradient)];
    const Type element = setting.function.var(primal).type.element();
    if (element.is_struct() || !setting.function.var(primal).type.is_array()) continue;
    const bool stored = stores_to(setting, seed.statement + 1, seed.gradient);
    // What the backward kernel itself stores to is a scratch copy.
    if (is_scratch(setting, primal) || stored != (op == Operator::kReplayedStore)) continue;
    const std::vector<ExprId> indices(seed.load->args.begin() + 1, seed.load->args.end());
    const std::size_t s = seed.statement;
    found.push_back({op, s, setting.statements[s].statement->loc,
                     fmt::format("'{}' is changed again", name_of(setting, primal)), [=](Editor& edit) {
                       Builder& make = edit.make();
                       const ExprId value = one(make, element);
                       const ExprId array = make.var(primal);
                       if (op == Operator::kReplayedAtomic) {
                         edit.insert_after(
                             s, {Atomic{.op = AtomicOp::kAdd, .array = array, .indices = indices, .value = value}});
                       } else {
                         edit.insert_after(s, {Store{.array = array, .indices = indices, .value = value}});
                       }
                     }});
  }
}

}  // namespace assay::mutation
