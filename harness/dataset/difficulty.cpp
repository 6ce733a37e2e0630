#include "harness/dataset/difficulty.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "ir/analysis.hpp"
#include "ir/library.hpp"
#include "ir/visit.hpp"

namespace assay::dataset {
namespace {

bool is_loop(const ir::Stmt& statement) {
  return std::holds_alternative<ir::For>(statement.node) || std::holds_alternative<ir::While>(statement.node);
}

bool is_compound(const ir::Stmt& statement) {
  return is_loop(statement) || std::holds_alternative<ir::If>(statement.node);
}

/// Calls visit(Function) for the kernel and for each function of the user; `functions` of Warp's library are left out.
template <class Visit>
void for_each_own_function(const ir::Module& module, const ir::Function& kernel, const Visit& visit) {
  for (const ir::Function& function : module.functions) {
    if (!ir::library_name(function)) visit(function);
  }
  visit(kernel);
}

/// Calls visit(Expr) for each expression that the function evaluates.
template <class Visit>
void for_each_evaluated(const ir::Function& function, const Visit& visit) {
  ir::for_each_statement(function.body, [&](const ir::Stmt& statement) {
    ir::for_each_root_expression(statement, [&](const ir::ExprId& root) {
      ir::for_each_expression(function, root, [&](ir::ExprId, const ir::Expr& expr) { visit(expr); });
    });
  });
}

int depth_of(const ir::Block& block) {
  int depth = 0;
  for (const ir::Stmt& statement : block.statements) {
    if (!is_compound(statement)) continue;
    // An `elif` is an `if` in the other branch of an `if`; it does not nest deeper.
    const auto* const branch = std::get_if<ir::If>(&statement.node);
    const bool has_elif = branch != nullptr && branch->else_block.statements.size() == 1 &&
                          std::holds_alternative<ir::If>(branch->else_block.statements.front().node);
    ir::for_each_child_block(statement, [&](const ir::Block& inner) {
      const bool is_elif = has_elif && &inner == &branch->else_block;
      depth = std::max(depth, depth_of(inner) + (is_elif ? 0 : 1));
    });
  }
  return depth;
}

/// Whether the expression is only the wrapping of a negative index, which the source does not contain.
bool is_wrapping(const ir::Expr& expr) {
  return expr.kind == ir::ExprKind::kOperation && expr.op == ir::Op::kWrapIndex;
}

int depth_of(const ir::Function& function, ir::ExprId id) {
  const ir::Expr& expr = function.expr(id);
  if (is_wrapping(expr)) return depth_of(function, expr.args[0]);
  int below = 0;
  for (const ir::ExprId arg : expr.args)
    below = std::max(below, depth_of(function, arg));
  const bool is_leaf = expr.kind == ir::ExprKind::kLiteral || expr.kind == ir::ExprKind::kVariable;
  return below + (is_leaf ? 0 : 1);
}

bool is_literal_bound(const ir::Function& function, ir::ExprId id) {
  return id == ir::kNone || function.expr(id).kind == ir::ExprKind::kLiteral;
}

std::string loop_kind_of(const ir::Module& module, const ir::Function& kernel) {
  constexpr std::string_view kKinds[] = {"none", "static", "dynamic", "while"};
  int hardest = 0;
  for_each_own_function(module, kernel, [&](const ir::Function& function) {
    ir::for_each_statement(function.body, [&](const ir::Stmt& statement) {
      if (std::holds_alternative<ir::While>(statement.node)) hardest = 3;
      const auto* const loop = std::get_if<ir::For>(&statement.node);
      if (loop == nullptr) return;
      const bool is_static = is_literal_bound(function, loop->start) && is_literal_bound(function, loop->stop) &&
                             is_literal_bound(function, loop->step);
      hardest = std::max(hardest, is_static ? 1 : 2);
    });
  });
  return std::string(kKinds[hardest]);
}

// ---- features

void add_type_features(const ir::Module& module, ir::Type type, std::set<std::string>& features) {
  if (type.is_tile()) features.insert("tile");
  if (type.is_local_array()) features.insert("local_array");
  switch (type.shape) {
    case ir::Shape::kVector: features.insert("vector"); break;
    case ir::Shape::kMatrix: features.insert("matrix"); break;
    case ir::Shape::kQuaternion: features.insert("quaternion"); break;
    case ir::Shape::kTransform: features.insert("transform"); break;
    case ir::Shape::kStruct:
      features.insert("struct");
      for (const ir::Field& field : module.structs[type.struct_id].fields)
        add_type_features(module, field.type, features);
      return;
    case ir::Shape::kVoid: return;
    case ir::Shape::kScalar: break;
  }
  if (type.scalar == ir::Scalar::kF64) features.insert("float64");
  if (type.scalar == ir::Scalar::kF16 || type.scalar == ir::Scalar::kBF16) features.insert("half_precision");
}

void add_statement_features(const ir::Stmt& statement, std::set<std::string>& features) {
  if (std::holds_alternative<ir::If>(statement.node)) features.insert("branch");
  if (std::holds_alternative<ir::Atomic>(statement.node)) features.insert("atomic");
  if (std::holds_alternative<ir::Break>(statement.node)) features.insert("break");
  if (std::holds_alternative<ir::Continue>(statement.node)) features.insert("continue");
  if (is_loop(statement)) features.insert("loop");
}

std::vector<std::string> features_of(const ir::Module& module, const ir::Function& kernel) {
  std::set<std::string> features;
  for_each_own_function(module, kernel, [&](const ir::Function& function) {
    if (&function != &kernel) features.insert("function");
    for (const ir::Variable& variable : function.variables)
      add_type_features(module, variable.type, features);
    for_each_evaluated(function,
                       [&](const ir::Expr& expr) { add_type_features(module, expr.type.element(), features); });
    ir::for_each_statement(function.body,
                           [&](const ir::Stmt& statement) { add_statement_features(statement, features); });
    if (control_flow_of(function).has_nested_loops) features.insert("nested_loop");
  });
  if (control_flow_of(kernel).has_early_return) features.insert("early_return");
  if (kernel.launch_rank > 1) features.insert("multi_dimensional_launch");
  const ir::ParameterUses uses = ir::parameter_use(module, kernel);
  for (std::size_t p = 0; p < uses.size(); ++p) {
    const ir::Type type = kernel.variables[p].type;
    if (uses[p].read && uses[p].written) features.insert("in_place");
    if (uses[p].read && type.shape != ir::Shape::kStruct && ir::is_integer(type.scalar))
      features.insert("integer_input");
  }
  return {features.begin(), features.end()};
}

// ---- memory accesses

class AccessClassifier {
 public:
  explicit AccessClassifier(const ir::Function& kernel) : kernel_(kernel) {
    ir::for_each_statement(kernel.body, [&](const ir::Stmt& statement) {
      if (const auto* const let = std::get_if<ir::Let>(&statement.node)) values_.emplace(let->variable, let->value);
      if (const auto* const set = std::get_if<ir::Assign>(&statement.node)) values_.emplace(set->variable, set->value);
      if (const auto* const loop = std::get_if<ir::For>(&statement.node)) loop_variables_.insert(loop->variable);
    });
  }

  MemoryPattern pattern_of(std::span<const ir::ExprId> indices) const {
    MemoryPattern pattern = MemoryPattern::kBroadcast;
    std::vector<ir::VarId> threads;  // thread indices that are an index by themselves
    for (const ir::ExprId wrapped : indices) {
      const ir::ExprId id = is_wrapping(kernel_.expr(wrapped)) ? kernel_.expr(wrapped).args[0] : wrapped;
      pattern = std::max(pattern, pattern_of(id));
      const ir::Expr& index = kernel_.expr(id);
      if (index.kind == ir::ExprKind::kVariable && kernel_.is_thread_index(index.variable))
        threads.push_back(index.variable);
    }
    const bool is_in_order = std::ranges::is_sorted(threads, std::less_equal<>());  // strictly ascending
    return pattern == MemoryPattern::kElementwise && !is_in_order ? MemoryPattern::kTransposed : pattern;
  }

 private:
  MemoryPattern pattern_of(ir::ExprId root) const {
    MemoryPattern pattern = MemoryPattern::kBroadcast;
    std::set<ir::VarId> seen;
    add(root, pattern, seen);
    const bool is_bare = kernel_.expr(root).kind == ir::ExprKind::kVariable;
    return pattern == MemoryPattern::kElementwise && !is_bare ? MemoryPattern::kShifted : pattern;
  }

  /// Adds what the expression reads, and what the variables in it were computed from.
  void add(ir::ExprId root, MemoryPattern& pattern, std::set<ir::VarId>& seen) const {
    ir::for_each_expression(kernel_, root, [&](ir::ExprId, const ir::Expr& expr) {
      if (expr.kind == ir::ExprKind::kLoad) pattern = MemoryPattern::kIndirect;
      if (expr.kind != ir::ExprKind::kVariable || !kernel_.var(expr.variable).type.is_value()) return;
      const ir::VarId variable = expr.variable;
      if (kernel_.is_thread_index(variable)) {
        pattern = std::max(pattern, MemoryPattern::kElementwise);
      } else if (loop_variables_.contains(variable)) {
        pattern = std::max(pattern, MemoryPattern::kLoop);
      } else {
        pattern = std::max(pattern, MemoryPattern::kComputed);
        if (!seen.insert(variable).second) return;
        const auto [first, last] = values_.equal_range(variable);
        for (auto value = first; value != last; ++value) {
          if (value->second != ir::kNone) add(value->second, pattern, seen);
        }
      }
    });
  }

  const ir::Function& kernel_;
  std::multimap<ir::VarId, ir::ExprId> values_;
  std::set<ir::VarId> loop_variables_;
};

std::vector<std::string> memory_patterns_of(const ir::Function& kernel) {
  const AccessClassifier classifier(kernel);
  std::set<std::string> patterns;
  const auto add = [&](ir::ExprId array, std::span<const ir::ExprId> indices, bool is_store) {
    const ir::Expr& accessed = kernel.expr(array);
    if (accessed.type.is_local_array()) return;
    patterns.emplace(name_of(classifier.pattern_of(indices), is_store));
  };
  for_each_evaluated(kernel, [&](const ir::Expr& expr) {
    if (expr.kind == ir::ExprKind::kLoad) add(expr.args[0], std::span(expr.args).subspan(1), false);
  });
  ir::for_each_statement(kernel.body, [&](const ir::Stmt& statement) {
    if (const auto* const store = std::get_if<ir::Store>(&statement.node)) add(store->array, store->indices, true);
    if (const auto* const atomic = std::get_if<ir::Atomic>(&statement.node)) add(atomic->array, atomic->indices, true);
  });
  return {patterns.begin(), patterns.end()};
}

/// "sin" of the pattern "wp.sin($0)"; nothing for an operator.
std::optional<std::string> function_in(std::string_view warp_pattern) {
  constexpr std::string_view kModule = "wp.";
  if (!warp_pattern.starts_with(kModule)) return std::nullopt;
  warp_pattern.remove_prefix(kModule.size());
  const std::size_t parenthesis = warp_pattern.find('(');
  if (parenthesis == std::string_view::npos) return std::nullopt;
  return std::string(warp_pattern.substr(0, parenthesis));
}

}  // namespace

std::string_view name_of(MemoryPattern pattern, bool is_store) {
  switch (pattern) {
    case MemoryPattern::kBroadcast: return "broadcast";
    case MemoryPattern::kElementwise: return "elementwise";
    case MemoryPattern::kTransposed: return "transposed";
    case MemoryPattern::kShifted: return "shifted";
    case MemoryPattern::kLoop: return "loop";
    case MemoryPattern::kComputed: return "computed";
    case MemoryPattern::kIndirect: return is_store ? "scatter" : "gather";
  }
  return "";
}

KernelDifficulty measure_difficulty(const ir::Module& module, const ir::Function& kernel) {
  KernelDifficulty difficulty{.loop_kind = loop_kind_of(module, kernel),
                              .features = features_of(module, kernel),
                              .memory_patterns = memory_patterns_of(kernel)};
  for_each_own_function(module, kernel, [&](const ir::Function& function) {
    difficulty.nesting_depth = std::max(difficulty.nesting_depth, depth_of(function.body));
    ir::for_each_statement(function.body, [&](const ir::Stmt& statement) {
      ++difficulty.statement_count;
      ir::for_each_root_expression(statement, [&](const ir::ExprId& root) {
        difficulty.expression_depth = std::max(difficulty.expression_depth, depth_of(function, root));
      });
    });
  });
  return difficulty;
}

std::string name_in_python(const ir::Module& module, std::int32_t function) {
  const ir::Function& called = module.functions[static_cast<std::size_t>(function)];
  return std::string(ir::library_name(called).value_or(called.name));
}

std::optional<std::string> function_called(const ir::Module& module, const ir::Function& kernel, const ir::Expr& expr) {
  if (expr.kind == ir::ExprKind::kCall) return name_in_python(module, expr.index);
  // A conditional expression and the wrapping of a negative index are no calls in Python, whatever Warp makes of them.
  if (expr.kind != ir::ExprKind::kOperation || expr.op == ir::Op::kConditional || is_wrapping(expr))
    return std::nullopt;
  if (expr.op == ir::Op::kTileReshape && ir::reshapes_row_or_column(kernel, expr)) return "tile_squeeze";
  return function_in(ir::row(expr.op).warp_pattern);
}

std::vector<std::string> functions_called(const ir::Module& module, const ir::Function& kernel) {
  std::vector<std::string> names;
  const auto add = [&](std::string name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  };
  ir::for_each_statement(kernel.body, [&](const ir::Stmt& statement) {
    ir::for_each_root_expression(statement, [&](const ir::ExprId& root) {
      ir::for_each_expression(kernel, root, [&](ir::ExprId, const ir::Expr& expr) {
        if (std::optional<std::string> name = function_called(module, kernel, expr)) add(std::move(*name));
      });
    });
    if (const auto* const atomic = std::get_if<ir::Atomic>(&statement.node))
      add(fmt::format("{}{}{}", kernel.expr(atomic->value).type.is_tile() ? "tile_" : "", ir::row(atomic->op).warp_name,
                      ir::has_tile(kernel, atomic->indices) ? "_indexed" : ""));
    if (const auto* const call = std::get_if<ir::Call>(&statement.node)) add(name_in_python(module, call->function));
  });
  return names;
}

ControlFlow control_flow_of(const ir::Function& function) {
  ControlFlow flow;
  ir::for_each_statement(function.body, [&](const ir::Stmt& statement) {
    if (const auto* const branch = std::get_if<ir::If>(&statement.node)) {
      const auto& then = branch->then_block.statements;
      const bool only_returns = then.size() == 1 && std::holds_alternative<ir::Return>(then.front().node);
      ++(only_returns ? flow.early_return_count : flow.branch_count);
    }
    flow.for_count += std::holds_alternative<ir::For>(statement.node) ? 1 : 0;
    flow.while_count += std::holds_alternative<ir::While>(statement.node) ? 1 : 0;
    flow.has_early_return |= function.is_kernel && std::holds_alternative<ir::Return>(statement.node);
    if (!is_loop(statement)) return;
    ir::for_each_child_block(statement, [&](const ir::Block& body) {
      ir::for_each_statement(body, [&](const ir::Stmt& inner) { flow.has_nested_loops |= is_loop(inner); });
    });
  });
  return flow;
}

}  // namespace assay::dataset
