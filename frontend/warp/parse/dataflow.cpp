#include "frontend/warp/parse/dataflow.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "frontend/warp/parse/constant.hpp"
#include "frontend/warp/parse/expression_parser.hpp"

namespace assay::frontend {
namespace {

using NameSet = std::set<std::string_view>;

/// Names that definitely have a value; all names at unreachable points.
struct Assigned {
  NameSet names;
  bool unreachable = false;

  bool has(std::string_view name) const { return unreachable || names.contains(name); }
  void meet(const Assigned& other) {
    if (other.unreachable) return;
    if (unreachable) {
      *this = other;
      return;
    }
    std::erase_if(names, [&](std::string_view name) { return !other.names.contains(name); });
  }
};

/// The identifiers that evaluating an expression reads, in order.
void collect_reads(SyntaxNode node, std::vector<SyntaxNode>& reads) {
  switch (node.kind()) {
    case SyntaxKind::kIdentifier: reads.push_back(node); return;
    case SyntaxKind::kAttribute: collect_reads(node.part(SyntaxField::kObject), reads); return;
    case SyntaxKind::kKeywordArgument: collect_reads(node.part(SyntaxField::kValue), reads); return;
    case SyntaxKind::kType: return;
    default:
      for (const SyntaxNode child : node.children())
        collect_reads(child, reads);
  }
}

/// Names passed as the state of a random draw, which changes it.
void collect_drawn(SyntaxNode node, NameSet& drawn) {
  if (node.is(SyntaxKind::kCall)) {
    const SyntaxNode function = node.part(SyntaxField::kFunction);
    const std::string_view text = function.text();
    const std::string_view name = text.substr(text.rfind('.') == text.npos ? 0 : text.rfind('.') + 1);
    const auto arguments = node.part(SyntaxField::kArguments).children();
    if (is_random_function(name) && name != "rand_init" && !arguments.empty() &&
        arguments[0].is(SyntaxKind::kIdentifier))
      drawn.insert(arguments[0].text());
  }
  for (const SyntaxNode child : node.children())
    collect_drawn(child, drawn);
}

/// The variable that an assignment to `target` changes: v for v, v[i], v.x and v[i].x.
SyntaxNode root_name(SyntaxNode target) {
  while (target.is(SyntaxKind::kSubscript) || target.is(SyntaxKind::kAttribute)) {
    target = target.part(target.is(SyntaxKind::kSubscript) ? SyntaxField::kValue : SyntaxField::kObject);
  }
  return target;
}

/// Whether the target is wp.adjoint[...] or a part of it, and thus not a variable of the function.
bool is_adjoint_target(SyntaxNode target) {
  while (target.is(SyntaxKind::kSubscript) || target.is(SyntaxKind::kAttribute)) {
    const SyntaxNode inner =
        target.part(target.is(SyntaxKind::kSubscript) ? SyntaxField::kValue : SyntaxField::kObject);
    const SyntaxNode name = inner.is(SyntaxKind::kAttribute) ? inner.part(SyntaxField::kAttribute) : inner;
    if (target.is(SyntaxKind::kSubscript) && name.text() == "adjoint") return true;
    target = inner;
  }
  return false;
}

/// The blocks of a compound statement, in order; empty for a simple one.
std::vector<SyntaxNode> blocks_of(SyntaxNode statement) {
  std::vector<SyntaxNode> blocks;
  switch (statement.kind()) {
    case SyntaxKind::kIf:
      blocks.push_back(statement.part(SyntaxField::kConsequence));
      for (const SyntaxNode child : statement.children()) {
        if (child.is(SyntaxKind::kElif)) blocks.push_back(child.part(SyntaxField::kConsequence));
        if (child.is(SyntaxKind::kElse)) blocks.push_back(child.part(SyntaxField::kBody));
      }
      break;
    case SyntaxKind::kFor:
    case SyntaxKind::kWhile: blocks.push_back(statement.part(SyntaxField::kBody)); break;
    default: break;
  }
  return blocks;
}

/// Whether the loop over this range is known from literals to run at least once.
bool surely_runs(SyntaxNode range) {
  if (!range.is(SyntaxKind::kCall)) return false;
  const std::string_view function = range.part(SyntaxField::kFunction).text();
  const std::span<const SyntaxNode> arguments = range.part(SyntaxField::kArguments).children();
  if (function == "reversed") return arguments.size() == 1 && surely_runs(arguments[0]);
  if (function != "range") return false;
  std::vector<std::int64_t> bounds;
  for (const SyntaxNode bound : arguments) {
    const auto number = literal_constant(bound);
    if (!number || number->number().is_real) return false;
    bounds.push_back(number->number().integer);
  }
  return (bounds.size() == 1 && bounds[0] > 0) || (bounds.size() == 2 && bounds[0] < bounds[1]);
}

/// Abstract execution of a block. Reports each read of a name that may be unassigned.
class Execution {
 public:
  explicit Execution(std::vector<SyntaxNode>& unassigned) : unassigned_reads_(unassigned) {}

  void block(SyntaxNode block, Assigned& assigned) {
    for (const SyntaxNode statement : block.children())
      this->statement(statement, assigned);
  }

 private:
  void reads(SyntaxNode expression, const Assigned& assigned) {
    if (!expression) return;
    scratch_.clear();
    collect_reads(expression, scratch_);
    for (const SyntaxNode name : scratch_) {
      if (!assigned.has(name.text())) unassigned_reads_.push_back(name);
    }
  }

  void target(SyntaxNode target, Assigned& assigned) {
    if (target.is(SyntaxKind::kIdentifier)) {
      assigned.names.insert(target.text());
    } else if (target.is(SyntaxKind::kPatternList) || target.is(SyntaxKind::kTuplePattern)) {
      for (const SyntaxNode part : target.children())
        this->target(part, assigned);
    } else {
      reads(target, assigned);
    }
  }

  void assignment(SyntaxNode node, Assigned& assigned) {
    const SyntaxNode right = node.part(SyntaxField::kRight);
    if (right.is(SyntaxKind::kAssignment)) {
      assignment(right, assigned);
    } else {
      reads(right, assigned);
    }
    target(node.part(SyntaxField::kLeft), assigned);
  }

  void statement(SyntaxNode statement, Assigned& assigned) {
    switch (statement.kind()) {
      case SyntaxKind::kExpressionStatement:
        for (const SyntaxNode child : statement.children())
          this->statement(child, assigned);
        break;
      case SyntaxKind::kAssignment: assignment(statement, assigned); break;
      case SyntaxKind::kAugmentedAssignment:
        reads(statement.part(SyntaxField::kRight), assigned);
        reads(statement.part(SyntaxField::kLeft), assigned);
        target(statement.part(SyntaxField::kLeft), assigned);
        break;
      case SyntaxKind::kIf: if_statement(statement, assigned); break;
      case SyntaxKind::kFor:
      case SyntaxKind::kWhile: loop(statement, assigned); break;
      case SyntaxKind::kReturn:
        reads(statement, assigned);
        assigned.unreachable = true;
        break;
      case SyntaxKind::kBreak:
        if (!at_break_.empty()) at_break_.back().meet(assigned);
        assigned.unreachable = true;
        break;
      case SyntaxKind::kContinue:
        if (!at_continue_.empty()) at_continue_.back().meet(assigned);
        assigned.unreachable = true;
        break;
      default: reads(statement, assigned); break;
    }
  }

  void if_statement(SyntaxNode statement, Assigned& assigned) {
    reads(statement.part(SyntaxField::kCondition), assigned);
    Assigned joined = assigned;
    block(statement.part(SyntaxField::kConsequence), joined);
    bool has_else = false;
    for (const SyntaxNode child : statement.children()) {
      if (!child.is(SyntaxKind::kElif) && !child.is(SyntaxKind::kElse)) continue;
      has_else = child.is(SyntaxKind::kElse);
      if (!has_else) reads(child.part(SyntaxField::kCondition), assigned);
      Assigned arm = assigned;
      block(child.part(has_else ? SyntaxField::kBody : SyntaxField::kConsequence), arm);
      joined.meet(arm);
    }
    if (!has_else) joined.meet(assigned);
    assigned = std::move(joined);
  }

  void loop(SyntaxNode statement, Assigned& assigned) {
    const SyntaxNode condition = statement.part(SyntaxField::kCondition);
    reads(statement.is(SyntaxKind::kFor) ? statement.part(SyntaxField::kRight) : condition, assigned);
    Assigned body = assigned;
    Assigned broken = iteration(statement, body);
    // A loop in the body may leave its variable undefined for the next iteration.
    Assigned next = assigned;
    next.meet(body);
    if (!next.unreachable && next.names != assigned.names) {
      body = next;
      broken = iteration(statement, body);
    }
    if (condition && condition.is(SyntaxKind::kTrue)) {
      assigned = broken;  // the only way out
    } else if (statement.is(SyntaxKind::kFor) && surely_runs(statement.part(SyntaxField::kRight))) {
      body.meet(broken);
      assigned = std::move(body);
    } else if (statement.is(SyntaxKind::kFor)) {
      // In Warp, the variable of a loop without iterations is undefined after it.
      assigned.names.erase(statement.part(SyntaxField::kLeft).text());
    }
  }

  /// One iteration of a loop, from the state at its start to that at its end. Returns what every break has assigned.
  Assigned iteration(SyntaxNode statement, Assigned& body) {
    if (statement.is(SyntaxKind::kFor)) target(statement.part(SyntaxField::kLeft), body);
    at_break_.push_back({.names = {}, .unreachable = true});
    at_continue_.push_back({.names = {}, .unreachable = true});
    block(statement.part(SyntaxField::kBody), body);
    body.meet(at_continue_.back());
    Assigned broken = std::move(at_break_.back());
    at_break_.pop_back();
    at_continue_.pop_back();
    return broken;
  }

  std::vector<SyntaxNode>& unassigned_reads_;
  std::vector<SyntaxNode> scratch_;
  std::vector<Assigned> at_break_;     ///< by enclosing loop, what every break so far has assigned
  std::vector<Assigned> at_continue_;  ///< the same of continue
};

/// A block with the names that occur in it.
struct Scope {
  SyntaxNode block;
  NameSet direct;     ///< in its own statements and in the headers of its compound statements
  NameSet mentioned;  ///< anywhere in it, loop variables inside their loop left out
  NameSet assigned;   ///< assigned anywhere in it
  NameSet exposed;    ///< read before the block definitely assigns them
  std::vector<Scope> inner;
};

class ScopeBuilder {
 public:
  std::map<std::string_view, int> assignments;
  NameSet loop_variables;

  Scope build(SyntaxNode block, const NameSet& at_entry) {
    Scope scope{.block = block};
    for (const SyntaxNode statement : block.children())
      add(statement, scope);
    scope.mentioned.insert(scope.direct.begin(), scope.direct.end());
    std::vector<SyntaxNode> unassigned;
    Assigned assigned{.names = at_entry};
    Execution(unassigned).block(block, assigned);
    for (const SyntaxNode name : unassigned)
      scope.exposed.insert(name.text());
    return scope;
  }

 private:
  void mention(SyntaxNode expression, Scope& scope) {
    if (!expression) return;
    std::vector<SyntaxNode> reads;
    collect_reads(expression, reads);
    for (const SyntaxNode name : reads)
      scope.direct.insert(name.text());
  }

  void assign(SyntaxNode target, Scope& scope) {
    if (target.is(SyntaxKind::kPatternList) || target.is(SyntaxKind::kTuplePattern)) {
      for (const SyntaxNode part : target.children())
        assign(part, scope);
      return;
    }
    mention(target, scope);
    if (is_adjoint_target(target)) return;
    const std::string_view name = root_name(target).text();
    ++assignments[name];
    scope.assigned.insert(name);
  }

  void add(SyntaxNode statement, Scope& scope) {
    switch (statement.kind()) {
      case SyntaxKind::kExpressionStatement:
        for (const SyntaxNode child : statement.children())
          add(child, scope);
        return;
      case SyntaxKind::kAssignment:
      case SyntaxKind::kAugmentedAssignment: {
        const SyntaxNode right = statement.part(SyntaxField::kRight);
        if (right.is(SyntaxKind::kAssignment)) {
          add(right, scope);
        } else {
          mention(right, scope);
        }
        assign(statement.part(SyntaxField::kLeft), scope);
        return;
      }
      case SyntaxKind::kIf:
        mention(statement.part(SyntaxField::kCondition), scope);
        for (const SyntaxNode child : statement.children()) {
          if (child.is(SyntaxKind::kElif)) mention(child.part(SyntaxField::kCondition), scope);
        }
        break;
      case SyntaxKind::kFor: mention(statement.part(SyntaxField::kRight), scope); break;
      case SyntaxKind::kWhile: mention(statement.part(SyntaxField::kCondition), scope); break;
      default: mention(statement, scope); return;
    }
    for (const SyntaxNode block : blocks_of(statement))
      add_block(statement, block, scope);
  }

  void add_block(SyntaxNode statement, SyntaxNode block, Scope& scope) {
    NameSet loop_variable;
    if (statement.is(SyntaxKind::kFor)) {
      const std::string_view name = statement.part(SyntaxField::kLeft).text();
      loop_variable.insert(name);
      loop_variables.insert(name);
      ++assignments[name];
      scope.assigned.insert(name);
    }
    Scope inner = build(block, loop_variable);
    for (const std::string_view name : loop_variable)
      inner.mentioned.erase(name);
    scope.mentioned.insert(inner.mentioned.begin(), inner.mentioned.end());
    scope.assigned.insert(inner.assigned.begin(), inner.assigned.end());
    scope.inner.push_back(std::move(inner));
  }
};

}  // namespace

/// Computes a Dataflow; keeps the types of the walk out of the header.
class FlowWalk {
 public:
  explicit FlowWalk(Dataflow& result) : result_(result) {}

  void place(const Scope& scope, const NameSet& names) {
    auto& assigned = result_.assigned_names_by_block_[scope.block.id()];
    assigned.assign(scope.assigned.begin(), scope.assigned.end());
    NameSet further_in;
    for (const std::string_view name : names) {
      if (!scope.mentioned.contains(name)) continue;
      const bool exposed = std::any_of(scope.inner.begin(), scope.inner.end(), [&](const Scope& inner) {
        return inner.mentioned.contains(name) && inner.exposed.contains(name);
      });
      if (exposed || scope.direct.contains(name)) {
        result_.required_declarations_[{scope.block.id(), name}] = true;
      } else {
        further_in.insert(name);
      }
    }
    for (const Scope& inner : scope.inner)
      place(inner, further_in);
  }

 private:
  Dataflow& result_;
};

Dataflow::Dataflow(SyntaxNode body, const std::vector<std::string_view>& parameters) {
  ScopeBuilder builder;
  const Scope root = builder.build(body, {});
  assignment_counts_ = builder.assignments;

  NameSet drawn;
  collect_drawn(body, drawn);
  for (const std::string_view parameter : parameters) {
    if (drawn.contains(parameter)) ++assignment_counts_[parameter];
  }
  NameSet names;
  for (const auto& [name, count] : assignment_counts_)
    names.insert(name);
  for (const std::string_view parameter : parameters)
    names.erase(parameter);
  FlowWalk(*this).place(root, names);

  std::vector<SyntaxNode> unassigned;
  Assigned assigned{.names = NameSet(parameters.begin(), parameters.end())};
  Execution(unassigned).block(body, assigned);
  falls_through_ = !assigned.unreachable;
  for (const SyntaxNode name : unassigned) {
    if (!assignment_counts_.contains(name.text()) || !unassigned_read_ids_.insert(name.id()).second) continue;
    names_with_unassigned_reads_.insert(name.text());
    unassigned_reads_.push_back({.name = name, .is_after_loop = builder.loop_variables.contains(name.text())});
  }
}

bool Dataflow::declares(SyntaxNode block, std::string_view name) const {
  return required_declarations_.contains({block.id(), name});
}

int Dataflow::assignments(std::string_view name) const {
  const auto found = assignment_counts_.find(name);
  return found == assignment_counts_.end() ? 0 : found->second;
}

bool Dataflow::assigned_in(SyntaxNode block, std::string_view name) const {
  const auto found = assigned_names_by_block_.find(block.id());
  return found != assigned_names_by_block_.end() &&
         std::find(found->second.begin(), found->second.end(), name) != found->second.end();
}

}  // namespace assay::frontend
