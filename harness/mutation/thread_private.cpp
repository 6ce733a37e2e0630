#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "harness/mutation/analyses.hpp"
#include "harness/mutation/finders.hpp"
#include "ir/analysis.hpp"
#include "ir/visit.hpp"

namespace assay::mutation {

using namespace ir;

namespace {

/// Larger coefficients are treated as unknown.
constexpr std::int64_t kLargestIndex = std::int64_t{1} << 31;

/// An index: constant + the sum of factors[v] * v + any multiple of `step`.
struct Form {
  std::int64_t constant = 0;
  std::vector<std::int64_t> factors;  ///< by parameter, and then by thread index
  std::int64_t step = 0;              ///< 0: no unknown part

  bool operator==(const Form&) const = default;
};

struct CellAccess {
  std::vector<Form> indices;
  Type type;  ///< of the accessed element or tile
};

class Cells {
 public:
  Cells(const MutationContext& context, VarId array)
      : context_(context), array_(array), assigned_(assigned_variables(context.function.body)) {}

  /// All accesses to the array; nothing if it is used in other ways.
  std::optional<std::vector<CellAccess>> accesses() const {
    std::vector<CellAccess> found;
    std::ptrdiff_t mentions = 0, shapes = 0;
    for (const ListedStatement& listed : context_.statements) {
      if (const auto* store = std::get_if<Store>(&listed.statement->node); store != nullptr && is_array(store->array))
        found.push_back({forms_of(store->indices), expr(store->value).type});
      if (const auto* atomic = std::get_if<Atomic>(&listed.statement->node);
          atomic != nullptr && is_array(atomic->array))
        found.push_back({forms_of(atomic->indices), expr(atomic->value).type});
      for_each_root_expression(*listed.statement, [&](ExprId root) {
        for_each_expression(context_.function, root, [&](ExprId id, const Expr& node) {
          mentions += is_array(id);
          shapes += node.kind == ExprKind::kShapeOf && is_array(node.args[0]);
          if (node.kind == ExprKind::kLoad && is_array(node.args[0]))
            found.push_back({forms_of(std::span(node.args).subspan(1)), node.type});
        });
      });
    }
    if (std::ssize(found) + shapes != mentions) return std::nullopt;
    return found;
  }

  std::vector<Form> forms_of(std::span<const ExprId> indices) const {
    std::vector<Form> forms;
    for (const ExprId index : indices)
      forms.push_back(form_of(index));
    return forms;
  }

  /// Whether the two accesses never touch the same element in threads with different indices t.
  bool tells_apart(const CellAccess& a, const CellAccess& b, std::size_t t) const {
    for (std::size_t d = 0; d < a.indices.size(); ++d) {
      if (tells_apart(a.indices[d], b.indices[d], t)) return true;
    }
    return false;
  }

  /// The same for tiles, where a thread index is a block index: both accesses are to the same tile in each block, so
  /// that each thread has the same elements, and the tiles of different blocks do not overlap.
  bool tells_tiles_apart(const CellAccess& a, const CellAccess& b, std::size_t t) const {
    if (a.type != b.type || a.indices != b.indices) return false;
    if (static_cast<std::size_t>(a.type.tile_rank()) != a.indices.size()) return false;
    if (std::ranges::any_of(a.indices, [](const Form& form) { return form.step != 0; })) return false;
    for (std::size_t d = 0; d < a.indices.size(); ++d) {
      std::vector<std::int64_t> others = a.indices[d].factors;
      const std::int64_t factor = std::exchange(others[parameters() + t], 0);
      const auto of_threads = std::span(others).subspan(parameters());
      if (std::abs(factor) >= a.type.tile[d] && std::ranges::count(of_threads, 0) == std::ssize(of_threads))
        return true;
    }
    return false;
  }

 private:
  const Expr& expr(ExprId id) const { return context_.function.expr(id); }
  bool is_array(ExprId id) const { return expr(id).kind == ExprKind::kVariable && expr(id).variable == array_; }
  std::size_t parameters() const { return static_cast<std::size_t>(context_.function.parameter_count); }
  std::size_t rank() const { return static_cast<std::size_t>(context_.function.launch_rank); }

  /// a + factor * b.
  static Form sum(Form a, const Form& b, std::int64_t factor) {
    a.constant += factor * b.constant;
    bool fits = std::abs(a.constant) <= kLargestIndex;
    for (std::size_t v = 0; v < a.factors.size(); ++v) {
      a.factors[v] += factor * b.factors[v];
      fits = fits && std::abs(a.factors[v]) <= kLargestIndex;
    }
    a.step = std::gcd(a.step, factor * b.step);
    return fits ? a : Form{0, std::vector<std::int64_t>(a.factors.size(), 0), 1};
  }
  Form known(std::int64_t constant) const { return {constant, std::vector<std::int64_t>(parameters() + rank(), 0), 0}; }
  Form anything() const { return {0, std::vector<std::int64_t>(parameters() + rank(), 0), 1}; }
  static std::optional<std::int64_t> number(const Form& form) {
    const bool is_one = form.step == 0 && std::ranges::all_of(form.factors, [](std::int64_t a) { return a == 0; });
    return is_one ? std::optional(form.constant) : std::nullopt;
  }

  Form form_of(ExprId id) const {
    const Expr& node = expr(id);
    if (!is_integer(node.type.scalar) || !node.type.is_scalar()) return anything();
    switch (node.kind) {
      case ExprKind::kLiteral: {
        const auto value = static_cast<std::int64_t>(node.bits);
        return std::abs(value) <= kLargestIndex ? known(value) : anything();
      }
      case ExprKind::kVariable: return form_of_variable(node.variable);
      case ExprKind::kOperation: return form_of_operation(node);
      default: return anything();
    }
  }

  Form form_of_variable(VarId variable) const {
    const bool assigned = std::ranges::binary_search(assigned_, variable);
    if (!assigned && static_cast<std::size_t>(variable) < parameters() + rank()) {
      Form form = known(0);
      form.factors[static_cast<std::size_t>(variable)] = 1;
      return form;
    }
    const ExprId value = assigned ? kNone : value_of(context_, variable);
    return value == kNone ? anything() : form_of(value);
  }

  Form form_of_operation(const Expr& node) const {
    switch (node.op) {
      case Op::kAdd: return sum(form_of(node.args[0]), form_of(node.args[1]), 1);
      case Op::kSub: return sum(form_of(node.args[0]), form_of(node.args[1]), -1);
      case Op::kNeg: return sum(known(0), form_of(node.args[0]), -1);
      case Op::kMul: {
        const Form a = form_of(node.args[0]), b = form_of(node.args[1]);
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
    const std::int64_t other = b.constant - a.constant;
    const std::optional<IntegerRange> threads = context_.known_ranges.of_variable(static_cast<VarId>(index));
    const std::int64_t most = threads ? threads->high - threads->low : kLargestIndex;
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
  std::vector<VarId> assigned_;
};

}  // namespace

bool adds_to_private_element(const MutationContext& context, const Atomic& addition) {
  const Cells cells(context, context.function.expr(addition.array).variable);
  const std::optional<std::vector<CellAccess>> accesses = cells.accesses();
  if (!accesses) return false;
  const CellAccess own{cells.forms_of(addition.indices), context.function.expr(addition.value).type};
  return std::ranges::all_of(*accesses, [&](const CellAccess& access) {
    for (std::size_t t = 0; t < static_cast<std::size_t>(context.function.launch_rank); ++t) {
      if (uses_tiles(context.function) ? !cells.tells_tiles_apart(own, access, t) : !cells.tells_apart(own, access, t))
        return false;
    }
    return true;
  });
}

}  // namespace assay::mutation
