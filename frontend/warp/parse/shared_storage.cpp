#include "frontend/warp/parse/shared_storage.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ir/analysis.hpp"
#include "ir/visit.hpp"

namespace assay::frontend {
namespace {

using NameAssignment = FunctionContext::NameAssignment;

/// Loops nested deeper are executed only once, because each level doubles the time.
constexpr int kDeepestRepeatedLoop = 6;

/// The only branch that Warp compiles because the condition is a constant; null if it compiles both.
const ir::Block* compiled_branch(const ir::Function& function, const ir::If& branches) {
  const ir::Expr& condition = function.expr(branches.condition);
  if (condition.kind != ir::ExprKind::kLiteral) return nullptr;
  return condition.bits != 0 ? &branches.then_block : &branches.else_block;
}

/// What a name stands for in Warp.
struct Symbol {
  std::string_view name;
  int version = 0;                          ///< number of the variable in Warp's code that the name stands for
  int storage = 0;                          ///< number of the memory that holds the value
  bool is_reference = false;                ///< whether the variable is a reference to a part of an array or struct
  const NameAssignment* sharing = nullptr;  ///< assignment after which names share the storage; null: none
  /// Assignment because of which another name has overwritten the value; null if the value is the one that Python has.
  const NameAssignment* overwritten = nullptr;
  ir::Loc overwritten_at = {};       ///< location of the statement that has overwritten it
  bool overwritten_by_loop = false;  ///< whether it was overwritten at the end of an iteration of this loop

  void copy_overwriting(const Symbol& other) {
    overwritten = other.overwritten;
    overwritten_at = other.overwritten_at;
    overwritten_by_loop = other.overwritten_by_loop;
  }
};

/// The names that have values, in the order of their first assignments.
struct Symbols {
  std::vector<Symbol> all;

  Symbol* find(std::string_view name) {
    const auto found = std::ranges::find(all, name, &Symbol::name);
    return found == all.end() ? nullptr : &*found;
  }
};

/// Executes the body of a function as Warp's code generator does, following the storage of each name.
class StorageSimulation {
 public:
  explicit StorageSimulation(FunctionContext& context) : context_(context), function_(context.function) {
    for (const auto& [place, assignment] : context.name_assignments) {
      if (assignment.shared == ir::kNone) continue;
      sharing_names_.insert(assignment.name.text());
      sharing_names_.insert(context.bindings.name_of(assignment.shared));
    }
  }

  void run() {
    Symbols symbols;
    block(function_.body, symbols);
  }

 private:
  /// A loop that Warp does not unroll.
  struct Loop {
    ir::Loc loc;                           ///< location of the loop
    Symbols at_entry;                      ///< what the names stand for before the first iteration
    std::vector<Symbol> overwritten = {};  ///< names that are overwritten at a break or continue
  };

  void block(const ir::Block& block, Symbols& symbols) {
    for (const ir::Stmt& statement : block.statements)
      this->statement(statement, symbols);
  }

  void statement(const ir::Stmt& statement, Symbols& symbols) {
    ir::for_each_root_expression(statement, [&](ir::ExprId root) { read(root, symbols); });
    std::visit(ir::Overloaded{
                   [&](const ir::Let& let) {
                     if (!context_.bindings.is_declared_early(let.variable))
                       assign(let.variable, statement.loc, symbols);
                   },
                   [&](const ir::Assign& node) {
                     const bool is_whole = find_assignment(node.variable, statement.loc) != nullptr;
                     if (is_whole && !is_reference_parameter(node.variable)) {
                       assign(node.variable, statement.loc, symbols);
                     } else {
                       change(node.variable, statement.loc, symbols);
                     }
                   },
                   [&](const ir::Store& store) { change_array(store.array, statement.loc, symbols); },
                   [&](const ir::Atomic& atomic) {
                     change_array(atomic.array, statement.loc, symbols);
                     if (atomic.result != ir::kNone) assign(atomic.result, statement.loc, symbols);
                   },
                   [&](const ir::Call& call) {
                     change_arguments(call.function, call.args, statement.loc, symbols);
                     for (const ir::VarId result : call.results)
                       assign(result, statement.loc, symbols);
                   },
                   [&](const ir::If& branches) { if_statement(branches, symbols); },
                   [&](const ir::For& loop) { for_loop(loop, statement.loc, symbols); },
                   [&](const ir::While& loop) {
                     repeated(loop.body, statement.loc, symbols, [&] { read(loop.condition, symbols); });
                   },
                   [&](const ir::Break&) { leave_iteration(symbols); },
                   [&](const ir::Continue&) { leave_iteration(symbols); },
                   [](const ir::Return&) {},
               },
               statement.node);
  }

  /// The name bound to the variable if it ever shares storage; otherwise empty.
  std::string_view sharing_name(ir::VarId variable) const {
    const std::string_view name = context_.bindings.name_of(variable);
    return sharing_names_.contains(name) ? name : std::string_view();
  }

  // ---- reads

  void read(ir::ExprId root, Symbols& symbols) {
    ir::for_each_expression(function_, root, [&](ir::ExprId, const ir::Expr& expr) {
      if (expr.kind == ir::ExprKind::kCall) change_arguments(expr.index, expr.args, expr.loc, symbols);
      if (expr.kind != ir::ExprKind::kVariable) return;
      const std::string_view name = sharing_name(expr.variable);
      const Symbol* const symbol = name.empty() ? nullptr : symbols.find(name);
      if (symbol != nullptr && symbol->overwritten != nullptr) report_overwritten(*symbol, expr.loc);
    });
  }

  void report_overwritten(const Symbol& symbol, ir::Loc use) {
    const NameAssignment& cause = *symbol.overwritten;
    if (!reported_.insert(cause.name.id()).second) return;
    const std::string what =
        cause.is_part ? fmt::format("makes '{}' a reference to the array element or field", cause.name.text())
                      : fmt::format("makes '{}' and '{}' the same variable", cause.name.text(),
                                    context_.bindings.name_of(cause.shared));
    context_.error(cause.name, fmt::format("in Warp, this assignment does not copy its value but {}; {} {} changes it "
                                           "and line {} reads the old value of '{}'; assign each name in its own "
                                           "statement, which copies the value",
                                           what, symbol.overwritten_by_loop ? "the loop in line" : "line",
                                           symbol.overwritten_at.line, use.line, symbol.name));
  }

  // ---- assignments

  const NameAssignment* find_assignment(ir::VarId variable, ir::Loc loc) const {
    const auto found = context_.name_assignments.find({variable, loc.line, loc.column});
    return found == context_.name_assignments.end() ? nullptr : &found->second;
  }

  bool is_reference_parameter(ir::VarId variable) const {
    return std::ranges::find(context_.references, variable) != context_.references.end();
  }

  Symbol fresh(std::string_view name) {
    const int number = ++last_number_;
    return {.name = name, .version = number, .storage = number};
  }

  /// What the variable stands for. A name without an assignment, such as a parameter, gets its own storage.
  Symbol& symbol_of(ir::VarId variable, Symbols& symbols) {
    const std::string_view name = context_.bindings.name_of(variable);
    if (Symbol* const known = symbols.find(name)) return *known;
    return symbols.all.emplace_back(fresh(name));
  }

  int storage_of_array(ir::VarId array) {
    const auto [found, is_new] = array_storage_.try_emplace(array, last_number_ + 1);
    if (is_new) ++last_number_;
    return found->second;
  }

  void assign(ir::VarId variable, ir::Loc loc, Symbols& symbols) {
    const NameAssignment* const assignment = find_assignment(variable, loc);
    if (assignment != nullptr && assignment->is_first) values_ = symbols;
    const std::string_view name = sharing_name(variable);
    if (name.empty()) return;
    Symbol assigned = fresh(name);
    if (assignment != nullptr && assignment->shared != ir::kNone) share(*assignment, assigned, symbols);
    Symbol* const held = symbols.find(name);
    if (held == nullptr) {
      symbols.all.push_back(assigned);
      return;
    }
    if (!is_repetition_ && (held->is_reference || assigned.is_reference)) reject_reference(*held, assigned, loc);
    *held = assigned;
  }

  /// Gives the name the storage of the value. All values were evaluated before the first name was assigned.
  void share(const NameAssignment& assignment, Symbol& assigned, Symbols& symbols) {
    const ir::Type type = function_.var(assignment.shared).type;
    assigned.sharing = &assignment;
    if (type.is_array() || type.is_local_array()) {
      assigned.storage = storage_of_array(assignment.shared);
      assigned.is_reference = true;
      return;
    }
    const Symbol source = symbol_of(assignment.shared, values_);
    if (source.name == assigned.name && !assignment.is_part) {
      assigned = source;
      return;
    }
    assigned.storage = source.storage;
    assigned.is_reference = assignment.is_part || source.is_reference || is_reference_parameter(assignment.shared);
    if (!assignment.is_part) assigned.version = source.version;
    Symbol& current = symbol_of(assignment.shared, symbols);
    if (current.storage == source.storage) current.sharing = &assignment;
  }

  void reject_reference(const Symbol& held, const Symbol& assigned, ir::Loc loc) {
    const NameAssignment* const cause = held.is_reference ? held.sharing : assigned.sharing;
    if (cause == nullptr || !reported_.insert(cause->name.id()).second) return;
    context_.error(
        cause->name,
        fmt::format(
            "this assignment makes '{}' a reference to an array element or field, and Warp rejects a name that "
            "is such a reference and has another assignment (line {}{}); assign each name in its own statement, "
            "which copies the value",
            held.name, held.is_reference ? loc.line : line_of_other(held.name, *cause),
            held.sharing == assigned.sharing ? ", in the next iteration" : ""));
  }

  /// The line of an assignment of the name before the one that makes it a reference.
  int line_of_other(std::string_view name, const NameAssignment& cause) const {
    int line = cause.name.loc().line;
    for (const auto& [place, assignment] : context_.name_assignments)
      if (assignment.name.text() == name) line = std::min(line, assignment.name.loc().line);
    return line;
  }

  // ---- changes

  void overwrite(std::string_view by, int storage, const NameAssignment* sharing, ir::Loc loc, Symbols& symbols,
                 bool is_loop = false) {
    for (Symbol& symbol : symbols.all) {
      const NameAssignment* const cause = symbol.sharing != nullptr ? symbol.sharing : sharing;
      if (symbol.name == by || symbol.storage != storage || cause == nullptr || symbol.overwritten != nullptr) continue;
      symbol.overwritten = cause;
      symbol.overwritten_at = loc;
      symbol.overwritten_by_loop = is_loop;
    }
  }

  /// A change of a component or field, or by a function that gets the variable by reference.
  void change(ir::VarId variable, ir::Loc loc, Symbols& symbols) {
    if (sharing_name(variable).empty()) return;
    const Symbol changed = symbol_of(variable, symbols);
    if (changed.is_reference && changed.sharing != nullptr && reported_.insert(changed.sharing->name.id()).second) {
      context_.error(changed.sharing->name,
                     fmt::format("in Warp, this assignment makes '{}' a reference to an array element or field, which "
                                 "line {} would change; assign each name in its own statement, which copies the value",
                                 changed.name, loc.line));
    }
    overwrite(changed.name, changed.storage, changed.sharing, loc, symbols);
  }

  void change_array(ir::ExprId array, ir::Loc loc, Symbols& symbols) {
    const ir::VarId variable = function_.expr(array).variable;
    if (array_storage_.contains(variable)) overwrite({}, storage_of_array(variable), nullptr, loc, symbols);
  }

  void change_arguments(std::int32_t function, const std::vector<ir::ExprId>& args, ir::Loc loc, Symbols& symbols) {
    if (array_storage_.empty()) return;
    const ir::Module& module = context_.file.module();
    const ir::ParameterUses uses = ir::parameter_use(module, module.functions[static_cast<std::size_t>(function)]);
    for (std::size_t k = 0; k < args.size(); ++k)
      if (function_.expr(args[k]).type.is_array() && uses[k].changed()) change_array(args[k], loc, symbols);
  }

  // ---- branches and loops

  void if_statement(const ir::If& branches, Symbols& symbols) {
    if (const ir::Block* const only = compiled_branch(function_, branches)) return block(*only, symbols);
    Symbols otherwise = symbols;
    block(branches.then_block, symbols);
    block(branches.else_block, otherwise);
    for (Symbol& symbol : symbols.all) {
      if (const Symbol* const other = otherwise.find(symbol.name)) merge(symbol, *other);
    }
    for (const Symbol& other : otherwise.all)
      if (symbols.find(other.name) == nullptr) symbols.all.push_back(other);
  }

  /// After two branches, Warp selects one of the values if the name stands for different variables.
  void merge(Symbol& symbol, const Symbol& other) {
    if (symbol.overwritten == nullptr) {
      symbol.copy_overwriting(other);
    }
    if (symbol.version == other.version) return;
    if (symbol.is_reference && other.is_reference && symbol.sharing != nullptr &&
        reported_.insert(symbol.sharing->name.id()).second) {
      context_.error(symbol.sharing->name,
                     fmt::format("Warp cannot select between the references that two branches assign to '{}'; assign "
                                 "each name in its own statement, which copies the value",
                                 symbol.name));
    }
    Symbol selected = fresh(symbol.name);
    selected.copy_overwriting(symbol);
    symbol = selected;
  }

  void start_iteration(ir::VarId loop_variable, Symbols& symbols) {
    const std::string_view name = sharing_name(loop_variable);
    if (!name.empty()) symbol_of(loop_variable, symbols) = fresh(name);
  }

  void for_loop(const ir::For& loop, ir::Loc loc, Symbols& symbols) {
    const auto unrolled = context_.unrolled_loops.find(loop.variable);
    if (unrolled == context_.unrolled_loops.end()) {
      start_iteration(loop.variable, symbols);
      return repeated(loop.body, loc, symbols, [] {});
    }
    constexpr std::int64_t kEnough = 3;  // later iterations find the same sharing as the third
    const std::int64_t count = ++depth_ > kDeepestRepeatedLoop ? 1 : std::min(unrolled->second, kEnough);
    for (std::int64_t k = 0; k < count; ++k) {
      start_iteration(loop.variable, symbols);
      block(loop.body, symbols);
    }
    --depth_;
  }

  /// A loop that Warp does not unroll. Two iterations show what the next one and the code after the loop read.
  template <class Condition>
  void repeated(const ir::Block& body, ir::Loc loc, Symbols& symbols, Condition read_condition) {
    loops_.push_back({.loc = loc, .at_entry = symbols});
    const bool was_repetition = is_repetition_;
    const int count = ++depth_ > kDeepestRepeatedLoop ? 1 : 2;
    for (int k = 0; k < count; ++k) {
      is_repetition_ = was_repetition || k > 0;
      block(body, symbols);
      write_back(loops_.back(), symbols);
      for (const Symbol& left : loops_.back().overwritten)
        if (Symbol* const symbol = symbols.find(left.name); symbol != nullptr && symbol->overwritten == nullptr) {
          symbol->copy_overwriting(left);
        }
      read_condition();
    }
    --depth_;
    is_repetition_ = was_repetition;
    loops_.pop_back();
  }

  /// The end of an iteration: the values of the variables that it has assigned go where they were before the loop.
  void write_back(const Loop& loop, Symbols& symbols) {
    for (const Symbol& before : loop.at_entry.all) {
      Symbol* const symbol = symbols.find(before.name);
      if (symbol == nullptr || symbol->version == before.version) continue;
      const NameAssignment* const sharing = symbol->sharing != nullptr ? symbol->sharing : before.sharing;
      overwrite(before.name, before.storage, sharing, loop.loc, symbols, true);
      symbol->version = before.version;
      symbol->storage = before.storage;
      symbol->is_reference = before.is_reference;
      symbol->sharing = sharing;
    }
  }

  void leave_iteration(Symbols& symbols) {
    if (loops_.empty()) return;
    write_back(loops_.back(), symbols);
    for (const Symbol& symbol : symbols.all)
      if (symbol.overwritten != nullptr) loops_.back().overwritten.push_back(symbol);
  }

  FunctionContext& context_;
  const ir::Function& function_;
  std::set<std::string_view> sharing_names_;  ///< names that share storage somewhere; the others do not matter
  Symbols values_;                            ///< what the names stand for when the current assignment begins
  std::map<ir::VarId, int> array_storage_;    ///< numbers of the memory of arrays of which names share elements
  std::vector<Loop> loops_;                   ///< loops around the current statement that Warp does not unroll
  std::set<const void*> reported_;            ///< syntax nodes of names for which an error was reported
  int last_number_ = 0;                       ///< last number of a version or of a storage
  int depth_ = 0;                             ///< number of loops around the current statement
  bool is_repetition_ = false;                ///< whether Warp's code for the current statement was already generated
};

/// Finds the names that have values of two types.
class TypeCheck {
 public:
  explicit TypeCheck(FunctionContext& context) : context_(context), function_(context.function) {}

  void run() {
    // Warp does not check the type when a loop gives its variable a value.
    ir::for_each_statement(function_.body, [&](const ir::Stmt& statement) {
      if (const auto* const loop = std::get_if<ir::For>(&statement.node))
        loop_variables_.insert(function_.var(loop->variable).name);
    });
    block(function_.body);
  }

 private:
  void block(const ir::Block& block) {
    for (const ir::Stmt& statement : block.statements) {
      if (const auto* const node = std::get_if<ir::Assign>(&statement.node)) check(node->variable, statement.loc);
      ir::for_each_declared_variable(statement, [&](ir::VarId variable) {
        if (!context_.bindings.is_declared_early(variable)) check(variable, statement.loc);
      });
      const auto* const branches = std::get_if<ir::If>(&statement.node);
      if (const ir::Block* const only = branches == nullptr ? nullptr : compiled_branch(function_, *branches)) {
        this->block(*only);
      } else {
        ir::for_each_child_block(statement, [&](const ir::Block& inner) { this->block(inner); });
      }
    }
  }

  void check(ir::VarId variable, ir::Loc loc) {
    const std::string_view name = context_.bindings.name_of(variable);
    const ir::Type type = function_.var(variable).type;
    const bool is_checked = !name.empty() && type.is_value() && !type.is_struct() && !loop_variables_.contains(name);
    if (!is_checked) return;
    const auto [known, is_new] = variables_.try_emplace(name, variable, loc);
    const auto [first, first_loc] = known->second;
    const ir::Type held = function_.var(first).type;
    if (is_new || held == type || !reported_.insert(name).second) return;
    context_.has_failed = true;
    context_.file.report({.loc = loc,
                          .function = context_.entry.name,
                          .construct_excerpt = std::string(name),
                          .reason = fmt::format("in Warp, a variable has one type in the whole function; line {} "
                                                "assigns {} and this statement {}; use two names",
                                                first_loc.line, context_.type_name(held), context_.type_name(type))});
  }

  FunctionContext& context_;
  const ir::Function& function_;
  std::set<std::string_view> loop_variables_;
  /// For each name, the variable of its first assignment and where that is.
  std::map<std::string_view, std::pair<ir::VarId, ir::Loc>> variables_;
  std::set<std::string_view> reported_;  ///< names for which an error was reported
};

}  // namespace

void reject_names_of_two_types(FunctionContext& context) {
  if (!context.has_failed) TypeCheck(context).run();
}

void reject_overwritten_storage(FunctionContext& context) {
  const bool shares =
      std::ranges::any_of(context.name_assignments, [](const auto& entry) { return entry.second.shared != ir::kNone; });
  if (shares && !context.has_failed) StorageSimulation(context).run();
}

}  // namespace assay::frontend
