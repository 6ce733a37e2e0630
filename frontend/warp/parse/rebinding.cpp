#include "frontend/warp/parse/rebinding.hpp"

#include <algorithm>
#include <set>

namespace assay::frontend {
namespace {

void add_names(SyntaxNode target, std::vector<SyntaxNode>& names) {
  if (target.is(SyntaxKind::kIdentifier)) return names.push_back(target);
  const bool is_list = target.is(SyntaxKind::kPatternList) || target.is(SyntaxKind::kTuplePattern) ||
                       target.is(SyntaxKind::kTuple) || target.is(SyntaxKind::kExpressionList) ||
                       target.grammar_name().starts_with("list") || target.grammar_name() == "as_pattern_target";
  if (!is_list) return;  // an element or an attribute
  for (const SyntaxNode part : target.children())
    add_names(part, names);
}

/// Finds the names that a block binds in its own scope.
class NameBindings {
 public:
  /// `is_function`: whether the block is the body of a function, whose `global` statements decide.
  explicit NameBindings(bool is_function) : is_function_(is_function) {}

  void visit(SyntaxNode node) {
    const std::string_view kind = node.grammar_name();
    if (kind == "global_statement") {
      for (const SyntaxNode name : node.children())
        globals_.insert(name.text());
      return;
    }
    if (node.is(SyntaxKind::kFunctionDefinition) || kind == "lambda") return visit_function(node);
    if (node.is(SyntaxKind::kClassDefinition)) {
      if (is_function_) bind(node.part(SyntaxField::kName), "a class");
      for (const SyntaxNode part : node.part(SyntaxField::kBody).children())
        visit_class_member(part);
      return;
    }
    if (node.is(SyntaxKind::kFor)) bind(node.part(SyntaxField::kLeft), "a loop");
    if (kind == "named_expression") bind(node.part(SyntaxField::kName), "the operator :=");
    if (kind == "as_pattern_target") bind(node, "an 'as' clause");
    if (kind == "delete_statement") bind_all(node, "a del statement");
    // Assignments at the top level of a module are parsed there.
    const bool is_assignment = node.is(SyntaxKind::kAssignment) || node.is(SyntaxKind::kAugmentedAssignment);
    if (is_function_ && is_assignment) bind(node.part(SyntaxField::kLeft), "an assignment");
    for (const SyntaxNode child : node.children())
      visit(child);
  }

  std::vector<ReboundName> take() {
    if (is_function_) {
      std::erase_if(found_, [this](const ReboundName& each) { return !globals_.contains(each.name); });
      for (ReboundName& each : found_)
        each.how = "a function with a global statement";
    }
    found_.insert(found_.end(), of_functions_.begin(), of_functions_.end());
    return std::move(found_);
  }

 private:
  void bind(SyntaxNode target, std::string_view how) {
    for (const SyntaxNode name : names_in_target(target))
      found_.push_back({.name = name.text(), .binding = name, .how = how});
  }
  void bind_all(SyntaxNode node, std::string_view how) {
    for (const SyntaxNode part : node.children())
      bind(part, how);
  }
  void visit_function(SyntaxNode definition) {
    if (is_function_ && definition.is(SyntaxKind::kFunctionDefinition))
      bind(definition.part(SyntaxField::kName), "a definition");
    NameBindings inside(true);
    inside.visit(definition.part(SyntaxField::kBody));
    const std::vector<ReboundName> found = inside.take();
    of_functions_.insert(of_functions_.end(), found.begin(), found.end());
  }
  /// Names that a class body binds are its members; only its methods may bind names of the module.
  void visit_class_member(SyntaxNode node) {
    if (node.is(SyntaxKind::kFunctionDefinition)) return visit_function(node);
    for (const SyntaxNode child : node.children())
      visit_class_member(child);
  }

  bool is_function_;
  std::set<std::string_view> globals_;     ///< names in `global` statements
  std::vector<ReboundName> found_;         ///< names bound in this scope
  std::vector<ReboundName> of_functions_;  ///< names of the module that nested functions bind
};

}  // namespace

std::vector<SyntaxNode> names_in_target(SyntaxNode target) {
  std::vector<SyntaxNode> names;
  add_names(target, names);
  return names;
}

std::vector<ReboundName> rebound_names(SyntaxNode block) {
  NameBindings bindings(false);
  for (const SyntaxNode statement : block.children())
    bindings.visit(statement);
  std::vector<ReboundName> found = bindings.take();
  std::ranges::stable_sort(found, {}, [](const ReboundName& each) {
    const ir::Loc loc = each.binding.loc();
    return std::pair(loc.line, loc.column);
  });
  return found;
}

}  // namespace assay::frontend
