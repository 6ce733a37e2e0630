// The part of WarpFileParser that evaluates kernel factories, Python functions that define kernels: their definitions
// are parsed once for each call with constant arguments.
//
//     def make(n: int):
//         @wp.kernel
//         def k(x: wp.array(dtype=float)):
//             ...n...
//         return k
//
//     k3 = make(3)
//
// A factory without such a call is instantiated with default arguments, which are reported in a note: only the
// launching program knows the actual ones.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "frontend/warp/parse/file_parser.hpp"

namespace assay::frontend {
namespace {

/// Nested calls; beyond this limit a factory is assumed to call itself.
constexpr int kMaxDepth = 16;
/// Calls in total: functions that call each other twice would double the number with each level.
constexpr int kMostCalls = 4096;

struct FactoryParameter {
  std::string_view name;
  SyntaxNode annotation;
  SyntaxNode otherwise;  ///< its default
};

/// Typical arguments, one per line.
constexpr std::string_view kUsualArguments = "True\nFalse\n4\n0.5\nfloat\n";

/// The parameters of a Python function; a parameter without a name is starred or similar.
std::vector<FactoryParameter> parameters_of(SyntaxNode definition) {
  std::vector<FactoryParameter> parameters;
  for (const SyntaxNode node : definition.part(SyntaxField::kParameters).children()) {
    SyntaxNode name = node;
    if (node.is(SyntaxKind::kTypedParameter)) name = node.children()[0];
    if (const SyntaxNode named = node.part(SyntaxField::kName)) name = named;
    if (!name.is(SyntaxKind::kIdentifier)) name = {};
    parameters.push_back(
        {name ? name.text() : std::string_view(), node.part(SyntaxField::kType), node.part(SyntaxField::kValue)});
  }
  return parameters;
}

const SyntaxNode* find_factory(const Environment& home, std::string_view name, const Environment*& where) {
  for (const Environment* at = &home; at != nullptr; at = at->enclosing_environment) {
    const auto found = at->kernel_factories.find(name);
    where = at;
    if (found != at->kernel_factories.end()) return &found->second;
    if (at->scope.knows(name)) return nullptr;
  }
  return nullptr;
}

using Names = std::set<std::string_view>;

/// All names in it.
Names names_in(SyntaxNode node) {
  Names names;
  const auto collect = [&](const auto& self, SyntaxNode at) -> void {
    if (at.is(SyntaxKind::kIdentifier)) names.insert(at.text());
    for (const SyntaxNode child : at.children())
      self(self, child);
  };
  collect(collect, node);
  return names;
}

/// The names in type positions: `dtype=name`, `x: name`, `wp.array[name]`.
Names types_in(SyntaxNode node) {
  Names names;
  const auto take = [&](SyntaxNode type) {
    if (type.is(SyntaxKind::kIdentifier)) names.insert(type.text());
  };
  const auto collect = [&](const auto& self, SyntaxNode at) -> void {
    const auto children = at.children();
    if (at.is(SyntaxKind::kKeywordArgument) && at.part(SyntaxField::kName).text() == "dtype")
      take(at.part(SyntaxField::kValue));
    if (at.is(SyntaxKind::kType) && children.size() == 1) {
      take(children[0]);
      if (children[0].is(SyntaxKind::kSubscript) && children[0].children().size() == 2) take(children[0].children()[1]);
    }
    for (const SyntaxNode child : children)
      self(self, child);
  };
  collect(collect, node);
  return names;
}

/// A typical argument for a parameter whose type is known; empty otherwise.
std::string_view usual_argument(const FactoryParameter& parameter, const Names& types) {
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

bool WarpFileParser::call_factory(SyntaxNode call, std::span<const SyntaxNode> targets, Environment& home) {
  const SyntaxNode function = call.part(SyntaxField::kFunction);
  if (!function.is(SyntaxKind::kIdentifier) || factory_depth_ >= kMaxDepth) return false;
  const auto named = [](SyntaxNode target) { return target.is(SyntaxKind::kIdentifier); };
  if (!std::ranges::all_of(targets, named)) return false;
  const Environment* around = nullptr;
  const SyntaxNode* definition = find_factory(home, function.text(), around);
  if (definition == nullptr || ++factory_call_count_ > kMostCalls) return false;
  Environment& inner = environments_.emplace_back(module(), *around);
  mark_rebound_names(definition->part(SyntaxField::kBody), inner);
  if (!bind_parameters(*definition, call, inner, home)) return false;
  for (UncalledFactory& factory : uncalled_factories_) {
    if (factory.definition.id() == definition->id()) factory.is_called = true;
  }
  ++factory_depth_;
  const SyntaxNode result = run_factory(definition->part(SyntaxField::kBody), inner);
  --factory_depth_;
  if (!result) return false;
  const std::span<const SyntaxNode> values = result.elements({SyntaxKind::kTuple, SyntaxKind::kExpressionList});
  if (values.size() != targets.size()) return false;
  for (std::size_t i = 0; i < targets.size(); ++i)
    bind_result(targets[i].text(), values[i], inner, home);
  return true;
}

bool WarpFileParser::bind_parameters(SyntaxNode definition, SyntaxNode call, Environment& inner,
                                     const Environment& from) {
  const CallArguments arguments = arguments_of(call);
  if (arguments.has_star_argument) return false;
  const std::vector<FactoryParameter> parameters = parameters_of(definition);
  if (arguments.positional_arguments.size() > parameters.size()) return false;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const auto& [name, annotation, otherwise] = parameters[p];
    if (name.empty()) return false;
    const auto keyword = arguments.keyword_arguments.find(name);
    const bool is_given = p < arguments.positional_arguments.size() || keyword != arguments.keyword_arguments.end();
    const SyntaxNode value = p < arguments.positional_arguments.size()      ? arguments.positional_arguments[p]
                             : keyword != arguments.keyword_arguments.end() ? keyword->second
                                                                            : otherwise;
    if (!value) return false;
    const auto* functions = named_functions(is_given ? from : *inner.enclosing_environment, value);
    if (functions != nullptr) {
      inner.functions.emplace(name, *functions);
    } else if (!inner.scope.bind(name, value, is_given ? from.scope : inner.enclosing_environment->scope)) {
      inner.scope.mark_unknown(name, fmt::format("the argument '{}' is known only when Python runs", describe(value)));
    }
  }
  return true;
}

SyntaxNode WarpFileParser::run_factory(SyntaxNode block, Environment& inner) {
  for (const SyntaxNode statement : block.children()) {
    if (statement.is(SyntaxKind::kReturn)) {
      const auto values = statement.children();
      return values.size() == 1 ? values[0] : SyntaxNode();
    }
    if (!statement.is(SyntaxKind::kIf)) {
      collect(statement, !statement.has_error(), inner);
      continue;
    }
    const auto test = inner.scope.constant(statement.part(SyntaxField::kCondition));
    if (!test || !test->type.is_scalar()) {
      collect(statement, !statement.has_error(), inner);
      continue;
    }
    SyntaxNode taken = test->number().as_real() != 0 ? statement.part(SyntaxField::kConsequence) : SyntaxNode();
    for (const SyntaxNode clause : statement.children()) {
      if (taken) break;
      if (clause.is(SyntaxKind::kElse)) taken = clause.part(SyntaxField::kBody);
      if (!clause.is(SyntaxKind::kElif)) continue;
      const auto other = inner.scope.constant(clause.part(SyntaxField::kCondition));
      if (!other || !other->type.is_scalar()) break;
      if (other->number().as_real() != 0) taken = clause.part(SyntaxField::kConsequence);
    }
    if (!taken) continue;
    if (const SyntaxNode result = run_factory(taken, inner)) return result;
  }
  return {};
}

void WarpFileParser::bind_result(std::string_view target, SyntaxNode value, const Environment& inner,
                                 Environment& home) {
  const auto* made = named_functions(inner, value);
  if (made == nullptr) {
    forget_functions(target, home);
    if (!home.scope.bind(target, value, inner.scope)) {
      home.scope.mark_unknown(target, fmt::format("the value '{}' is known only when Python runs", describe(value)));
    }
    return;
  }
  for (SourceFunction* entry : *made) {
    if (entry->is_kernel && entry->environment == &inner) entry->name = target;
  }
  home.functions.insert_or_assign(std::string(target), *made);
}

void WarpFileParser::add_uncalled(SyntaxNode definition, Environment& home) {
  if (home.is_imported || is_repeated(definition)) return;
  uncalled_factories_.push_back(
      {.definition = definition, .environment = &home, .inverted_bool_parameters = inverted_bool_parameters_});
  first_function_by_definition_.emplace(definition.id(), nullptr);
}

bool WarpFileParser::is_repeated(SyntaxNode definition) const {
  if (inverted_bool_parameters_.empty() || !first_function_by_definition_.contains(definition.id())) return false;
  const Names names = names_in(definition);
  return std::ranges::none_of(inverted_bool_parameters_, [&](std::string_view flag) { return names.contains(flag); });
}

void WarpFileParser::collect_uncalled() {
  // Evaluating a factory may find further ones.
  for (std::size_t i = 0; i < uncalled_factories_.size(); ++i) {
    if (uncalled_factories_[i].is_called) continue;
    const SyntaxNode definition = uncalled_factories_[i].definition;
    const SyntaxNode body = definition.part(SyntaxField::kBody);
    const Environment& home = *uncalled_factories_[i].environment;
    Environment& inner = environments_.emplace_back(module(), home);
    mark_rebound_names(body, inner);
    const std::vector<std::string_view> flags = bind_assumed_arguments(definition, false, inner);
    inverted_bool_parameters_ = uncalled_factories_[i].inverted_bool_parameters;
    run_factory(body, inner);
    // Flags inside definitions that depend on inverted flags are not inverted: each level would double the work.
    if (flags.empty() || !inverted_bool_parameters_.empty() || ++factory_call_count_ > kMostCalls) continue;
    Environment& turned = environments_.emplace_back(module(), home);
    mark_rebound_names(body, turned);
    inverted_bool_parameters_ = bind_assumed_arguments(definition, true, turned);
    run_factory(body, turned);
  }
  inverted_bool_parameters_.clear();
}

std::vector<std::string_view> WarpFileParser::bind_assumed_arguments(SyntaxNode definition, bool invert_flags,
                                                                     Environment& inner) {
  if (!assumed_arguments_tree_) {
    if (auto parsed = SyntaxTree::parse(std::string(kUsualArguments)); parsed.ok())
      assumed_arguments_tree_ = parsed.take();
  }
  const auto node_of = [&](std::string_view argument) {
    for (const SyntaxNode line : assumed_arguments_tree_->root().children())
      if (line.text() == argument) return line.children()[0];
    return SyntaxNode();
  };
  inner.uncalled_factory_name = definition.part(SyntaxField::kName).text();
  const Names used = names_in(definition.part(SyntaxField::kBody));
  const Names types = types_in(definition.part(SyntaxField::kBody));
  const ModuleScope& around = inner.enclosing_environment->scope;
  std::vector<std::string_view> flags;
  for (const FactoryParameter& parameter : parameters_of(definition)) {
    if (parameter.name.empty()) continue;
    std::string_view text = parameter.otherwise.text();
    SyntaxNode value = parameter.otherwise;
    if (!value || text == "None") {
      text = usual_argument(parameter, types);
      value = node_of(text);
    }
    if (const std::string_view other = opposite(text); !other.empty() && used.contains(parameter.name)) {
      flags.push_back(parameter.name);
      if (invert_flags) value = node_of(text = other);
    }
    if (value && inner.scope.bind(parameter.name, value, around)) {
      inner.assumed_arguments.emplace_back(parameter.name, text);
    } else {
      inner.scope.mark_unknown(
          parameter.name,
          fmt::format("the value of this parameter of {} is known only when Python runs", inner.uncalled_factory_name));
    }
  }
  return flags;
}

void WarpFileParser::note_assumptions(SourceFunction& kernel) {
  if (kernel.parse_state != SourceFunction::State::kParsed || kernel.is_generic) return;
  Names names;
  for (const Environment* at = kernel.environment; at != nullptr; at = at->enclosing_environment) {
    if (at->assumed_arguments.empty()) continue;
    if (names.empty()) names = names_in(kernel.definition);
    std::string assumptions;
    for (const auto& [name, value] : at->assumed_arguments) {
      if (!names.contains(name) && !names_in_functions(*at).contains(name)) continue;
      assumptions += fmt::format("{}{}={}", assumptions.empty() ? "" : ", ", name, value);
    }
    if (assumptions.empty()) continue;
    kernel.has_assumptions = true;
    kernel.suggested_overload.clear();
    report({.severity = Severity::kNote,
            .loc = kernel.definition.loc(),
            .function = kernel.name,
            .construct_excerpt = "def " + std::string(kernel.definition.part(SyntaxField::kName).text()),
            .reason = fmt::format("no call of the function {} has constant arguments; assuming {}",
                                  at->uncalled_factory_name, assumptions)});
  }
}

const std::set<std::string_view>& WarpFileParser::names_in_functions(const Environment& home) {
  const auto [found, is_new] = function_names_by_environment_.try_emplace(&home);
  if (!is_new) return found->second;
  for (const auto& [name, entries] : home.functions)
    for (const SourceFunction* entry : entries)
      if (!entry->is_kernel) found->second.merge(names_in(entry->definition));
  return found->second;
}

}  // namespace assay::frontend
