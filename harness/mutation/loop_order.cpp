#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "harness/mutation/analyses.hpp"
#include "harness/mutation/branch_guards.hpp"
#include "harness/mutation/finders.hpp"
#include "ir/analysis.hpp"
#include "ir/visit.hpp"

namespace assay::mutation {

using namespace ir;

namespace {

/// The values of a loop's variable, if its bounds are constants.
struct LoopValues {
  std::int64_t least = 0, greatest = 0;
};

/// An index that is a sum of multiples of the loop variable, of variables that the loop does not change, and of the
/// variables of inner loops, and a constant.
struct LinearIndex {
  std::int64_t factor = 0;                   ///< of the loop variable
  std::map<VarId, std::int64_t> rest = {};   ///< of the variables that the loop does not change
  std::map<VarId, std::int64_t> inner = {};  ///< of the variables of inner loops
  std::int64_t constant = 0;

  bool is_constant() const { return factor == 0 && rest.empty() && inner.empty(); }

  void add(const LinearIndex& other, std::int64_t times) {
    factor += times * other.factor;
    constant += times * other.constant;
    for (auto terms : {&LinearIndex::rest, &LinearIndex::inner}) {
      for (const auto& [variable, multiple] : other.*terms)
        (this->*terms)[variable] += times * multiple;
      std::erase_if(this->*terms, [](const auto& term) { return term.second == 0; });
    }
  }
};

/// The indices of several accesses, if none that one iteration uses is used by another one.
class OwnIndices {
 public:
  /// `loop`: the values of the loop variable, if they are known. `inner`: those of the variables of inner loops.
  OwnIndices(std::optional<LoopValues> loop, const std::map<VarId, LoopValues>& inner) : loop_(loop), inner_(inner) {}

  /// Adds the index of an access; false if another iteration may use it, or the form of the index is not known.
  bool add(const std::optional<LinearIndex>& index) {
    if (!index || index->factor == 0) return false;
    if (!all_.empty() && (all_[0].factor != index->factor || all_[0].rest != index->rest)) return false;
    all_.push_back(*index);
    return are_in_intervals() || differ_in_remainder();
  }

 private:
  /// Whether the other terms are in an interval that is shorter than the step from one iteration to the next.
  bool are_in_intervals() const {
    std::int64_t least = all_[0].constant, greatest = all_[0].constant;
    for (const LinearIndex& index : all_) {
      std::int64_t low = index.constant, high = index.constant;
      for (const auto& [variable, multiple] : index.inner) {
        const auto values = inner_.find(variable);
        if (values == inner_.end()) return false;
        low += multiple * (multiple < 0 ? values->second.greatest : values->second.least);
        high += multiple * (multiple < 0 ? values->second.least : values->second.greatest);
      }
      least = std::min(least, low);
      greatest = std::max(greatest, high);
    }
    return greatest - least < std::abs(all_[0].factor);
  }

  /// Whether the other terms are multiples of a number, and the iterations have different remainders.
  bool differ_in_remainder() const {
    if (!loop_) return false;
    std::int64_t divisor = 0;
    for (const LinearIndex& index : all_) {
      divisor = std::gcd(divisor, index.constant - all_[0].constant);
      for (const auto& [variable, multiple] : index.inner)
        divisor = std::gcd(divisor, multiple);
    }
    return std::abs(all_[0].factor) * (loop_->greatest - loop_->least) < divisor;
  }

  std::optional<LoopValues> loop_;
  const std::map<VarId, LoopValues>& inner_;
  std::vector<LinearIndex> all_;
};

class Iterations {
 public:
  Iterations(const MutationContext& context, const For& loop) : context_(context), loop_(loop) {
    changed_.insert(loop.variable);
    guards_ = guards_of(context.function, loop.body);
    list(loop.body);
    values_ = values_of(loop, 0);
    for (const auto& [variable, s] : inner_loops_) {
      if (const auto values = values_of(std::get<For>(statements_[s]->node), s))
        inner_values_.emplace(variable, *values);
    }
  }

  bool are_alike() const { return reads(loop_.variable) == 0; }

  bool hand_on() const {
    const std::vector<VarId> inside = declared_variables(loop_.body);
    const bool by_variable = std::ranges::any_of(statements_, [&](const Stmt* statement) {
      const auto* assign = std::get_if<Assign>(&statement->node);
      if (assign == nullptr || !context_.carries_gradient[static_cast<std::size_t>(assign->variable)]) return false;
      return !std::ranges::binary_search(inside, assign->variable) && !copies(assign->value, assign->variable) &&
             !only_adds(*assign) && !keeps_to_its_component(assign->variable);
    });
    if (by_variable) return true;
    for (VarId array = 0; array < context_.function.parameter_count; ++array) {
      if (context_.is_gradient(array) && hands_on_in(array)) return true;
    }
    return false;
  }

 private:
  const Expr& expr(ExprId id) const { return context_.function.expr(id); }
  bool is(ExprId id, VarId variable) const {
    return expr(id).kind == ExprKind::kVariable && expr(id).variable == variable;
  }

  /// The number of expressions of the body that use the variable.
  std::size_t reads(VarId variable) const {
    std::size_t count = 0;
    for (const Stmt* statement : statements_) {
      for (const ExprId root : roots_of(*statement))
        count += std::ranges::binary_search(variables_read(context_.function, root), variable);
    }
    return count;
  }

  /// Whether the expression is the variable, or a variable that has no other values than copies of it.
  bool copies(ExprId value, VarId of) const {
    std::set<VarId> pending;
    return copies(value, of, pending);
  }
  /// `pending`: variables for which this is being found out; what they copy follows from their other values.
  bool copies(ExprId value, VarId of, std::set<VarId>& pending) const {
    if (value == kNone || expr(value).kind != ExprKind::kVariable) return false;
    const VarId variable = expr(value).variable;
    if (variable == of || !pending.insert(variable).second) return true;
    const auto assigned = assignments_.find(variable);
    if (!copies(value_of(context_, variable), of, pending)) return false;
    return assigned == assignments_.end() || std::ranges::all_of(assigned->second, [&](std::size_t s) {
             return copies(std::get<Assign>(statements_[s]->node).value, of, pending);
           });
  }

  /// Whether the assignment adds to a variable, or to a component of it, and the loop only adds to this variable: a
  /// sum, independent of order.
  bool only_adds(const Assign& sum) const {
    const auto adds = [&](std::size_t s) {
      const auto& assign = std::get<Assign>(statements_[s]->node);
      const ExprId term = added_term(assign);
      return term != kNone && !std::ranges::binary_search(variables_read(context_.function, term), assign.variable);
    };
    const std::vector<std::size_t>& assigned = assignments_.at(sum.variable);
    return std::ranges::all_of(assigned, adds) && reads(sum.variable) == assigned.size();
  }
  /// t in v = add(v, t) and in v = insert(v, c, add(extract(v, c), t)); otherwise kNone.
  ExprId added_term(const Assign& assign) const {
    const auto is_operation = [&](const Expr& node, Op op) {
      return node.kind == ExprKind::kOperation && node.op == op;
    };
    const Expr& value = expr(assign.value);
    if (is_operation(value, Op::kAdd)) return is(value.args[0], assign.variable) ? value.args[1] : kNone;
    if (!is_operation(value, Op::kInsert) || !is(value.args[0], assign.variable)) return kNone;
    const Expr& changed = expr(value.args[2]);
    if (!is_operation(changed, Op::kAdd)) return kNone;
    const Expr& old = expr(changed.args[0]);
    const bool is_same_component = is_operation(old, Op::kExtract) && is(old.args[0], assign.variable) &&
                                   same_tree(context_.function, old.args[1], value.args[1]);
    return is_same_component ? changed.args[1] : kNone;
  }

  void list(const Block& block) {
    for (const Stmt& statement : block.statements) {
      statements_.push_back(&statement);
      for_each_declared_variable(statement, [&](VarId variable) { changed_.insert(variable); });
      if (const auto* assign = std::get_if<Assign>(&statement.node)) {
        changed_.insert(assign->variable);
        assignments_[assign->variable].push_back(statements_.size() - 1);
      }
      if (const auto* inner = std::get_if<For>(&statement.node))
        inner_loops_.emplace(inner->variable, statements_.size() - 1);
      for_each_child_block(statement, [&](const Block& inner) { list(inner); });
    }
  }

  /// The expression, evaluated in statement number `s`, as a linear index. Empty if it has another form. Indices are
  /// assumed not to wrap around.
  std::optional<LinearIndex> linear(ExprId id, std::size_t s) const {
    const Expr& node = expr(id);
    if (!node.type.is_integer_scalar()) return std::nullopt;
    if (node.kind == ExprKind::kLiteral) {
      const auto value = static_cast<std::int64_t>(node.bits);
      return LinearIndex{.constant = value};
    }
    if (node.kind == ExprKind::kVariable) return linear_variable(node.variable, s);
    if (node.kind != ExprKind::kOperation || node.args.size() != 2) return std::nullopt;
    const auto a = linear(node.args[0], s);
    if (node.op == Op::kWrapIndex) return a;
    const auto b = linear(node.args[1], s);
    if (!a || !b) return std::nullopt;
    LinearIndex result;
    switch (node.op) {
      case Op::kAdd:
      case Op::kSub:
        result.add(*a, 1);
        result.add(*b, node.op == Op::kAdd ? 1 : -1);
        return result;
      case Op::kMul:
        if (!a->is_constant() && !b->is_constant()) return std::nullopt;
        result.add(a->is_constant() ? *b : *a, a->is_constant() ? a->constant : b->constant);
        return result;
      default: return std::nullopt;
    }
  }
  std::optional<LinearIndex> linear_variable(VarId variable, std::size_t s) const {
    if (variable == loop_.variable) return LinearIndex{.factor = 1};
    if (inner_loops_.contains(variable)) return LinearIndex{.inner = {{variable, 1}}};
    const auto assigned = assignments_.find(variable);
    if (assigned == assignments_.end()) {
      const bool is_fixed = !context_.definitions[static_cast<std::size_t>(variable)].is_assigned;
      const ExprId value = is_fixed ? value_of(context_, variable) : kNone;
      auto index = value == kNone ? std::nullopt : linear(value, s);
      if (index || changed_.contains(variable)) return index;
      return LinearIndex{.rest = {{variable, 1}}};
    }
    // A variable that is declared before a branch and assigned in it, once. It must be used in the same branch only.
    if (assigned->second.size() > 1) return std::nullopt;
    const std::size_t at = assigned->second.front();
    if (at >= s || !std::ranges::includes(guards_[s], guards_[at])) return std::nullopt;
    const auto changes_later = [&](const std::pair<VarId, bool>& guard) {
      const auto changes = assignments_.find(guard.first);
      return changes != assignments_.end() && changes->second.back() > at;
    };
    if (std::ranges::any_of(guards_[at], changes_later)) return std::nullopt;
    return linear(std::get<Assign>(statements_[at]->node).value, at);
  }
  /// The values of the variable of the loop, which is statement number `s` or the loop itself.
  std::optional<LoopValues> values_of(const For& loop, std::size_t s) const {
    const auto start = bounds(loop.start, s);
    const auto stop = bounds(loop.stop, s);
    const auto step = bounds(loop.step, s);
    if (!start || !stop || !step || step->least != step->greatest) return std::nullopt;
    if (step->least < 0)
      return LoopValues{.least = std::min(stop->least + 1, start->greatest), .greatest = start->greatest};
    return LoopValues{.least = start->least, .greatest = std::max(stop->greatest - 1, start->least)};
  }
  /// The values of an expression in statement number `s`, as far as they follow from constants.
  std::optional<LoopValues> bounds(ExprId id, std::size_t s) const {
    const Expr& node = expr(id);
    if (node.kind == ExprKind::kLiteral && node.type.is_integer_scalar()) {
      const auto value = static_cast<std::int64_t>(node.bits);
      return LoopValues{.least = value, .greatest = value};
    }
    if (node.kind == ExprKind::kVariable) {
      if (node.variable == loop_.variable) return values_;
      if (const auto inner = inner_loops_.find(node.variable); inner != inner_loops_.end())
        return values_of(std::get<For>(statements_[inner->second]->node), inner->second);
      const bool is_fixed = !context_.definitions[static_cast<std::size_t>(node.variable)].is_assigned;
      const ExprId value = is_fixed ? value_of(context_, node.variable) : kNone;
      return value == kNone ? std::nullopt : bounds(value, s);
    }
    if (node.kind != ExprKind::kOperation || node.args.size() != 2) return std::nullopt;
    const auto a = bounds(node.args[0], s);
    const auto b = bounds(node.args[1], s);
    if (!a || !b) return std::nullopt;
    switch (node.op) {
      case Op::kAdd: return LoopValues{.least = a->least + b->least, .greatest = a->greatest + b->greatest};
      case Op::kSub: return LoopValues{.least = a->least - b->greatest, .greatest = a->greatest - b->least};
      case Op::kMax:
        return LoopValues{.least = std::max(a->least, b->least), .greatest = std::max(a->greatest, b->greatest)};
      case Op::kMin:
        return LoopValues{.least = std::min(a->least, b->least), .greatest = std::min(a->greatest, b->greatest)};
      default: return std::nullopt;
    }
  }

  /// What an operation does with a component of a vector, matrix or tile.
  enum class ComponentUse : std::uint8_t { kRead, kChange };

  /// The index of the component; of a tile of two dimensions, the number of the element.
  std::optional<LinearIndex> component_index(const Expr& node, std::size_t s) const {
    auto index = linear(node.args[1], s);
    const Type whole = expr(node.args[0]).type;
    if (!index || !whole.is_tile() || whole.tile_rank() == 1) return index;
    const auto column = linear(node.args[2], s);
    if (!column) return std::nullopt;
    LinearIndex element = *column;
    element.add(*index, whole.tile_columns());
    return element;
  }

  /// Whether the node reads or changes a component of one of these variables, in statement number `s`, that no other
  /// iteration uses. `components` are those of earlier uses.
  bool at_own_component(const Expr& node, ComponentUse use, const std::vector<VarId>& versions, std::size_t s,
                        OwnIndices& components) const {
    const bool reads = node.op == Op::kExtract || node.op == Op::kTileExtract;
    const bool changes = node.op == Op::kInsert || node.op == Op::kTileInsert;
    return node.kind == ExprKind::kOperation && (use == ComponentUse::kRead ? reads : changes) &&
           expr(node.args[0]).kind == ExprKind::kVariable &&
           std::ranges::count(versions, expr(node.args[0]).variable) > 0 && components.add(component_index(node, s));
  }

  /// Whether the variable is declared without a value in the loop and gets one in both branches of an if.
  bool is_merged(VarId variable) const {
    const auto assigned = assignments_.find(variable);
    if (assigned == assignments_.end() || assigned->second.size() != 2 || value_of(context_, variable) != kNone)
      return false;
    BranchGuards flipped;
    BranchGuards common;
    for (const auto& [condition, value] : guards_[assigned->second.front()]) {
      const bool is_in_both = guards_[assigned->second.back()].contains({condition, value});
      if (is_in_both) common.emplace(condition, value);
      else flipped.emplace(condition, !value);
    }
    BranchGuards expected = common;
    expected.insert(flipped.begin(), flipped.end());
    return flipped.size() == 1 && guards_[assigned->second.back()] == expected;
  }

  /// The second term of a sum whose first term is zero: a variable that is_merged() and has no value yet.
  ExprId without_zero(ExprId id) const {
    const Expr& sum = expr(id);
    const bool has_zero = sum.kind == ExprKind::kOperation && sum.op == Op::kAdd &&
                          expr(sum.args[0]).kind == ExprKind::kVariable && is_merged(expr(sum.args[0]).variable);
    return has_zero ? sum.args[1] : id;
  }

  /// Whether the body uses the variable, and its versions with an updated component, only in components that no other
  /// iteration uses.
  bool keeps_to_its_component(VarId variable) const {
    OwnIndices components(values_, inner_values_);
    std::vector<VarId> versions{variable};
    const auto is_version = [&](ExprId id) {
      return expr(id).kind == ExprKind::kVariable && std::ranges::count(versions, expr(id).variable) > 0;
    };
    const auto makes_version = [&](ExprId value, std::size_t s) {
      value = without_zero(value);
      return is_version(value) || at_own_component(expr(value), ComponentUse::kChange, versions, s, components);
    };
    for (std::size_t s = 0; s < statements_.size(); ++s) {
      const AssignedValue definition = assigned_value_of(*statements_[s]);
      if (definition.value == kNone || !makes_version(definition.value, s)) continue;
      if (std::ranges::count(versions, definition.variable) == 0) versions.push_back(definition.variable);
    }
    for (std::size_t s = 0; s < statements_.size(); ++s) {
      const AssignedValue definition = assigned_value_of(*statements_[s]);
      const bool to_version = std::ranges::count(versions, definition.variable) > 0;
      if (to_version && definition.value == kNone && !is_merged(definition.variable)) return false;
      if (to_version && definition.value != kNone && !makes_version(definition.value, s)) return false;
      const bool stays = std::ranges::all_of(roots_of(*statements_[s]), [&](ExprId root) {
        root = without_zero(root);
        if (to_version && is_version(root)) return true;
        return reads_own_component(root, versions, to_version, s, components);
      });
      if (!stays) return false;
    }
    return true;
  }

  /// Whether each use of a version below the root is an extract of its own component, or the operand of an insert at
  /// the root.
  bool reads_own_component(ExprId root, const std::vector<VarId>& versions, bool may_insert, std::size_t s,
                           OwnIndices& components) const {
    const Expr& node = expr(root);
    if (node.kind == ExprKind::kVariable) return std::ranges::count(versions, node.variable) == 0;
    const bool skips = at_own_component(node, ComponentUse::kRead, versions, s, components) ||
                       (may_insert && at_own_component(node, ComponentUse::kChange, versions, s, components));
    for (std::size_t k = skips ? 1 : 0; k < node.args.size(); ++k) {
      if (!reads_own_component(node.args[k], versions, false, s, components)) return false;
    }
    return true;
  }

  struct Access {
    enum class Kind : std::uint8_t { kLoad, kAdd, kStore } kind;
    std::vector<ExprId> indices;
    std::size_t statement;  ///< number of the statement
  };
  std::vector<Access> accesses_of(VarId gradient) const {
    std::vector<Access> found;
    for (std::size_t s = 0; s < statements_.size(); ++s) {
      const auto note = [&](Access::Kind kind, ExprId array, std::span<const ExprId> indices) {
        if (is(array, gradient)) found.push_back({kind, {indices.begin(), indices.end()}, s});
      };
      if (const auto* atomic = std::get_if<Atomic>(&statements_[s]->node))
        note(Access::Kind::kAdd, atomic->array, atomic->indices);
      if (const auto* store = std::get_if<Store>(&statements_[s]->node))
        note(Access::Kind::kStore, store->array, store->indices);
      for (const ExprId root : roots_of(*statements_[s])) {
        for_each_expression(context_.function, root, [&](ExprId, const Expr& node) {
          if (node.kind == ExprKind::kLoad) note(Access::Kind::kLoad, node.args[0], std::span(node.args).subspan(1));
        });
      }
    }
    return found;
  }

  bool hands_on_in(VarId gradient) const {
    const std::vector<Access> accesses = accesses_of(gradient);
    const auto has = [&](Access::Kind kind) { return std::ranges::count(accesses, kind, &Access::kind) > 0; };
    if (!has(Access::Kind::kStore) && !(has(Access::Kind::kLoad) && has(Access::Kind::kAdd))) return false;
    for (std::size_t d = 0; d < context_.function.var(gradient).type.rank; ++d) {
      OwnIndices slices(values_, inner_values_);
      const auto in_own_slice = [&](const Access& access) {
        return d < access.indices.size() && slices.add(linear(access.indices[d], access.statement));
      };
      if (std::ranges::all_of(accesses, in_own_slice)) return false;
    }
    return true;
  }

  const MutationContext& context_;
  const For& loop_;
  std::vector<const Stmt*> statements_;                    ///< of the body
  std::vector<BranchGuards> guards_;                       ///< by statement: the branches that contain it
  std::set<VarId> changed_;                                ///< variables that the loop declares or assigns
  std::optional<LoopValues> values_;                       ///< of the loop variable; empty: not known
  std::map<VarId, std::size_t> inner_loops_;               ///< by loop variable: the statement of the inner loop
  std::map<VarId, LoopValues> inner_values_;               ///< of the variables of inner loops, as far as known
  std::map<VarId, std::vector<std::size_t>> assignments_;  ///< by variable: the statements that assign it
};

}  // namespace

bool is_order_independent(const MutationContext& context, const For& loop) {
  const Iterations iterations(context, loop);
  return iterations.are_alike() || !iterations.hand_on();
}

}  // namespace assay::mutation
