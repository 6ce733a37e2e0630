// Maps Python names to variables of the kernel language at the statement being parsed.
#pragma once

#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/warp/syntax/syntax.hpp"
#include "ir/module.hpp"

namespace assay::frontend {

/// The variables that the names of a function refer to at the current statement, by block.
class VariableBindings {
 public:
  /// Enters and leaves a block; leaving removes the names bound in it.
  void enter(SyntaxNode block) { scopes_.push_back({block, {}, {}}); }
  void leave() { scopes_.pop_back(); }

  void bind(std::string_view name, ir::VarId variable) {
    scopes_.back().variables_by_name[name] = variable;
    names_by_variable_[variable] = name;
  }
  /// Returns the variable to which the name is bound here, or kNone.
  ir::VarId find(std::string_view name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto found = scope->variables_by_name.find(name); found != scope->variables_by_name.end())
        return found->second;
    }
    return ir::kNone;
  }

  /// The name in the source that was bound to the variable; empty if there is none.
  std::string_view name_of(ir::VarId variable) const {
    const auto found = names_by_variable_.find(variable);
    return found == names_by_variable_.end() ? std::string_view() : found->second;
  }
  /// Whether the variable is declared in a block around the one that first assigns it.
  bool is_declared_early(ir::VarId variable) const { return variables_declared_early_.contains(variable); }

  /// Whether the current block binds the name.
  bool is_bound_in_block(std::string_view name) const { return scopes_.back().variables_by_name.contains(name); }

  /// The number of enclosing blocks, and the block at a depth, from 0 for the outermost.
  std::size_t depth() const { return scopes_.size(); }
  SyntaxNode block(std::size_t depth) const { return scopes_[depth].block; }

  /// Binds the name in the enclosing block at this depth. That block must then declare the variable before its current
  /// statement.
  void bind_in_enclosing_block(std::size_t depth, std::string_view name, ir::VarId variable) {
    scopes_[depth].variables_by_name[name] = variable;
    scopes_[depth].undeclared_variables.push_back(variable);
    names_by_variable_[variable] = name;
    variables_declared_early_.insert(variable);
  }
  /// Makes the enclosing block at this depth declare a variable that has no name.
  void declare_in_enclosing_block(std::size_t depth, ir::VarId variable) {
    scopes_[depth].undeclared_variables.push_back(variable);
  }
  /// The variables that the current block must declare now.
  std::vector<ir::VarId> take_undeclared() { return std::exchange(scopes_.back().undeclared_variables, {}); }

 private:
  /// The names that are bound in one block.
  struct Scope {
    SyntaxNode block;                                         ///< block that the scope belongs to
    std::map<std::string_view, ir::VarId> variables_by_name;  ///< variables that names are bound to in this block
    std::vector<ir::VarId> undeclared_variables;              ///< variables that the block must still declare
  };
  std::vector<Scope> scopes_;                                ///< scopes of the enclosing blocks, the innermost last
  std::map<ir::VarId, std::string_view> names_by_variable_;  ///< names of all variables, also of blocks that ended
  std::set<ir::VarId> variables_declared_early_;             ///< see is_declared_early
};

}  // namespace assay::frontend
