// The part of WarpFileParser that instantiates functions and kernels for each specification of their arguments.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "frontend/warp/parse/file_parser.hpp"

namespace assay::frontend {
namespace {

/// The maximum number of instances of a function. Beyond it, the function probably calls itself with new types.
constexpr std::size_t kMostInstances = 64;

/// The types of the generic parameters, joined, such as "float32": part of a kernel's name.
std::string suffix(const std::vector<ArgumentSpec>& given, std::span<const SyntaxNode> annotations) {
  std::string text;
  for (std::size_t p = 0; p < given.size(); ++p) {
    if (!is_generic(annotations[p])) continue;
    const ir::Type type = given[p].type.element();
    text += fmt::format("_{}", ir::row(type.scalar).warp_name);
    if (!type.is_scalar()) text += fmt::format("x{}", type.components());
  }
  return text;
}

}  // namespace

std::vector<SyntaxNode> WarpFileParser::annotations_of(const SourceFunction& entry) const {
  std::vector<SyntaxNode> annotations;
  for (const SyntaxNode parameter : entry.definition.part(SyntaxField::kParameters).children())
    annotations.push_back(parameter.part(SyntaxField::kType));
  return annotations;
}

SourceFunction* WarpFileParser::instance(SourceFunction& entry, std::vector<ArgumentSpec> given) {
  const auto made = std::ranges::find(entry.generic_instances, given, &SourceFunction::argument_specs);
  if (made != entry.generic_instances.end()) return *made;
  if (entry.generic_instances.size() >= kMostInstances) return nullptr;
  SourceFunction& instance = generic_instances_.emplace_back(entry);
  instance.generic_instances.clear();
  instance.argument_specs = std::move(given);
  instance.is_generic = false;
  instance.is_referenced = true;
  instance.parse_state = SourceFunction::State::kUnparsed;
  const bool takes_functions = std::ranges::any_of(
      instance.argument_specs, [](const ArgumentSpec& each) { return each.kind == ArgumentSpec::Kind::kFunction; });
  if (takes_functions) {
    Environment& inner = environments_.emplace_back(module(), *entry.environment);
    for (std::size_t p = 0; p < instance.argument_specs.size(); ++p) {
      const ArgumentSpec& each = instance.argument_specs[p];
      if (each.kind != ArgumentSpec::Kind::kFunction) continue;
      if (each.functions.empty()) inner.scope.bind_warp(entry.parameter_names[p], each.warp_function_name);
      else inner.functions.emplace(entry.parameter_names[p], each.functions);
    }
    instance.environment = &inner;
  }
  entry.generic_instances.push_back(&instance);
  if (!entry.is_kernel) {
    parse_entry(instance);
    if (instance.parse_state == SourceFunction::State::kParsed && entry.parse_state == SourceFunction::State::kUnparsed)
      entry.parse_state = SourceFunction::State::kParsed;
    entry.has_side_effects = entry.has_side_effects || instance.has_side_effects;
  }
  return &instance;
}

void WarpFileParser::add_overload(SourceFunction& kernel, std::vector<ArgumentSpec> given, std::string name) {
  const std::vector<SyntaxNode> annotations = annotations_of(kernel);
  for (std::size_t p = 0; p < given.size(); ++p) {
    if (accepts(kernel.environment->scope, annotations[p], given[p])) continue;
    report({.loc = kernel.definition.loc(),
            .function = kernel.name,
            .construct_excerpt = "def " + kernel.name,
            .reason = fmt::format("wp.overload specifies a type that parameter '{}' does not accept",
                                  kernel.parameter_names[p])});
    return;
  }
  if (name.empty()) name = kernel.name + suffix(given, annotations);
  if (SourceFunction* made = instance(kernel, std::move(given))) made->name = std::move(name);
}

bool WarpFileParser::collect_overload(SyntaxNode call, std::string_view target, Environment& home) {
  if (home.scope.warp_name(call.part(SyntaxField::kFunction)) != "overload") return false;
  const CallArguments arguments = arguments_of(call);
  const auto& given = arguments.positional_arguments;
  if (given.size() != 2 || !given[0].is(SyntaxKind::kIdentifier)) return false;
  const auto* kernels = find(home, given[0].text());
  if (kernels == nullptr || kernels->empty() || !kernels->front()->is_kernel) return false;
  SourceFunction& kernel = *kernels->front();
  const std::vector<SyntaxNode> annotations = annotations_of(kernel);
  const std::span<const SyntaxNode> listed = given[1].children();
  const bool by_name = given[1].grammar_name() == "dictionary";
  std::vector<ArgumentSpec> types;
  for (std::size_t p = 0; p < annotations.size(); ++p) {
    SyntaxNode type = annotations[p];
    if (!by_name && p < listed.size()) type = listed[p];
    for (const SyntaxNode pair : by_name ? listed : std::span<const SyntaxNode>()) {
      const auto parts = pair.children();
      if (parts.size() != 2) return false;
      const std::string_view key = parts[0].text();
      if (key.size() > 2 && key.substr(1, key.size() - 2) == kernel.parameter_names[p]) type = parts[1];
    }
    const auto known = type ? home.scope.type(type) : Result<ir::Type>(Error{"no type"});
    if (!known.ok()) return false;
    types.push_back(whole_argument(module(), *known));
  }
  if (!by_name && listed.size() != annotations.size()) return false;
  add_overload(kernel, std::move(types), std::string(target));
  if (!target.empty()) home.functions.insert_or_assign(std::string(target), std::vector{&kernel});
  return true;
}

void WarpFileParser::collect_overload_stub(SyntaxNode definition, Environment& home) {
  const auto* kernels = find(home, definition.part(SyntaxField::kName).text());
  if (kernels == nullptr || kernels->empty() || !kernels->front()->is_kernel) return;
  SourceFunction& kernel = *kernels->front();
  std::vector<ArgumentSpec> types;
  for (const SyntaxNode parameter : definition.part(SyntaxField::kParameters).children()) {
    const auto known = home.scope.type(parameter.part(SyntaxField::kType));
    if (!known.ok()) return;
    types.push_back(whole_argument(module(), *known));
  }
  if (types.size() == kernel.parameter_names.size()) add_overload(kernel, std::move(types), {});
}

}  // namespace assay::frontend
