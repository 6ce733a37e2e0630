// The part of FileReader that reads functions and kernels once for each way of calling them.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "frontend/warp/parse/file_parser.hpp"

namespace assay::frontend {
namespace {

/// Ways of calling one function. Beyond that it probably calls itself with ever new types.
constexpr std::size_t kMostInstances = 64;

/// "float32" and so on of what is generic in it, joined: part of a kernel's name.
std::string suffix(const std::vector<Given>& given, std::span<const Node> annotations) {
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

std::vector<Node> FileReader::annotations_of(const FunctionEntry& entry) const {
  std::vector<Node> annotations;
  for (const Node parameter : entry.definition.part(Part::kParameters).children())
    annotations.push_back(parameter.part(Part::kType));
  return annotations;
}

FunctionEntry* FileReader::instance(FunctionEntry& entry, std::vector<Given> given) {
  const auto made = std::ranges::find(entry.instances, given, &FunctionEntry::given);
  if (made != entry.instances.end()) return *made;
  if (entry.instances.size() >= kMostInstances) return nullptr;
  FunctionEntry& instance = instances_.emplace_back(entry);
  instance.instances.clear();
  instance.given = std::move(given);
  instance.is_generic = false;
  instance.is_wanted = true;
  instance.state = FunctionEntry::State::kUnread;
  const bool takes_functions =
      std::ranges::any_of(instance.given, [](const Given& each) { return each.kind == Given::Kind::kFunction; });
  if (takes_functions) {
    Environment& inner = environments_.emplace_back(module(), *entry.home);
    for (std::size_t p = 0; p < instance.given.size(); ++p) {
      const Given& each = instance.given[p];
      if (each.kind != Given::Kind::kFunction) continue;
      if (each.functions.empty()) inner.scope.bind_warp(entry.parameters[p], each.warp_function);
      else inner.functions.emplace(entry.parameters[p], each.functions);
    }
    instance.home = &inner;
  }
  entry.instances.push_back(&instance);
  if (!entry.is_kernel) {
    read_entry(instance);
    if (instance.state == FunctionEntry::State::kRead && entry.state == FunctionEntry::State::kUnread)
      entry.state = FunctionEntry::State::kRead;
    entry.has_effects = entry.has_effects || instance.has_effects;
  }
  return &instance;
}

void FileReader::add_overload(FunctionEntry& kernel, std::vector<Given> given, std::string name) {
  const std::vector<Node> annotations = annotations_of(kernel);
  for (std::size_t p = 0; p < given.size(); ++p) {
    if (admits(kernel.home->scope, annotations[p], given[p])) continue;
    report({.loc = kernel.definition.loc(),
            .function = kernel.name,
            .construct = "def " + kernel.name,
            .reason = fmt::format("an overload gives a type that parameter '{}' does not take", kernel.parameters[p])});
    return;
  }
  if (name.empty()) name = kernel.name + suffix(given, annotations);
  if (FunctionEntry* made = instance(kernel, std::move(given))) made->name = std::move(name);
}

bool FileReader::collect_overload(Node call, std::string_view target, Environment& home) {
  if (home.scope.warp_name(call.part(Part::kFunction)) != "overload") return false;
  const Arguments arguments = arguments_of(call);
  const auto& given = arguments.positional;
  if (given.size() != 2 || !given[0].is(Syntax::kIdentifier)) return false;
  const auto* kernels = find(home, given[0].text());
  if (kernels == nullptr || kernels->empty() || !kernels->front()->is_kernel) return false;
  FunctionEntry& kernel = *kernels->front();
  const std::vector<Node> annotations = annotations_of(kernel);
  const std::span<const Node> listed = given[1].children();
  const bool by_name = given[1].grammar_name() == "dictionary";
  std::vector<Given> types;
  for (std::size_t p = 0; p < annotations.size(); ++p) {
    Node type = annotations[p];
    if (!by_name && p < listed.size()) type = listed[p];
    for (const Node pair : by_name ? listed : std::span<const Node>()) {
      const auto parts = pair.children();
      if (parts.size() != 2) return false;
      const std::string_view key = parts[0].text();
      if (key.size() > 2 && key.substr(1, key.size() - 2) == kernel.parameters[p]) type = parts[1];
    }
    const auto known = type ? home.scope.type(type) : Result<ir::Type>(Error{"no type"});
    if (!known.ok()) return false;
    types.push_back(given_whole(module(), *known));
  }
  if (!by_name && listed.size() != annotations.size()) return false;
  add_overload(kernel, std::move(types), std::string(target));
  if (!target.empty()) home.functions.insert_or_assign(std::string(target), std::vector{&kernel});
  return true;
}

void FileReader::collect_overload_stub(Node definition, Environment& home) {
  const auto* kernels = find(home, definition.part(Part::kName).text());
  if (kernels == nullptr || kernels->empty() || !kernels->front()->is_kernel) return;
  FunctionEntry& kernel = *kernels->front();
  std::vector<Given> types;
  for (const Node parameter : definition.part(Part::kParameters).children()) {
    const auto known = home.scope.type(parameter.part(Part::kType));
    if (!known.ok()) return;
    types.push_back(given_whole(module(), *known));
  }
  if (types.size() == kernel.parameters.size()) add_overload(kernel, std::move(types), {});
}

}  // namespace assay::frontend
