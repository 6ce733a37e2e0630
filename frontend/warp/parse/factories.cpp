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
//
// One that no such call reaches is read with usual arguments, and the user is told which: only the launching program
// knows the right ones.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "frontend/warp/parse/file_parser.hpp"

namespace assay::frontend {
namespace {

/// Calls in calls; beyond that a factory calls itself.
constexpr int kDeepest = 16;
/// Calls in all: functions that call each other twice would double them with each level.
constexpr int kMostCalls = 4096;

struct Parameter {
  std::string_view name;
  Node annotation;
  Node otherwise;  ///< its default
};

/// Arguments as usual as any, one a line.
constexpr std::string_view kUsualArguments = "True\nFalse\n4\n0.5\nfloat\n";

/// The parameters of a Python function; one without a name is starred or the like.
std::vector<Parameter> parameters_of(Node definition) {
  std::vector<Parameter> parameters;
  for (const Node node : definition.part(Part::kParameters).children()) {
    Node name = node;
    if (node.is(Syntax::kTypedParameter)) name = node.children()[0];
    if (const Node named = node.part(Part::kName)) name = named;
    if (!name.is(Syntax::kIdentifier)) name = {};
    parameters.push_back({name ? name.text() : std::string_view(), node.part(Part::kType), node.part(Part::kValue)});
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

using Names = std::set<std::string_view>;

/// All names in it.
Names names_in(Node node) {
  Names names;
  const auto collect = [&](const auto& self, Node at) -> void {
    if (at.is(Syntax::kIdentifier)) names.insert(at.text());
    for (const Node child : at.children())
      self(self, child);
  };
  collect(collect, node);
  return names;
}

/// The names in it that stand where only a type can: `dtype=name`, `x: name`, `wp.array[name]`.
Names types_in(Node node) {
  Names names;
  const auto take = [&](Node type) {
    if (type.is(Syntax::kIdentifier)) names.insert(type.text());
  };
  const auto collect = [&](const auto& self, Node at) -> void {
    const auto children = at.children();
    if (at.is(Syntax::kKeywordArgument) && at.part(Part::kName).text() == "dtype") take(at.part(Part::kValue));
    if (at.is(Syntax::kType) && children.size() == 1) {
      take(children[0]);
      if (children[0].is(Syntax::kSubscript) && children[0].children().size() == 2) take(children[0].children()[1]);
    }
    for (const Node child : children)
      self(self, child);
  };
  collect(collect, node);
  return names;
}

/// A usual argument for a parameter whose type is known; empty if it is not.
std::string_view usual_argument(const Parameter& parameter, const Names& types) {
  const std::string_view type = parameter.annotation.text();
  if (type == "bool") return "True";
  if (type == "int") return "4";
  if (type == "float") return "0.5";
  return types.contains(parameter.name) ? "float" : "";
}

std::string_view opposite(std::string_view truth) {
  if (truth == "True") return "False";
  return truth == "False" ? "True" : "";
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
    const auto& [name, annotation, otherwise] = parameters[p];
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
  if (home.is_imported || is_repeated(definition)) return;
  factories_.push_back({.definition = definition, .home = &home, .turned_flags = turned_flags_});
  made_.emplace(definition.id(), nullptr);
}

bool FileReader::is_repeated(Node definition) const {
  if (turned_flags_.empty() || !made_.contains(definition.id())) return false;
  const Names names = names_in(definition);
  return std::ranges::none_of(turned_flags_, [&](std::string_view flag) { return names.contains(flag); });
}

void FileReader::collect_uncalled() {
  // Following one may find further ones.
  for (std::size_t i = 0; i < factories_.size(); ++i) {
    if (factories_[i].is_called) continue;
    const Node definition = factories_[i].definition;
    const Node body = definition.part(Part::kBody);
    const Environment& home = *factories_[i].home;
    Environment& inner = environments_.emplace_back(module(), home);
    const std::vector<std::string_view> flags = bind_usual_arguments(definition, false, inner);
    turned_flags_ = factories_[i].turned_flags;
    run_factory(body, inner);
    // Flags inside what flags have changed stay as they are: each level would double what there is to read.
    if (flags.empty() || !turned_flags_.empty() || ++factory_calls_ > kMostCalls) continue;
    Environment& turned = environments_.emplace_back(module(), home);
    turned_flags_ = bind_usual_arguments(definition, true, turned);
    run_factory(body, turned);
  }
  turned_flags_.clear();
}

std::vector<std::string_view> FileReader::bind_usual_arguments(Node definition, bool turn_flags, Environment& inner) {
  if (!usual_arguments_) {
    if (auto parsed = SyntaxTree::parse(std::string(kUsualArguments)); parsed.ok()) usual_arguments_ = parsed.take();
  }
  const auto node_of = [&](std::string_view argument) {
    for (const Node line : usual_arguments_->root().children())
      if (line.text() == argument) return line.children()[0];
    return Node();
  };
  inner.assumed_for = definition.part(Part::kName).text();
  const Names used = names_in(definition.part(Part::kBody));
  const Names types = types_in(definition.part(Part::kBody));
  const ModuleScope& around = inner.outer->scope;
  std::vector<std::string_view> flags;
  for (const Parameter& parameter : parameters_of(definition)) {
    if (parameter.name.empty()) continue;
    std::string_view text = parameter.otherwise.text();
    Node value = parameter.otherwise;
    if (!value || text == "None") {
      text = usual_argument(parameter, types);
      value = node_of(text);
    }
    if (const std::string_view other = opposite(text); !other.empty() && used.contains(parameter.name)) {
      flags.push_back(parameter.name);
      if (turn_flags) value = node_of(text = other);
    }
    if (value && inner.scope.bind(parameter.name, value, around)) {
      inner.assumed.emplace_back(parameter.name, text);
    } else {
      inner.scope.forbid(parameter.name, fmt::format("it is an argument of {}, which is known only when Python runs",
                                                     inner.assumed_for));
    }
  }
  return flags;
}

void FileReader::note_assumptions(FunctionEntry& kernel) {
  if (kernel.state != FunctionEntry::State::kRead || kernel.is_generic) return;
  Names names;
  for (const Environment* at = kernel.home; at != nullptr; at = at->outer) {
    if (at->assumed.empty()) continue;
    if (names.empty()) names = names_in(kernel.definition);
    std::string told;
    for (const auto& [name, value] : at->assumed) {
      if (!names.contains(name) && !names_in_functions(*at).contains(name)) continue;
      told += fmt::format("{}{}={}", told.empty() ? "" : ", ", name, value);
    }
    if (told.empty()) continue;
    kernel.has_assumptions = true;
    kernel.overload.clear();
    report({.severity = Severity::kNote,
            .loc = kernel.definition.loc(),
            .function = kernel.name,
            .construct = "def " + std::string(kernel.definition.part(Part::kName).text()),
            .reason = fmt::format("no call of {} here has known arguments: read for {}", at->assumed_for, told)});
  }
}

const std::set<std::string_view>& FileReader::names_in_functions(const Environment& home) {
  const auto [found, is_new] = names_in_functions_.try_emplace(&home);
  if (!is_new) return found->second;
  for (const auto& [name, entries] : home.functions)
    for (const FunctionEntry* entry : entries)
      if (!entry->is_kernel) found->second.merge(names_in(entry->definition));
  return found->second;
}

}  // namespace assay::frontend
