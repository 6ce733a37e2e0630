#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
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

/// Larger coefficients are treated as unknown.
constexpr std::int64_t kLargestIndex = std::int64_t{1} << 31;

/// The unknown parts of two indices may differ by this much; a larger difference is treated as unknown.
constexpr std::int64_t kLargestSpread = 4096;

/// An index: a number in `constant` + the sum of factors[v] * v + any multiple of `step`.
struct Form {
  IntegerRange constant{0, 0};
  std::vector<std::int64_t> factors;  ///< by parameter, and then by thread index
  std::int64_t step = 0;              ///< 0: no unknown part but that of `constant`

  bool operator==(const Form&) const = default;
};

struct CellAccess {
  std::vector<Form> indices;
  Type type;  ///< of the accessed element or tile
};

class Cells {
 public:
  Cells(const MutationContext& context, VarId array)
      : context_(context), array_(array), guards_(guards_of(context.function, context.function.body)) {
    for (std::size_t s = 0; s < context.statements.size(); ++s) {
      if (const auto* loop = std::get_if<For>(&context.statements[s].statement->node))
        loops_.emplace(loop->variable, s);
      const AssignedValue defined = assigned_value_of(*context.statements[s].statement);
      if (defined.variable == kNone) continue;
      const bool is_declaration = std::holds_alternative<Let>(context.statements[s].statement->node);
      if (is_declaration) declarations_.emplace(defined.variable, s);
      else assignments_[defined.variable].push_back(s);
    }
  }

  /// All accesses to the array; nothing if it is used in other ways.
  std::optional<std::vector<CellAccess>> accesses() const {
    std::vector<CellAccess> found;
    std::ptrdiff_t mentions = 0, shapes = 0;
    for (std::size_t s = 0; s < context_.statements.size(); ++s) {
      const Stmt& statement = *context_.statements[s].statement;
      if (const auto* store = std::get_if<Store>(&statement.node); store != nullptr && is_array(store->array))
        found.push_back({forms_of(store->indices, s), expr(store->value).type});
      if (const auto* atomic = std::get_if<Atomic>(&statement.node); atomic != nullptr && is_array(atomic->array))
        found.push_back({forms_of(atomic->indices, s), expr(atomic->value).type});
      for_each_root_expression(statement, [&](ExprId root) {
        for_each_expression(context_.function, root, [&](ExprId id, const Expr& node) {
          mentions += is_array(id);
          shapes += node.kind == ExprKind::kShapeOf && is_array(node.args[0]);
          if (node.kind == ExprKind::kLoad && is_array(node.args[0]))
            found.push_back({forms_of(std::span(node.args).subspan(1), s), node.type});
        });
      });
    }
    if (std::ssize(found) + shapes != mentions) return std::nullopt;
    return found;
  }

  /// The forms of indices that statement number `s` uses.
  std::vector<Form> forms_of(std::span<const ExprId> indices, std::size_t s) const {
    std::vector<Form> forms;
    for (const ExprId index : indices)
      forms.push_back(form_of(index, s));
    return forms;
  }

  /// Whether the two accesses never touch the same element in threads with different indices t. In a kernel with tiles,
  /// t is a block index, and one thread of the block makes each access that is not to a tile.
  bool tells_apart(const CellAccess& a, const CellAccess& b, std::size_t t) const {
    if (a.type.is_tile() || b.type.is_tile()) return tells_tiles_apart(a, b, t);
    for (std::size_t d = 0; d < a.indices.size(); ++d) {
      if (tells_apart(a.indices[d], b.indices[d], t)) return true;
    }
    return false;
  }

 private:
  /// The same for tiles: both accesses are to the same tile in each block, so that each thread has the same elements,
  /// and the tiles of different blocks do not overlap.
  bool tells_tiles_apart(const CellAccess& a, const CellAccess& b, std::size_t t) const {
    if (a.type != b.type || a.indices != b.indices) return false;
    if (static_cast<std::size_t>(a.type.tile_rank()) != a.indices.size()) return false;
    if (std::ranges::any_of(a.indices, [](const Form& form) { return form.step != 0 || spread(form) != 0; }))
      return false;
    for (std::size_t d = 0; d < a.indices.size(); ++d) {
      std::vector<std::int64_t> others = a.indices[d].factors;
      const std::int64_t factor = std::exchange(others[parameters() + t], 0);
      const auto of_threads = std::span(others).subspan(parameters());
      if (std::abs(factor) >= a.type.tile[d] && std::ranges::count(of_threads, 0) == std::ssize(of_threads))
        return true;
    }
    return false;
  }

  const Expr& expr(ExprId id) const { return context_.function.expr(id); }
  bool is_array(ExprId id) const { return expr(id).kind == ExprKind::kVariable && expr(id).variable == array_; }
  std::size_t parameters() const { return static_cast<std::size_t>(context_.function.parameter_count); }
  std::size_t rank() const { return static_cast<std::size_t>(context_.function.launch_rank); }

  static std::int64_t spread(const Form& form) { return form.constant.high - form.constant.low; }

  /// a + factor * b.
  Form sum(Form a, const Form& b, std::int64_t factor) const {
    const auto [low, high] = std::minmax({factor * b.constant.low, factor * b.constant.high});
    a.constant = {a.constant.low + low, a.constant.high + high};
    bool fits = std::abs(a.constant.low) <= kLargestIndex && std::abs(a.constant.high) <= kLargestIndex;
    for (std::size_t v = 0; v < a.factors.size(); ++v) {
      a.factors[v] += factor * b.factors[v];
      fits = fits && std::abs(a.factors[v]) <= kLargestIndex;
    }
    a.step = std::gcd(a.step, factor * b.step);
    return fits ? a : anything();
  }
  Form within(const IntegerRange& range) const {
    return {range, std::vector<std::int64_t>(parameters() + rank(), 0), 0};
  }
  Form known(std::int64_t constant) const { return within({constant, constant}); }
  Form anything() const {
    Form form = known(0);
    form.step = 1;
    return form;
  }
  static std::optional<std::int64_t> number(const Form& form) {
    const bool is_one =
        form.step == 0 && spread(form) == 0 && std::ranges::all_of(form.factors, [](std::int64_t a) { return a == 0; });
    return is_one ? std::optional(form.constant.low) : std::nullopt;
  }

  /// Whether the index is not negative in any thread.
  bool is_natural(const Form& form) const {
    const auto of_parameters = std::span(form.factors).first(parameters());
    const auto of_threads = std::span(form.factors).subspan(parameters());
    return form.step == 0 && form.constant.low >= 0 &&
           std::ranges::all_of(of_parameters, [](std::int64_t factor) { return factor == 0; }) &&
           std::ranges::all_of(of_threads, [](std::int64_t factor) { return factor >= 0; });
  }

  Form form_of(ExprId id, std::size_t s) const {
    const Expr& node = expr(id);
    if (!is_integer(node.type.scalar) || !node.type.is_scalar()) return anything();
    switch (node.kind) {
      case ExprKind::kLiteral: {
        const auto value = static_cast<std::int64_t>(node.bits);
        return std::abs(value) <= kLargestIndex ? known(value) : anything();
      }
      case ExprKind::kVariable: return form_of_variable(node.variable, s);
      case ExprKind::kOperation: return form_of_operation(node, s);
      default: return anything();
    }
  }

  Form form_of_variable(VarId variable, std::size_t s) const {
    if (const auto assigned = assignments_.find(variable); assigned != assignments_.end()) {
      // A variable that is declared before a branch and assigned in it, once, and used later in the same branch. What
      // decides the branch must not change in between.
      const std::size_t at = assigned->second.front();
      const auto changes_later = [&](const std::pair<VarId, bool>& guard) {
        const auto changes = assignments_.find(guard.first);
        return changes != assignments_.end() && changes->second.back() > at;
      };
      const bool is_set = assigned->second.size() == 1 && at < s && std::ranges::includes(guards_[s], guards_[at]) &&
                          std::ranges::none_of(guards_[at], changes_later);
      return is_set ? form_of(std::get<Assign>(context_.statements[at].statement->node).value, at) : anything();
    }
    if (static_cast<std::size_t>(variable) < parameters() + rank()) {
      Form form = known(0);
      form.factors[static_cast<std::size_t>(variable)] = 1;
      return form;
    }
    if (const auto declared = declarations_.find(variable); declared != declarations_.end()) {
      const ExprId value = std::get<Let>(context_.statements[declared->second].statement->node).value;
      return value == kNone ? known(0) : form_of(value, declared->second);
    }
    if (const std::optional<Form> form = form_of_loop_variable(variable)) return *form;
    const std::optional<IntegerRange> range = context_.known_ranges.of_variable(variable);
    return range && range->low <= range->high ? within(*range) : anything();
  }

  /// The start of the loop plus a multiple of its step, if the start depends on the thread.
  std::optional<Form> form_of_loop_variable(VarId variable) const {
    const auto found = loops_.find(variable);
    if (found == loops_.end()) return std::nullopt;
    const For& loop = std::get<For>(context_.statements[found->second].statement->node);
    const Form start = form_of(loop.start, found->second);
    const std::optional<std::int64_t> step = number(form_of(loop.step, found->second));
    const auto of_threads = std::span(start.factors).subspan(parameters());
    if (!step || std::ranges::count(of_threads, 0) == std::ssize(of_threads)) return std::nullopt;
    return sum(start, anything(), *step);
  }

  Form form_of_operation(const Expr& node, std::size_t s) const {
    const auto operand = [&](std::size_t number) { return form_of(node.args[number], s); };
    switch (node.op) {
      case Op::kAdd: return sum(operand(0), operand(1), 1);
      case Op::kSub: return sum(operand(0), operand(1), -1);
      case Op::kNeg: return sum(known(0), operand(0), -1);
      case Op::kWrapIndex:
      case Op::kCast: {
        const Form index = operand(0);
        return is_natural(index) ? index : anything();
      }
      case Op::kMul: {
        const Form a = operand(0), b = operand(1);
        if (const auto factor = number(a)) return sum(known(0), b, *factor);
        if (const auto factor = number(b)) return sum(known(0), a, *factor);
        return anything();
      }
      default: return anything();
    }
  }

  /// In one dimension: factor * (i - j) is never other + a multiple of step, for different thread indices i and j.
  bool tells_apart(const Form& a, const Form& b, std::size_t t) const {
    const std::size_t index = parameters() + t;
    const std::int64_t factor = a.factors[index];
    if (factor == 0 || b.factors[index] != factor) return false;
    // A parameter is equal in both threads; another thread index may differ.
    std::int64_t step = std::gcd(a.step, b.step);
    for (std::size_t v = 0; v < parameters(); ++v)
      step = std::gcd(step, a.factors[v] - b.factors[v]);
    for (std::size_t v = parameters(); v < a.factors.size(); ++v) {
      if (v != index) step = std::gcd(step, std::gcd(a.factors[v], b.factors[v]));
    }
    const IntegerRange others{b.constant.low - a.constant.high, b.constant.high - a.constant.low};
    if (others.high - others.low > kLargestSpread) return false;
    const std::optional<IntegerRange> threads = context_.known_ranges.of_variable(static_cast<VarId>(index));
    const std::int64_t most = threads ? threads->high - threads->low : kLargestIndex;
    for (std::int64_t other = others.low; other <= others.high; ++other) {
      if (!differs(factor, other, step, most)) return false;
    }
    return true;
  }

  /// Whether factor * d is never other + a multiple of step, for all d from 1 to `most` and from -most to -1.
  static bool differs(std::int64_t factor, std::int64_t other, std::int64_t step, std::int64_t most) {
    if (step == 0) return other == 0 || other % factor != 0 || std::abs(other / factor) > most;
    if (other % std::gcd(factor, step) != 0) return true;
    // The remaining differences repeat with a period of at most `step`.
    if (most >= step) return false;
    for (std::int64_t difference = 1; difference <= most; ++difference) {
      if ((factor * difference - other) % step == 0 || (factor * difference + other) % step == 0) return false;
    }
    return true;
  }

  const MutationContext& context_;
  VarId array_;
  std::vector<BranchGuards> guards_;                       ///< by statement: the branches that contain it
  std::map<VarId, std::size_t> declarations_;              ///< by variable: the statement that declares it
  std::map<VarId, std::size_t> loops_;                     ///< by loop variable: the statement with the loop
  std::map<VarId, std::vector<std::size_t>> assignments_;  ///< by variable: the statements that assign it
};

}  // namespace

bool adds_to_private_element(const MutationContext& context, std::size_t statement) {
  const auto& addition = std::get<Atomic>(context.statements[statement].statement->node);
  const Cells cells(context, context.function.expr(addition.array).variable);
  const std::optional<std::vector<CellAccess>> accesses = cells.accesses();
  if (!accesses) return false;
  const CellAccess own{cells.forms_of(addition.indices, statement), context.function.expr(addition.value).type};
  return std::ranges::all_of(*accesses, [&](const CellAccess& access) {
    for (std::size_t t = 0; t < static_cast<std::size_t>(context.function.launch_rank); ++t) {
      if (!cells.tells_apart(own, access, t)) return false;
    }
    return true;
  });
}

}  // namespace assay::mutation
