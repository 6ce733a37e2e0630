#include "harness/dataset/influence.hpp"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "harness/dataset/difficulty.hpp"
#include "ir/analysis.hpp"
#include "ir/visit.hpp"

namespace assay::dataset {
namespace {

/// What a value may come from.
struct Sources {
  std::set<ir::VarId> parameters;   ///< with their contents before the launch
  std::set<std::string> functions;  ///< names as in `functions_called`
  bool has_loop = false;            ///< whether a loop decides how often the value is computed
  bool has_branch = false;          ///< whether a branch decides whether it is computed

  friend bool operator==(const Sources&, const Sources&) = default;
};

void add_to(Sources& sources, const Sources& more) {
  sources.parameters.insert(more.parameters.begin(), more.parameters.end());
  sources.functions.insert(more.functions.begin(), more.functions.end());
  sources.has_loop |= more.has_loop;
  sources.has_branch |= more.has_branch;
}

/// What the current contents of variables and arrays come from.
struct Contents {
  /// By variable; a local array counts as one variable, and a struct is in `fields`.
  std::map<ir::VarId, Sources> variables;
  /// By variable and number of the field, for variables that are structs.
  std::map<std::pair<ir::VarId, std::int32_t>, Sources> fields;
  /// By array: the element with the thread's own indices. At first, it comes from the array itself.
  std::map<ir::VarId, Sources> own_element;
  /// By array: what was stored in this element and is still there.
  std::map<ir::VarId, Sources> stored_in_own_element;
  /// By array: what was stored in any other element.
  std::map<ir::VarId, Sources> stored_elsewhere;

  void merge(const Contents& other) {
    merge(variables, other.variables);
    merge(fields, other.fields);
    merge(own_element, other.own_element);
    merge(stored_in_own_element, other.stored_in_own_element);
    merge(stored_elsewhere, other.stored_elsewhere);
  }
  friend bool operator==(const Contents&, const Contents&) = default;

 private:
  template <class Key>
  static void merge(std::map<Key, Sources>& to, const std::map<Key, Sources>& from) {
    for (const auto& [variable, sources] : from)
      add_to(to[variable], sources);
  }
};

/// Under which conditions control leaves a region, through a break, a continue or a return.
struct Exits {
  bool exist = false;
  Sources conditions;

  void add(const Sources& around) {
    exist = true;
    add_to(conditions, around);
  }
};

class InfluenceAnalysis {
 public:
  InfluenceAnalysis(const ir::Module& module, const ir::Function& kernel) : module_(module), kernel_(kernel) {
    for (const ir::Function& function : module.functions)
      uses_by_function_.push_back(ir::parameter_use(module, function));
    for (ir::VarId p = 0; p < kernel.parameter_count; ++p) {
      if (is_array(p)) now_.own_element[p].parameters = {p};
      else set(p, {.parameters = {p}, .functions = {}});
    }
    ir::for_each_statement(kernel.body, [&](const ir::Stmt& statement) {
      const auto* const assign = std::get_if<ir::Assign>(&statement.node);
      changes_thread_index_ |= assign != nullptr && is_thread_index(assign->variable);
    });
    run(kernel.body, {}, false);
  }

  Sources behind(ir::VarId output) {
    Sources sources = now_.stored_in_own_element[output];
    add_to(sources, now_.stored_elsewhere[output]);
    return sources;
  }

 private:
  bool is_array(ir::VarId variable) const { return kernel_.var(variable).type.is_array(); }

  bool is_thread_index(ir::VarId variable) const {
    return variable >= kernel_.parameter_count && variable < kernel_.parameter_count + kernel_.launch_rank;
  }

  /// Runs the statements in order. `around`: what decides whether the block runs. `may_be_skipped`: whether control may
  /// have left before, so that a store need not replace the old content.
  void run(const ir::Block& block, Sources around, bool may_be_skipped) {
    for (const ir::Stmt& statement : block.statements) {
      run(statement, around, may_be_skipped);
      for (const Exits* const exits : {&iteration_exits_, &kernel_exits_}) {
        if (!exits->exist) continue;
        add_to(around, exits->conditions);
        may_be_skipped = true;
      }
    }
  }

  void run(const ir::Stmt& statement, const Sources& around, bool may_be_skipped) {
    std::visit(ir::Overloaded{
                   [&](const ir::If& node) {
                     Sources inner = around;
                     inner.has_branch = true;
                     add_values(node.condition, inner);
                     const Contents before = now_;
                     run(node.then_block, inner, may_be_skipped);
                     const Contents after_then = std::exchange(now_, before);
                     run(node.else_block, inner, may_be_skipped);
                     now_.merge(after_then);
                   },
                   [&](const ir::For& node) {
                     loop(node.body, {node.start, node.stop, node.step}, node.variable, around, may_be_skipped);
                   },
                   [&](const ir::While& node) { loop(node.body, {node.condition}, ir::kNone, around, may_be_skipped); },
                   [&](const ir::Break&) { iteration_exits_.add(around); },
                   [&](const ir::Continue&) { iteration_exits_.add(around); },
                   [&](const ir::Return&) { kernel_exits_.add(around); },
                   [&](const auto& node) { change(statement, node, around, may_be_skipped); },
               },
               statement.node);
  }

  /// Repeats the body until no iteration adds a source.
  void loop(const ir::Block& body, std::initializer_list<ir::ExprId> conditions, ir::VarId variable,
            const Sources& around, bool may_be_skipped) {
    const Exits outer = std::exchange(iteration_exits_, {});
    for (Contents before;;) {
      before = now_;
      Sources inner = around;
      inner.has_loop = true;
      add_to(inner, iteration_exits_.conditions);
      for (const ir::ExprId condition : conditions)
        if (condition != ir::kNone) add_values(condition, inner);
      if (variable != ir::kNone) set(variable, inner);
      run(body, inner, may_be_skipped);
      now_.merge(before);
      if (now_ == before) break;
    }
    iteration_exits_ = outer;
  }

  /// A statement that declares or changes variables or arrays.
  template <class Node>
  void change(const ir::Stmt& statement, const Node& node, const Sources& around, bool may_be_skipped) {
    Sources read = around;
    PassedArrays passed;
    ir::for_each_root_expression(statement, [&](const ir::ExprId& root) {
      add_values(root, read);
      ir::for_each_expression(kernel_, root, [&](ir::ExprId, const ir::Expr& expr) {
        if (expr.kind == ir::ExprKind::kCall) add_arrays(expr.index, expr.args, passed);
      });
    });
    if constexpr (std::is_same_v<Node, ir::Call>) {
      add_arrays(node.function, node.args, passed);
      read.functions.insert(name_in_python(module_, node.function));
    }
    for (const ir::VarId array : passed.read)
      add_to(read, any_element(array));
    for (const ir::VarId array : passed.changed)
      add_to(now_.stored_elsewhere[array], read);
    if constexpr (std::is_same_v<Node, ir::Store>) store(node, read, !may_be_skipped);
    if constexpr (std::is_same_v<Node, ir::Atomic>) {
      store(node, read, false);
      add_to(read, any_element(kernel_.expr(node.array).variable));
    }
    ir::for_each_declared_variable(statement, [&](ir::VarId variable) { set(variable, read); });
    if constexpr (std::is_same_v<Node, ir::Assign>) {
      if (changes_field(node) && passed.read.empty()) assign_field(node, around, may_be_skipped);
      else if (may_be_skipped) add(node.variable, read);
      else set(node.variable, read);
    }
  }

  /// Whether the statement is `v.field = ...`, which keeps the other fields.
  bool changes_field(const ir::Assign& node) const {
    const ir::Expr& value = kernel_.expr(node.value);
    return value.kind == ir::ExprKind::kOperation && value.op == ir::Op::kWithField &&
           kernel_.expr(value.args[0]).kind == ir::ExprKind::kVariable &&
           kernel_.expr(value.args[0]).variable == node.variable;
  }
  void assign_field(const ir::Assign& node, Sources sources, bool may_be_skipped) {
    const ir::Expr& value = kernel_.expr(node.value);
    add_values(value.args[1], sources);
    Sources& field = now_.fields[{node.variable, value.index}];
    if (may_be_skipped) add_to(field, sources);
    else field = sources;
  }

  /// The number of fields of a variable that is a struct; 0 for others.
  std::int32_t field_count(ir::VarId variable) const {
    const ir::Type type = kernel_.var(variable).type;
    return type.is_struct() ? static_cast<std::int32_t>(module_.structs[type.struct_id].fields.size()) : 0;
  }
  void set(ir::VarId variable, const Sources& sources) {
    now_.variables[variable] = sources;
    for (std::int32_t f = 0; f < field_count(variable); ++f)
      now_.fields[{variable, f}] = sources;
  }
  void add(ir::VarId variable, const Sources& sources) {
    add_to(now_.variables[variable], sources);
    for (std::int32_t f = 0; f < field_count(variable); ++f)
      add_to(now_.fields[{variable, f}], sources);
  }
  Sources of_variable(ir::VarId variable) {
    const std::int32_t count = field_count(variable);
    if (count == 0) return now_.variables[variable];
    Sources all;
    for (std::int32_t f = 0; f < count; ++f)
      add_to(all, now_.fields[{variable, f}]);
    return all;
  }

  template <class Node>
  void store(const Node& node, const Sources& sources, bool replaces) {
    const ir::VarId array = kernel_.expr(node.array).variable;
    if (!is_array(array)) return add(array, sources);  // a local array
    if (!is_own(array, node.indices)) return add_to(now_.stored_elsewhere[array], sources);
    if (replaces) {
      now_.own_element[array] = sources;
      now_.stored_in_own_element[array] = sources;
      return;
    }
    add_to(now_.own_element[array], sources);
    add_to(now_.stored_in_own_element[array], sources);
  }

  /// Whether these are the thread's own indices, in order, which no other thread has.
  bool is_own(ir::VarId array, std::span<const ir::ExprId> indices) const {
    if (changes_thread_index_ || indices.size() != static_cast<std::size_t>(kernel_.launch_rank)) return false;
    for (std::size_t d = 0; d < indices.size(); ++d) {
      const ir::Expr& index = kernel_.expr(indices[d]);
      if (index.kind != ir::ExprKind::kVariable ||
          index.variable != kernel_.parameter_count + static_cast<ir::VarId>(d))
        return false;
    }
    return kernel_.var(array).type.rank == kernel_.launch_rank;
  }

  Sources any_element(ir::VarId array) {
    Sources sources{.parameters = {array}};
    add_to(sources, now_.own_element[array]);
    add_to(sources, now_.stored_elsewhere[array]);
    return sources;
  }

  /// Adds what the value of the expression comes from. The shape of an array is not its content.
  void add_values(ir::ExprId root, Sources& read) {
    const ir::Expr& expr = kernel_.expr(root);
    if (expr.kind == ir::ExprKind::kShapeOf) return;
    if (expr.kind == ir::ExprKind::kVariable) {
      if (!is_array(expr.variable)) add_to(read, of_variable(expr.variable));
      return;
    }
    if (expr.kind == ir::ExprKind::kField) {
      const ir::Expr& object = kernel_.expr(expr.args[0]);
      if (object.kind == ir::ExprKind::kVariable && field_count(object.variable) > 0)
        return add_to(read, now_.fields[{object.variable, expr.index}]);
    }
    if (expr.kind == ir::ExprKind::kLoad) {
      const ir::VarId array = kernel_.expr(expr.args[0]).variable;
      if (is_array(array) && !expr.type.is_tile() && is_own(array, std::span(expr.args).subspan(1))) {
        add_to(read, now_.own_element[array]);
        add_to(read, now_.stored_elsewhere[array]);
      } else if (is_array(array)) {
        add_to(read, any_element(array));
      }
    }
    if (std::optional<std::string> function = function_called(module_, kernel_, expr))
      read.functions.insert(std::move(*function));
    for (const ir::ExprId arg : expr.args)
      add_values(arg, read);
  }

  /// The arrays that a statement passes to functions.
  struct PassedArrays {
    std::set<ir::VarId> read;     ///< arrays whose elements a function may read
    std::set<ir::VarId> changed;  ///< arrays whose elements a function may change
  };

  void add_arrays(std::int32_t function, std::span<const ir::ExprId> arguments, PassedArrays& arrays) const {
    const ir::ParameterUses& uses = uses_by_function_[static_cast<std::size_t>(function)];
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const ir::Expr& expr = kernel_.expr(arguments[i]);
      if (expr.kind != ir::ExprKind::kVariable || !is_array(expr.variable)) continue;
      if (uses[i].read) arrays.read.insert(expr.variable);
      if (uses[i].changed()) arrays.changed.insert(expr.variable);
    }
  }

  const ir::Module& module_;
  const ir::Function& kernel_;
  std::vector<ir::ParameterUses> uses_by_function_;  ///< by function of the module
  bool changes_thread_index_ = false;
  Contents now_;
  Exits iteration_exits_;  ///< of the innermost loop
  Exits kernel_exits_;
};

}  // namespace

std::vector<ir::VarId> parameters_behind(const ir::Module& module, const ir::Function& kernel, ir::VarId output) {
  const Sources sources = InfluenceAnalysis(module, kernel).behind(output);
  return {sources.parameters.begin(), sources.parameters.end()};
}

ConstructsBehind constructs_behind(const ir::Module& module, const ir::Function& kernel, ir::VarId output) {
  const Sources sources = InfluenceAnalysis(module, kernel).behind(output);
  return {.functions = sources.functions, .loop = sources.has_loop, .branch = sources.has_branch};
}

}  // namespace assay::dataset
