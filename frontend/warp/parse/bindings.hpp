// Which variable of the kernel language a Python name means at the place that is being read.
#pragma once

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/warp/syntax/syntax.hpp"
#include "ir/module.hpp"

namespace assay::frontend {

class Bindings {
 public:
  /// Enters and leaves a block; leaving forgets the names bound in it.
  void enter(Node block) { scopes_.push_back({block, {}, {}}); }
  void leave() { scopes_.pop_back(); }

  void bind(std::string_view name, ir::VarId variable) { scopes_.back().names[name] = variable; }
  /// The variable that the name means here, or kNone.
  ir::VarId find(std::string_view name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto found = scope->names.find(name); found != scope->names.end()) return found->second;
    }
    return ir::kNone;
  }

  /// The number of enclosing blocks, and the block at a depth, from 0 for the outermost.
  std::size_t depth() const { return scopes_.size(); }
  Node block(std::size_t depth) const { return scopes_[depth].block; }

  /// Binds the name in an enclosing block, which must declare the variable before the statement being read in it.
  void bind_outside(std::size_t depth, std::string_view name, ir::VarId variable) {
    scopes_[depth].names[name] = variable;
    scopes_[depth].undeclared.push_back(variable);
  }
  /// The variables that the current block must declare now.
  std::vector<ir::VarId> take_undeclared() { return std::exchange(scopes_.back().undeclared, {}); }

 private:
  struct Scope {
    Node block;
    std::map<std::string_view, ir::VarId> names;
    std::vector<ir::VarId> undeclared;
  };
  std::vector<Scope> scopes_;
};

}  // namespace assay::frontend
