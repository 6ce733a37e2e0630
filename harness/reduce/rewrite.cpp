#include "harness/reduce/rewrite.hpp"

#include <algorithm>
#include <variant>

#include "ir/builder.hpp"
#include "ir/library.hpp"
#include "ir/visit.hpp"

namespace assay::reduce {
namespace {

using namespace ir;

bool is_jump(const Stmt& statement) {
  return std::holds_alternative<Break>(statement.node) || std::holds_alternative<Continue>(statement.node) ||
         std::holds_alternative<Return>(statement.node);
}

bool is_loop(const Stmt& statement) {
  return std::holds_alternative<For>(statement.node) || std::holds_alternative<While>(statement.node);
}

bool is_empty_choice(const Stmt& statement) {
  const auto* choice = std::get_if<If>(&statement.node);
  return choice != nullptr && choice->then_block.statements.empty() && choice->else_block.statements.empty();
}

/// Removes misplaced statements, and gives every used variable a declaration.
class Repair {
 public:
  Repair(const Module& module, Function& function)
      : module_(module), function_(function), declared_(function.variables.size()) {
    const auto first = declared_.begin();
    std::fill(first, first + function.parameter_count + function.launch_rank, true);
  }

  void run() {
    block(function_.body, false);
    auto& statements = function_.body.statements;
    statements.insert(statements.begin(), zeros_.begin(), zeros_.end());
  }

 private:
  bool is_declared(VarId variable) const { return declared_[static_cast<std::size_t>(variable)]; }

  void declare(VarId variable) {
    declared_[static_cast<std::size_t>(variable)] = true;
    scope_.push_back(variable);
  }

  void block(Block& block, bool in_loop) {
    const std::size_t outer = scope_.size();
    std::vector<Stmt> kept;
    for (Stmt& statement : block.statements) {
      const bool jumps = is_jump(statement);
      if (jumps && !in_loop && !std::holds_alternative<Return>(statement.node)) continue;
      if (!mend(statement, in_loop) || is_empty_choice(statement)) continue;
      kept.push_back(std::move(statement));
      if (jumps) break;
    }
    block.statements = std::move(kept);
    for (; scope_.size() > outer; scope_.pop_back())
      declared_[static_cast<std::size_t>(scope_.back())] = false;
  }

  /// False if the statement must be removed.
  bool mend(Stmt& statement, bool in_loop) {
    if (const auto* store = std::get_if<Store>(&statement.node); store != nullptr) {
      if (!is_declared(function_.expr(store->array).variable)) return false;
    }
    for_each_root_expression(statement, [&](ExprId& root) { mend(root); });
    if (const auto* assign = std::get_if<Assign>(&statement.node); assign != nullptr) {
      // The first assignment to an undeclared variable becomes its declaration, separately in each branch of an if.
      if (!is_declared(assign->variable)) statement.node = Let{.variable = assign->variable, .value = assign->value};
    }
    const std::size_t outer = scope_.size();
    for_each_declared_variable(statement, [&](VarId& variable) { declare(variable); });
    // A loop variable is in scope in its loop; other variables in the enclosing block.
    for_each_child_block(statement, [&](Block& inner) { block(inner, in_loop || is_loop(statement)); });
    if (std::holds_alternative<For>(statement.node)) {
      for (; scope_.size() > outer; scope_.pop_back())
        declared_[static_cast<std::size_t>(scope_.back())] = false;
    }
    return true;
  }

  void mend(ExprId id) {
    const Expr& expr = function_.expr(id);
    const bool loads = expr.kind == ExprKind::kLoad;
    const VarId variable = loads ? function_.expr(expr.args.front()).variable : expr.variable;
    if ((loads || expr.kind == ExprKind::kVariable) && !is_declared(variable)) {
      const ExprId value = plain_value(module_, function_, expr.type);
      if (value != kNone) return replace(function_, id, value);
      zeros_.push_back({.node = Let{.variable = variable}});
      declared_[static_cast<std::size_t>(variable)] = true;
      return;
    }
    for (const ExprId arg : std::vector<ExprId>(expr.args))
      mend(arg);
  }

  const Module& module_;
  Function& function_;
  std::vector<bool> declared_;
  std::vector<VarId> scope_;  ///< declared in the enclosing blocks, innermost last
  std::vector<Stmt> zeros_;   ///< declarations to insert at the start
};

/// Copies a function so that expressions share no nodes and each declaration has its own variable.
class Copy {
 public:
  explicit Copy(const Function& from) : from_(from), to_(from), numbers_(from.variables.size(), kNone) {
    to_.expressions.clear();
    to_.variables.clear();
    for (VarId v = 0; v < from.parameter_count + from.launch_rank; ++v)
      declare(v);
  }

  Function run() {
    block(to_.body);
    return std::move(to_);
  }

 private:
  VarId declare(VarId variable) {
    numbers_[static_cast<std::size_t>(variable)] = static_cast<VarId>(to_.variables.size());
    to_.variables.push_back(from_.var(variable));
    return numbers_[static_cast<std::size_t>(variable)];
  }

  void block(Block& block) {
    for (Stmt& statement : block.statements) {
      for_each_root_expression(statement, [&](ExprId& root) { root = tree(root); });
      for_each_declared_variable(statement, [&](VarId& variable) { variable = declare(variable); });
      if (auto* assign = std::get_if<Assign>(&statement.node)) {
        assign->variable = numbers_[static_cast<std::size_t>(assign->variable)];
      }
      for_each_child_block(statement, [&](Block& inner) { this->block(inner); });
    }
  }

  ExprId tree(ExprId id) {
    Expr expr = from_.expr(id);
    for (ExprId& arg : expr.args)
      arg = tree(arg);
    if (expr.variable != kNone) expr.variable = numbers_[static_cast<std::size_t>(expr.variable)];
    to_.expressions.push_back(std::move(expr));
    return static_cast<ExprId>(to_.expressions.size()) - 1;
  }

  const Function& from_;
  Function to_;
  std::vector<VarId> numbers_;
};

/// Maps old numbers to new ones; kNone if unused.
using Numbers = std::vector<std::int32_t>;

Numbers numbers_of(const std::vector<bool>& used) {
  Numbers numbers(used.size(), kNone);
  std::int32_t next = 0;
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i]) numbers[i] = next++;
  return numbers;
}

template <class T>
void keep_numbered(std::vector<T>& items, const Numbers& numbers) {
  std::vector<T> kept;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (numbers[i] != kNone) kept.push_back(std::move(items[i]));
  items = std::move(kept);
}

/// Calls visit(int32&) for the number of each function that this one refers to.
template <class AnyFunction, class Visit>
void for_each_called(AnyFunction& function, Visit&& visit) {
  for_each_call(function, visit);
  if (function.gradient_function_index != kNone) visit(function.gradient_function_index);
  if (function.replay_function_index != kNone) visit(function.replay_function_index);
}

void drop_unused_functions(Module& module) {
  std::vector<bool> used(module.functions.size());
  const std::function<void(const Function&)> mark = [&](const Function& function) {
    for_each_called(function, [&](const std::int32_t& number) {
      const auto index = static_cast<std::size_t>(number);
      if (used[index]) return;
      used[index] = true;
      mark(module.functions[index]);
    });
  };
  mark(module.kernels.front());
  const Numbers numbers = numbers_of(used);
  keep_numbered(module.functions, numbers);
  const auto renumber = [&](std::int32_t& number) { number = numbers[static_cast<std::size_t>(number)]; };
  for (Function& function : module.functions)
    for_each_called(function, renumber);
  for_each_called(module.kernels.front(), renumber);
}

/// Calls visit(Type&) for each type of the module.
template <class Visit>
void for_each_type(Module& module, Visit&& visit) {
  const auto of_function = [&](Function& function) {
    for (Variable& variable : function.variables)
      visit(variable.type);
    for (Expr& expr : function.expressions)
      visit(expr.type);
    for (Type& result : function.results)
      visit(result);
  };
  for (Function& function : module.functions)
    of_function(function);
  of_function(module.kernels.front());
}

void drop_unused_structs(Module& module) {
  std::vector<bool> used(module.structs.size());
  for_each_type(module, [&](const Type& type) {
    if (type.shape == Shape::kStruct) used[type.struct_id] = true;
  });
  for (std::size_t s = used.size(); s-- > 0;) {  // fields refer only to earlier structs
    for (const Field& field : module.structs[s].fields)
      if (used[s] && field.type.shape == Shape::kStruct) used[field.type.struct_id] = true;
  }
  const Numbers numbers = numbers_of(used);
  keep_numbered(module.structs, numbers);
  const auto renumber = [&](Type& type) {
    if (type.shape == Shape::kStruct) type.struct_id = static_cast<std::uint16_t>(numbers[type.struct_id]);
  };
  for_each_type(module, renumber);
  for (StructDef& definition : module.structs)
    for (Field& field : definition.fields)
      renumber(field.type);
}

}  // namespace

bool is_written(const Function& function) { return !library_name(function); }

std::vector<Function*> written_functions(Module& module) {
  std::vector<Function*> functions;
  for (Function& function : module.functions)
    if (is_written(function)) functions.push_back(&function);
  functions.push_back(&module.kernels.front());
  return functions;
}

ExprId plain_value(const Module& module, Function& function, Type type) {
  if (!type.is_value() || type.is_struct()) return kNone;
  Builder b(module, function);
  const Type component = type.component();
  const ExprId scalar = is_float(type.scalar) ? b.literal(component, 0.5) : b.literal(component, std::int64_t{1});
  if (type.is_scalar()) return scalar;
  if (type.is_vector() || type.is_matrix()) return b.op(Op::kSplat, {scalar}, type);
  return b.make(type, std::vector<ExprId>(static_cast<std::size_t>(type.components()), scalar));
}

void replace(Function& function, ExprId where, ExprId by) {
  const Expr copy = function.expr(by);
  function.expressions[static_cast<std::size_t>(where)] = copy;
}

void for_each_reference(Function& function, const std::function<void(VarId&)>& visit) {
  for (Expr& expr : function.expressions)
    if (expr.variable != kNone) visit(expr.variable);
  for_each_statement(function.body, [&](Stmt& statement) {
    for_each_declared_variable(statement, visit);
    if (auto* assign = std::get_if<Assign>(&statement.node)) visit(assign->variable);
  });
}

void remove_variable(Function& function, VarId variable) {
  for_each_reference(function, [&](VarId& mentioned) {
    if (mentioned > variable) --mentioned;
  });
  function.variables.erase(function.variables.begin() + variable);
}

Module repaired(Module module, DeadStatementPolicy dead) {
  for (Function* function : written_functions(module))
    Repair(module, *function).run();
  if (dead == DeadStatementPolicy::kRemove) {
    remove_dead_statements(module);
    for (Function* function : written_functions(module))
      Repair(module, *function).run();  // branches may have become empty
  }
  for (Function* function : written_functions(module))
    *function = Copy(*function).run();
  drop_unused_functions(module);
  drop_unused_structs(module);
  return module;
}

}  // namespace assay::reduce
