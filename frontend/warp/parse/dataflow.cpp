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

/// Names that surely have a value; all of them where control never arrives.
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
void collect_reads(Node node, std::vector<Node>& reads) {
  switch (node.kind()) {
    case Syntax::kIdentifier: reads.push_back(node); return;
    case Syntax::kAttribute: collect_reads(node.part(Part::kObject), reads); return;
    case Syntax::kKeywordArgument: collect_reads(node.part(Part::kValue), reads); return;
    case Syntax::kType: return;
    default:
      for (const Node child : node.children())
        collect_reads(child, reads);
  }
}

/// Names that stand where a draw of a random number takes its state, which it changes.
void collect_drawn(Node node, NameSet& drawn) {
  if (node.is(Syntax::kCall)) {
    const Node function = node.part(Part::kFunction);
    const std::string_view text = function.text();
    const std::string_view name = text.substr(text.rfind('.') == text.npos ? 0 : text.rfind('.') + 1);
    const auto arguments = node.part(Part::kArguments).children();
    if (is_random_function(name) && name != "rand_init" && !arguments.empty() && arguments[0].is(Syntax::kIdentifier))
      drawn.insert(arguments[0].text());
  }
  for (const Node child : node.children())
    collect_drawn(child, drawn);
}

/// The variable that an assignment to `target` changes: v for v, v[i], v.x and v[i].x.
Node root_name(Node target) {
  while (target.is(Syntax::kSubscript) || target.is(Syntax::kAttribute)) {
    target = target.part(target.is(Syntax::kSubscript) ? Part::kValue : Part::kObject);
  }
  return target;
}

/// Whether the target is wp.adjoint[...] or a part of it, which is no variable of the function.
bool is_adjoint_target(Node target) {
  while (target.is(Syntax::kSubscript) || target.is(Syntax::kAttribute)) {
    const Node inner = target.part(target.is(Syntax::kSubscript) ? Part::kValue : Part::kObject);
    const Node name = inner.is(Syntax::kAttribute) ? inner.part(Part::kAttribute) : inner;
    if (target.is(Syntax::kSubscript) && name.text() == "adjoint") return true;
    target = inner;
  }
  return false;
}

/// The blocks of a compound statement, in order; empty for a simple one.
std::vector<Node> blocks_of(Node statement) {
  std::vector<Node> blocks;
  switch (statement.kind()) {
    case Syntax::kIf:
      blocks.push_back(statement.part(Part::kConsequence));
      for (const Node child : statement.children()) {
        if (child.is(Syntax::kElif)) blocks.push_back(child.part(Part::kConsequence));
        if (child.is(Syntax::kElse)) blocks.push_back(child.part(Part::kBody));
      }
      break;
    case Syntax::kFor:
    case Syntax::kWhile: blocks.push_back(statement.part(Part::kBody)); break;
    default: break;
  }
  return blocks;
}

/// Whether the loop over this range runs at least once, as far as bare numbers tell.
bool surely_runs(Node range) {
  if (!range.is(Syntax::kCall) || range.part(Part::kFunction).text() != "range") return false;
  std::vector<std::int64_t> bounds;
  for (const Node bound : range.part(Part::kArguments).children()) {
    const auto number = literal_constant(bound);
    if (!number || number->number().is_real) return false;
    bounds.push_back(number->number().integer);
  }
  return (bounds.size() == 1 && bounds[0] > 0) || (bounds.size() == 2 && bounds[0] < bounds[1]);
}

/// One abstract execution of a block. Reports each read of a name that may have no value yet.
class Execution {
 public:
  explicit Execution(std::vector<Node>& unassigned) : unassigned_(unassigned) {}

  void block(Node block, Assigned& assigned) {
    for (const Node statement : block.children())
      this->statement(statement, assigned);
  }

 private:
  void reads(Node expression, const Assigned& assigned) {
    if (!expression) return;
    scratch_.clear();
    collect_reads(expression, scratch_);
    for (const Node name : scratch_) {
      if (!assigned.has(name.text())) unassigned_.push_back(name);
    }
  }

  void target(Node target, Assigned& assigned) {
    if (target.is(Syntax::kIdentifier)) {
      assigned.names.insert(target.text());
    } else if (target.is(Syntax::kPatternList) || target.is(Syntax::kTuplePattern)) {
      for (const Node part : target.children())
        this->target(part, assigned);
    } else {
      reads(target, assigned);
    }
  }

  void assignment(Node node, Assigned& assigned) {
    const Node right = node.part(Part::kRight);
    if (right.is(Syntax::kAssignment)) {
      assignment(right, assigned);
    } else {
      reads(right, assigned);
    }
    target(node.part(Part::kLeft), assigned);
  }

  void statement(Node statement, Assigned& assigned) {
    switch (statement.kind()) {
      case Syntax::kExpressionStatement:
        for (const Node child : statement.children())
          this->statement(child, assigned);
        break;
      case Syntax::kAssignment: assignment(statement, assigned); break;
      case Syntax::kAugmentedAssignment:
        reads(statement.part(Part::kRight), assigned);
        reads(statement.part(Part::kLeft), assigned);
        target(statement.part(Part::kLeft), assigned);
        break;
      case Syntax::kIf: if_statement(statement, assigned); break;
      case Syntax::kFor:
      case Syntax::kWhile: loop(statement, assigned); break;
      case Syntax::kReturn:
        reads(statement, assigned);
        assigned.unreachable = true;
        break;
      case Syntax::kBreak:
        if (!at_break_.empty()) at_break_.back().meet(assigned);
        assigned.unreachable = true;
        break;
      case Syntax::kContinue:
        if (!at_continue_.empty()) at_continue_.back().meet(assigned);
        assigned.unreachable = true;
        break;
      default: reads(statement, assigned); break;
    }
  }

  void if_statement(Node statement, Assigned& assigned) {
    reads(statement.part(Part::kCondition), assigned);
    Assigned joined = assigned;
    block(statement.part(Part::kConsequence), joined);
    bool has_else = false;
    for (const Node child : statement.children()) {
      if (!child.is(Syntax::kElif) && !child.is(Syntax::kElse)) continue;
      has_else = child.is(Syntax::kElse);
      if (!has_else) reads(child.part(Part::kCondition), assigned);
      Assigned arm = assigned;
      block(child.part(has_else ? Part::kBody : Part::kConsequence), arm);
      joined.meet(arm);
    }
    if (!has_else) joined.meet(assigned);
    assigned = std::move(joined);
  }

  void loop(Node statement, Assigned& assigned) {
    const Node condition = statement.part(Part::kCondition);
    reads(statement.is(Syntax::kFor) ? statement.part(Part::kRight) : condition, assigned);
    Assigned body = assigned;
    if (statement.is(Syntax::kFor)) target(statement.part(Part::kLeft), body);
    at_break_.push_back({.names = {}, .unreachable = true});
    at_continue_.push_back({.names = {}, .unreachable = true});
    block(statement.part(Part::kBody), body);
    body.meet(at_continue_.back());
    const Assigned broken = std::move(at_break_.back());
    at_break_.pop_back();
    at_continue_.pop_back();
    if (condition && condition.is(Syntax::kTrue)) {
      assigned = broken;  // the only way out
    } else if (statement.is(Syntax::kFor) && surely_runs(statement.part(Part::kRight))) {
      if (!assigned.has(statement.part(Part::kLeft).text())) body.names.erase(statement.part(Part::kLeft).text());
      body.meet(broken);
      assigned = std::move(body);
    }
  }

  std::vector<Node>& unassigned_;
  std::vector<Node> scratch_;
  std::vector<Assigned> at_break_;     ///< by enclosing loop, what every break so far has assigned
  std::vector<Assigned> at_continue_;  ///< the same of continue
};

/// A block with the names that occur in it.
struct Scope {
  Node block;
  NameSet direct;     ///< in its own statements and in the headers of its compound statements
  NameSet mentioned;  ///< anywhere in it, loop variables inside their loop left out
  NameSet assigned;   ///< given a value anywhere in it
  NameSet exposed;    ///< read before the block itself surely assigns them
  std::vector<Scope> inner;
};

class ScopeBuilder {
 public:
  std::map<std::string_view, int> assignments;
  NameSet loop_variables;

  Scope build(Node block, const NameSet& at_entry) {
    Scope scope{.block = block};
    for (const Node statement : block.children())
      add(statement, scope);
    scope.mentioned.insert(scope.direct.begin(), scope.direct.end());
    std::vector<Node> unassigned;
    Assigned assigned{.names = at_entry};
    Execution(unassigned).block(block, assigned);
    for (const Node name : unassigned)
      scope.exposed.insert(name.text());
    return scope;
  }

 private:
  void mention(Node expression, Scope& scope) {
    if (!expression) return;
    std::vector<Node> reads;
    collect_reads(expression, reads);
    for (const Node name : reads)
      scope.direct.insert(name.text());
  }

  void assign(Node target, Scope& scope) {
    if (target.is(Syntax::kPatternList) || target.is(Syntax::kTuplePattern)) {
      for (const Node part : target.children())
        assign(part, scope);
      return;
    }
    mention(target, scope);
    if (is_adjoint_target(target)) return;
    const std::string_view name = root_name(target).text();
    ++assignments[name];
    scope.assigned.insert(name);
  }

  void add(Node statement, Scope& scope) {
    switch (statement.kind()) {
      case Syntax::kExpressionStatement:
        for (const Node child : statement.children())
          add(child, scope);
        return;
      case Syntax::kAssignment:
      case Syntax::kAugmentedAssignment: {
        const Node right = statement.part(Part::kRight);
        if (right.is(Syntax::kAssignment)) {
          add(right, scope);
        } else {
          mention(right, scope);
        }
        assign(statement.part(Part::kLeft), scope);
        return;
      }
      case Syntax::kIf:
        mention(statement.part(Part::kCondition), scope);
        for (const Node child : statement.children()) {
          if (child.is(Syntax::kElif)) mention(child.part(Part::kCondition), scope);
        }
        break;
      case Syntax::kFor: mention(statement.part(Part::kRight), scope); break;
      case Syntax::kWhile: mention(statement.part(Part::kCondition), scope); break;
      default: mention(statement, scope); return;
    }
    for (const Node block : blocks_of(statement))
      add_block(statement, block, scope);
  }

  void add_block(Node statement, Node block, Scope& scope) {
    NameSet loop_variable;
    if (statement.is(Syntax::kFor)) {
      const std::string_view name = statement.part(Part::kLeft).text();
      loop_variable.insert(name);
      loop_variables.insert(name);
      ++assignments[name];
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

/// Fills in a Dataflow; keeps the walk's types out of the header.
class FlowWalk {
 public:
  explicit FlowWalk(Dataflow& result) : result_(result) {}

  void place(const Scope& scope, const NameSet& names) {
    auto& assigned = result_.assigned_in_[scope.block.id()];
    assigned.assign(scope.assigned.begin(), scope.assigned.end());
    NameSet further_in;
    for (const std::string_view name : names) {
      if (!scope.mentioned.contains(name)) continue;
      const bool exposed = std::any_of(scope.inner.begin(), scope.inner.end(), [&](const Scope& inner) {
        return inner.mentioned.contains(name) && inner.exposed.contains(name);
      });
      if (exposed || scope.direct.contains(name)) {
        result_.declarations_[{scope.block.id(), name}] = true;
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

Dataflow::Dataflow(Node body, const std::vector<std::string_view>& parameters) {
  ScopeBuilder builder;
  const Scope root = builder.build(body, {});
  assignments_ = builder.assignments;

  NameSet drawn;
  collect_drawn(body, drawn);
  for (const std::string_view parameter : parameters) {
    if (drawn.contains(parameter)) ++assignments_[parameter];
  }
  NameSet names;
  for (const auto& [name, count] : assignments_)
    names.insert(name);
  for (const std::string_view parameter : parameters)
    names.erase(parameter);
  FlowWalk(*this).place(root, names);

  std::vector<Node> unassigned;
  Assigned assigned{.names = NameSet(parameters.begin(), parameters.end())};
  Execution(unassigned).block(body, assigned);
  falls_through_ = !assigned.unreachable;
  NameSet reported;
  for (const Node name : unassigned) {
    if (!assignments_.contains(name.text()) || !reported.insert(name.text()).second) continue;
    unassigned_.push_back({.name = name, .after_loop = builder.loop_variables.contains(name.text())});
  }
}

bool Dataflow::declares(Node block, std::string_view name) const { return declarations_.contains({block.id(), name}); }

int Dataflow::assignments(std::string_view name) const {
  const auto found = assignments_.find(name);
  return found == assignments_.end() ? 0 : found->second;
}

bool Dataflow::assigned_in(Node block, std::string_view name) const {
  const auto found = assigned_in_.find(block.id());
  return found != assigned_in_.end() &&
         std::find(found->second.begin(), found->second.end(), name) != found->second.end();
}

}  // namespace assay::frontend
