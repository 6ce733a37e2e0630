// The part of FileReader that follows Python functions which make kernels: what they define is read once for each call
// whose arguments are known here.
//
//     def make(n: int):
//         @wp.kernel
//         def k(x: wp.array(dtype=float)):
//             ...n...
//         return k
//
//     k3 = make(3)
#include <algorithm>

#include <fmt/format.h>

#include "frontend/file_reader.hpp"

namespace assay::frontend {
namespace {

/// Calls in calls; beyond that a factory calls itself.
constexpr int kDeepest = 16;
/// Calls in all: functions that call each other twice would double them with each level.
constexpr int kMostCalls = 4096;

struct Parameter {
  std::string_view name;
  Node otherwise;  ///< its default
};

/// The parameters of a Python function; one without a name is starred or the like.
std::vector<Parameter> parameters_of(Node definition) {
  std::vector<Parameter> parameters;
  for (const Node node : definition.part(Part::kParameters).children()) {
    Node name = node;
    if (node.is(Syntax::kTypedParameter)) name = node.children()[0];
    if (const Node named = node.part(Part::kName)) name = named;
    if (!name.is(Syntax::kIdentifier)) name = {};
    parameters.push_back({name ? name.text() : std::string_view(), node.part(Part::kValue)});
  }
  return parameters;
}

const Node* find_factory(const Environment& home, std::string_view name, const Environment*& where) {
  for (const Environment* at = &home; at != nullptr; at = at->outer) {
    const auto found = at->factories.find(name);
    where = at;
    if (found != at->factories.end()) return &found->second;
    if (at->scope.knows(name)) return nullptr;
  }
  return nullptr;
}

}  // namespace

bool FileReader::call_factory(Node call, std::span<const Node> targets, Environment& home) {
  const Node function = call.part(Part::kFunction);
  if (!function.is(Syntax::kIdentifier) || factory_depth_ >= kDeepest) return false;
  const auto named = [](Node target) { return target.is(Syntax::kIdentifier); };
  if (!std::ranges::all_of(targets, named)) return false;
  const Environment* around = nullptr;
  const Node* definition = find_factory(home, function.text(), around);
  if (definition == nullptr || ++factory_calls_ > kMostCalls) return false;
  Environment& inner = environments_.emplace_back(module(), *around);
  if (!bind_parameters(*definition, call, inner, home)) return false;
  for (Uncalled& factory : factories_) {
    if (factory.definition.id() == definition->id()) factory.is_called = true;
  }
  ++factory_depth_;
  const Node result = run_factory(definition->part(Part::kBody), inner);
  --factory_depth_;
  if (!result) return false;
  const std::span<const Node> values = result.elements({Syntax::kTuple, Syntax::kExpressionList});
  if (values.size() != targets.size()) return false;
  for (std::size_t i = 0; i < targets.size(); ++i)
    bind_result(targets[i].text(), values[i], inner, home);
  return true;
}

bool FileReader::bind_parameters(Node definition, Node call, Environment& inner, const Environment& from) {
  const Arguments arguments = arguments_of(call);
  if (arguments.has_star) return false;
  const std::vector<Parameter> parameters = parameters_of(definition);
  if (arguments.positional.size() > parameters.size()) return false;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const auto& [name, otherwise] = parameters[p];
    if (name.empty()) return false;
    const auto keyword = arguments.keyword.find(name);
    const bool is_given = p < arguments.positional.size() || keyword != arguments.keyword.end();
    const Node value = p < arguments.positional.size()      ? arguments.positional[p]
                       : keyword != arguments.keyword.end() ? keyword->second
                                                            : otherwise;
    if (!value) return false;
    const auto* functions =
        value.is(Syntax::kIdentifier) ? find(is_given ? from : *inner.outer, value.text()) : nullptr;
    if (functions != nullptr) {
      inner.functions.emplace(name, *functions);
    } else if (!inner.scope.bind(name, value, is_given ? from.scope : inner.outer->scope)) {
      inner.scope.forbid(name,
                         fmt::format("it is given as '{}', which is known only when Python runs", describe(value)));
    }
  }
  return true;
}

Node FileReader::run_factory(Node block, Environment& inner) {
  for (const Node statement : block.children()) {
    if (statement.is(Syntax::kReturn)) {
      const auto values = statement.children();
      return values.size() == 1 ? values[0] : Node();
    }
    if (!statement.is(Syntax::kIf)) {
      collect(statement, !statement.has_error(), inner);
      continue;
    }
    const auto test = inner.scope.constant(statement.part(Part::kCondition));
    if (!test || !test->type.is_scalar()) {
      collect(statement, !statement.has_error(), inner);
      continue;
    }
    Node taken = test->number().as_real() != 0 ? statement.part(Part::kConsequence) : Node();
    for (const Node clause : statement.children()) {
      if (taken) break;
      if (clause.is(Syntax::kElse)) taken = clause.part(Part::kBody);
      if (!clause.is(Syntax::kElif)) continue;
      const auto other = inner.scope.constant(clause.part(Part::kCondition));
      if (!other || !other->type.is_scalar()) break;
      if (other->number().as_real() != 0) taken = clause.part(Part::kConsequence);
    }
    if (!taken) continue;
    if (const Node result = run_factory(taken, inner)) return result;
  }
  return {};
}

void FileReader::bind_result(std::string_view target, Node value, const Environment& inner, Environment& home) {
  const auto* made = value.is(Syntax::kIdentifier) ? find(inner, value.text()) : nullptr;
  if (made == nullptr) {
    if (!home.scope.bind(target, value, inner.scope)) {
      home.scope.forbid(target, fmt::format("its value '{}' is known only when Python runs", describe(value)));
    }
    return;
  }
  for (FunctionEntry* entry : *made) {
    if (entry->is_kernel && entry->home == &inner) entry->name = target;
  }
  home.functions.insert_or_assign(std::string(target), *made);
}

void FileReader::add_uncalled(Node definition, Environment& home) {
  if (!home.is_imported) factories_.push_back({.definition = definition, .home = &home});
}

void FileReader::collect_uncalled() {
  // Following one may find further ones.
  for (std::size_t i = 0; i < factories_.size(); ++i) {
    if (factories_[i].is_called) continue;
    const Node definition = factories_[i].definition;
    Environment& inner = environments_.emplace_back(module(), *factories_[i].home);
    for (const Parameter& parameter : parameters_of(definition)) {
      if (parameter.name.empty()) continue;
      inner.scope.forbid(parameter.name, fmt::format("it is an argument of {}, which is known only when Python runs",
                                                     definition.part(Part::kName).text()));
    }
    run_factory(definition.part(Part::kBody), inner);
  }
}

}  // namespace assay::frontend
