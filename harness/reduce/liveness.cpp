#include <variant>
#include <vector>

#include "harness/reduce/rewrite.hpp"
#include "ir/analysis.hpp"
#include "ir/visit.hpp"

namespace assay::reduce {
namespace {

using namespace ir;

class Liveness {
 public:
  Liveness(Function& function, const std::vector<bool>& has_effects)
      : function_(function), has_effects_(has_effects), live_(function.variables.size()) {}

  void remove_dead() {
    do {
      changed_ = false;
      mark(function_.body);
    } while (changed_);
    sweep(function_.body);
  }

 private:
  void make_live(VarId variable) {
    if (live_[static_cast<std::size_t>(variable)]) return;
    live_[static_cast<std::size_t>(variable)] = true;
    changed_ = true;
  }

  bool is_live(VarId variable) const { return live_[static_cast<std::size_t>(variable)]; }

  bool calls_for_effect(ExprId root) const {
    bool effect = false;
    for_each_expression(function_, root, [&](ExprId, const Expr& expr) {
      effect |= expr.kind == ExprKind::kCall && has_effects_[static_cast<std::size_t>(expr.index)];
    });
    return effect;
  }

  bool matters(Block& block) const {
    for (Stmt& statement : block.statements)
      if (matters(statement)) return true;
    return false;
  }

  bool matters(Stmt& statement) const {
    bool does = false;
    for_each_declared_variable(statement,
                               [&](VarId& variable) { does |= is_live(variable) && !is_loop_variable(statement); });
    for_each_root_expression(statement, [&](ExprId& root) { does |= calls_for_effect(root); });
    for_each_child_block(statement, [&](Block& inner) { does |= matters(inner); });
    return does ||
           std::visit(Overloaded{
                          [&](const Assign& node) { return is_live(node.variable); },
                          [&](const Store& node) {
                            const VarId array = function_.expr(node.array).variable;
                            return function_.is_parameter(array) || is_live(array);
                          },
                          [](const Atomic&) { return true; },
                          [&](const Call& node) { return bool{has_effects_[static_cast<std::size_t>(node.function)]}; },
                          [](const Break&) { return true; },
                          [](const Continue&) { return true; },
                          [](const Return&) { return true; },
                          [](const auto&) { return false; },
                      },
                      statement.node);
  }

  static bool is_loop_variable(const Stmt& statement) { return std::holds_alternative<For>(statement.node); }

  void mark(Block& block) {
    for (Stmt& statement : block.statements) {
      for_each_child_block(statement, [&](Block& inner) { mark(inner); });
      if (!matters(statement)) continue;
      for_each_root_expression(statement, [&](ExprId& root) {
        for (const VarId variable : variables_read(function_, root))
          make_live(variable);
      });
    }
  }

  void sweep(Block& block) {
    std::erase_if(block.statements, [&](Stmt& statement) { return !matters(statement); });
    for (Stmt& statement : block.statements)
      for_each_child_block(statement, [&](Block& inner) { sweep(inner); });
  }

  Function& function_;
  const std::vector<bool>& has_effects_;
  std::vector<bool> live_;
  bool changed_ = false;
};

}  // namespace

void remove_dead_statements(Module& module) {
  std::vector<bool> effects;
  for (const Function& function : module.functions)
    effects.push_back(has_effects(parameter_use(module, function)));
  for (Function* function : written_functions(module))
    Liveness(*function, effects).remove_dead();
}

}  // namespace assay::reduce
