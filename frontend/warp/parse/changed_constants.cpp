#include "frontend/warp/parse/changed_constants.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <variant>

#include <fmt/format.h>

#include "ir/visit.hpp"

namespace assay::frontend {
namespace {

using NameAssignment = FunctionContext::NameAssignment;

/// Unrolled loops nested deeper are executed only once, because each level doubles the time.
constexpr int kDeepestRepeatedUnrolling = 6;

/// What a name stands for in Warp.
struct Meaning {
  int version = 0;                           ///< number of the variable or constant
  const NameAssignment* constant = nullptr;  ///< assignment that made it a constant; null: it is a variable
};
using Meanings = std::map<std::string_view, Meaning>;

/// Executes the body of a function as Warp's code generator does.
class ConstantSimulation {
 public:
  explicit ConstantSimulation(FunctionContext& context) : context_(context), function_(context.function) {}

  void run() {
    Meanings meanings;
    block(function_.body, meanings);
  }

 private:
  /// A loop around the current statement.
  struct Loop {
    ir::Loc loc;               ///< location of the loop
    bool is_unrolled = false;  ///< whether Warp unrolls it
    Meanings at_entry = {};    ///< what the names stand for before the first iteration, if it is not unrolled
  };

  void block(const ir::Block& block, Meanings& meanings) {
    for (const ir::Stmt& statement : block.statements)
      this->statement(statement, meanings);
  }

  void statement(const ir::Stmt& statement, Meanings& meanings) {
    if (context_.has_failed) return;
    const auto assigned = [&](ir::VarId variable) { assign(variable, statement.loc, meanings); };
    std::visit(ir::Overloaded{
                   [&](const ir::Let& let) {
                     if (!context_.bindings.is_declared_early(let.variable)) assigned(let.variable);
                   },
                   [&](const ir::Assign& node) {
                     // Without a record, it changes a component or field.
                     if (find_assignment(node.variable, statement.loc) != nullptr) assigned(node.variable);
                   },
                   [&](const ir::Atomic& atomic) {
                     if (atomic.result != ir::kNone) assigned(atomic.result);
                   },
                   [&](const ir::Call& call) { std::ranges::for_each(call.results, assigned); },
                   [&](const ir::If& branches) { if_statement(branches, meanings); },
                   [&](const ir::For& loop) { for_loop(loop, statement.loc, meanings); },
                   [&](const ir::While& loop) { repeated(loop.body, statement.loc, meanings); },
                   [&](const ir::Break&) { leave_iteration(meanings); },
                   [&](const ir::Continue&) { leave_iteration(meanings); },
                   [](const auto&) {},
               },
               statement.node);
  }

  const NameAssignment* find_assignment(ir::VarId variable, ir::Loc loc) const {
    const auto found = context_.name_assignments.find({variable, loc.line, loc.column});
    return found == context_.name_assignments.end() ? nullptr : &found->second;
  }

  void assign(ir::VarId variable, ir::Loc loc, Meanings& meanings) {
    const std::string_view name = context_.bindings.name_of(variable);
    if (name.empty()) return;
    const NameAssignment* const assignment = find_assignment(variable, loc);
    Meaning meaning{.version = ++last_version_};
    if (assignment != nullptr && assignment->is_constant) meaning.constant = assignment;
    if (assignment != nullptr && assignment->shared != ir::kNone && !assignment->is_part) {
      // The name stands for the variable or constant of another name.
      const auto other = meanings.find(context_.bindings.name_of(assignment->shared));
      if (other != meanings.end()) meaning = other->second;
    }
    meanings.insert_or_assign(name, meaning);
  }

  void if_statement(const ir::If& branches, Meanings& meanings) {
    const ir::Expr& condition = function_.expr(branches.condition);
    // Warp compiles only one branch if the condition is a constant.
    if (condition.kind == ir::ExprKind::kLiteral)
      return block(condition.bits != 0 ? branches.then_block : branches.else_block, meanings);
    Meanings otherwise = meanings;
    block(branches.then_block, meanings);
    block(branches.else_block, otherwise);
    for (const auto& [name, other] : otherwise) {
      const auto [own, is_new] = meanings.try_emplace(name, other);
      // Warp selects one of two values; the result is a variable.
      if (!is_new && own->second.version != other.version) own->second = {.version = ++last_version_};
    }
  }

  void for_loop(const ir::For& loop, ir::Loc loc, Meanings& meanings) {
    const auto target = context_.loop_targets.find(loop.variable);
    const std::string_view name = target == context_.loop_targets.end() ? "" : target->second;
    const auto unrolled = context_.unrolled_loops.find(loop.variable);
    if (unrolled == context_.unrolled_loops.end()) {
      if (!name.empty()) meanings.insert_or_assign(name, Meaning{.version = ++last_version_});
      return repeated(loop.body, loc, meanings);
    }
    // A name that was the variable of an unrolled loop may change.
    if (unrolled->second > 0) unrolled_names_.insert(name);
    loops_.push_back({.loc = loc, .is_unrolled = true});
    const std::int64_t most = static_cast<int>(loops_.size()) > kDeepestRepeatedUnrolling ? 1 : 2;
    for (std::int64_t k = 0; k < std::min(unrolled->second, most); ++k) {
      if (!name.empty()) meanings.insert_or_assign(name, Meaning{.version = ++last_version_});
      block(loop.body, meanings);
    }
    loops_.pop_back();
  }

  /// A loop that Warp does not unroll, and whose code it generates once.
  void repeated(const ir::Block& body, ir::Loc loc, Meanings& meanings) {
    loops_.push_back({.loc = loc, .at_entry = meanings});
    block(body, meanings);
    write_back(meanings);
    loops_.pop_back();
  }

  void leave_iteration(Meanings& meanings) {
    if (!loops_.empty() && !loops_.back().is_unrolled) write_back(meanings);
  }

  /// The end of an iteration: the values that it has assigned go where they were before the loop.
  void write_back(Meanings& meanings) {
    for (const auto& [name, before] : loops_.back().at_entry) {
      Meaning& now = meanings[name];
      if (now.version == before.version || (before.constant != nullptr && unrolled_names_.contains(name))) continue;
      now = before;
      if (before.constant != nullptr && !context_.has_failed) report(*before.constant, loops_.back().loc);
    }
  }

  void report(const NameAssignment& constant, ir::Loc loop) {
    const ir::Type type = constant.type;
    const std::string name = type == ir::kF32   ? "float"
                             : type == ir::kI32 ? "int"
                             : type.is_bool()   ? "bool"
                                                : context_.type_name(type);
    context_.error(constant.name,
                   fmt::format("Warp treats a variable whose value is a literal or constant as a constant, and rejects "
                               "the loop in line {} because it changes the variable; write {} = {}(...)",
                               loop.line, constant.name.text(), name));
  }

  FunctionContext& context_;
  const ir::Function& function_;
  std::vector<Loop> loops_;                    ///< loops around the current statement
  std::set<std::string_view> unrolled_names_;  ///< variables of the unrolled loops so far
  int last_version_ = 0;
};

}  // namespace

void reject_changed_constants(FunctionContext& context) {
  const bool has_constants =
      std::ranges::any_of(context.name_assignments, [](const auto& entry) { return entry.second.is_constant; });
  if (has_constants && !context.has_failed) ConstantSimulation(context).run();
}

}  // namespace assay::frontend
