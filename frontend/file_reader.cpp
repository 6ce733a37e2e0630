#include "frontend/file_reader.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "ir/verifier.hpp"

namespace assay::frontend {
namespace {

/// "launch: (n, m)" and "domain: ..." of the comment lines right above the line, from top to bottom.
std::vector<std::string> annotations_above(const std::vector<std::string>& lines, int line) {
  std::vector<std::string> found;
  for (int above = line - 2; above >= 0; --above) {
    std::string_view text = lines[static_cast<std::size_t>(above)];
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    if (!text.starts_with('#')) break;
    text.remove_prefix(std::min(text.find_first_not_of("# \t"), text.size()));
    text = text.substr(0, text.find_last_not_of(" \t") + 1);
    if (text.starts_with("launch:") || text.starts_with("domain:")) found.insert(found.begin(), std::string(text));
  }
  return found;
}

Node definition_of(Node decorated) {
  return decorated.is(Syntax::kDecoratedDefinition) ? decorated.part(Part::kDefinition) : decorated;
}

std::vector<std::string> parameter_names(Node definition) {
  std::vector<std::string> names;
  for (const Node parameter : definition.part(Part::kParameters).children()) {
    Node name = parameter;
    if (parameter.is(Syntax::kTypedParameter)) name = parameter.children()[0];
    if (const Node named = parameter.part(Part::kName)) name = named;
    if (name.is(Syntax::kIdentifier)) names.emplace_back(name.text());
  }
  return names;
}

}  // namespace

void FileReader::report(Diagnostic diagnostic) {
  diagnostic.file = result_.module.source_name;
  result_.diagnostics.push_back(std::move(diagnostic));
}

Result<void> FileReader::read() {
  const std::vector<Node> statements = tree_.root().children();
  const Node broken = first_error(tree_.root());
  bool is_sound = true;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    // The parser's recovery may have cut a definition short and left the rest as an error behind it.
    is_sound = !statements[i].has_error() && !(i + 1 < statements.size() && statements[i + 1].has_error());
    if (const Node error = first_error(statements[i])) {
      report({.loc = error.loc(), .construct = describe(error), .reason = "syntax error"});
    }
    collect(statements[i], is_sound && !tree_.root().is(Syntax::kError));
  }
  const bool any_left =
      std::any_of(entries_.begin(), entries_.end(), [](const FunctionEntry& entry) { return entry.refusal.empty(); });
  if (broken && !any_left) {
    const ir::Loc loc = broken.loc();
    return Error{fmt::format("syntax error at {}, and no definition without one", describe(broken)),
                 fmt::format("{}:{}", loc.line, loc.column)};
  }
  for (FunctionEntry& entry : entries_) {
    if (!entry.is_kernel) read_entry(entry);
  }
  for (FunctionEntry& entry : entries_) {
    if (entry.is_kernel) read_entry(entry);
  }
  drop_invalid_kernels();
  soften_unwanted();
  declare_all();
  std::stable_sort(result_.diagnostics.begin(), result_.diagnostics.end(),
                   [](const Diagnostic& a, const Diagnostic& b) {
                     return std::pair(a.loc.line, a.loc.column) < std::pair(b.loc.line, b.loc.column);
                   });
  return {};
}

void FileReader::collect(Node statement, bool is_sound) {
  switch (statement.kind()) {
    case Syntax::kImport:
    case Syntax::kImportFrom: scope_.add_import(statement); return;
    case Syntax::kDecoratedDefinition: collect_decorated(statement, is_sound); return;
    case Syntax::kFunctionDefinition:
      scope_.forbid(statement.part(Part::kName).text(), "it is a Python function, not decorated with @wp.func");
      collect_unread(statement.part(Part::kBody), "inside a function");
      return;
    case Syntax::kClassDefinition:
      scope_.forbid(statement.part(Part::kName).text(), "it is a Python class, not decorated with @wp.struct");
      collect_unread(statement.part(Part::kBody), "inside a class");
      return;
    case Syntax::kExpressionStatement:
      for (const Node part : statement.children()) {
        if (part.is(Syntax::kAssignment) || part.is(Syntax::kAugmentedAssignment)) scope_.add_assignment(part);
      }
      return;
    default: collect_unread(statement, "inside a compound statement"); return;
  }
}

std::string FileReader::warp_decorator(Node decorated) const {
  for (const Node child : decorated.children()) {
    if (!child.is(Syntax::kDecorator)) continue;
    const auto parts = child.children();
    if (parts.size() != 1) continue;
    const std::string name = scope_.warp_name(parts[0].is(Syntax::kCall) ? parts[0].part(Part::kFunction) : parts[0]);
    if (!name.empty()) return name;
  }
  return {};
}

FunctionEntry& FileReader::add_entry(Node decorated, bool is_kernel) {
  const Node definition = definition_of(decorated);
  FunctionEntry& entry = entries_.emplace_back();
  entry.definition = definition;
  entry.first_line = decorated.loc().line;
  entry.name = definition.part(Part::kName).text();
  entry.is_kernel = is_kernel;
  entry.parameters = parameter_names(definition);
  return entry;
}

void FileReader::refuse(FunctionEntry& entry, std::string reason) {
  if (!entry.refusal.empty()) return;
  entry.refusal = std::move(reason);
  entry.state = FunctionEntry::State::kFailed;
  report({.loc = entry.definition.loc(),
          .function = entry.name,
          .construct = "def " + entry.name,
          .reason = entry.refusal});
}

void FileReader::collect_decorated(Node decorated, bool is_sound) {
  const Node definition = definition_of(decorated);
  const std::string_view name = definition.part(Part::kName).text();
  const std::string decorator = warp_decorator(decorated);
  if (decorator == "struct" && definition.is(Syntax::kClassDefinition)) {
    auto added = is_sound ? scope_.add_struct(definition) : Result<void>(Error{"the file has a syntax error here"});
    if (added.ok()) return;
    scope_.forbid(name, fmt::format("struct {} could not be read: {}", name, added.error().message));
    report({.loc = definition.loc(), .construct = fmt::format("class {}", name), .reason = added.error().message});
    return;
  }
  const bool is_kernel = decorator == "kernel";
  if (!definition.is(Syntax::kFunctionDefinition) || (!is_kernel && decorator != "func")) {
    scope_.forbid(name, decorator.empty() ? "it is decorated by something that only Python can run"
                                          : fmt::format("the reader does not know @wp.{}", decorator));
    collect_unread(definition.part(Part::kBody), "inside a decorated definition");
    return;
  }
  FunctionEntry& entry = add_entry(decorated, is_kernel);
  auto& same_name = by_name_[definition.part(Part::kName).text()];
  for (FunctionEntry* earlier : same_name) {
    if (is_kernel || earlier->is_kernel)
      refuse(*earlier, fmt::format("is defined again in line {}", entry.definition.loc().line));
  }
  std::erase_if(same_name, [](const FunctionEntry* earlier) { return !earlier->refusal.empty(); });
  same_name.push_back(&entry);
  const auto parts = decorated.children();
  const auto decorators =
      std::count_if(parts.begin(), parts.end(), [](Node part) { return part.is(Syntax::kDecorator); });
  if (!is_sound) refuse(entry, "the file has a syntax error here or right behind");
  if (decorators > 1) refuse(entry, "another decorator changes it when Python runs");
  collect_unread(definition.part(Part::kBody), "inside a kernel or function");
}

void FileReader::collect_unread(Node node, std::string_view where) {
  switch (node.kind()) {
    case Syntax::kImport:
    case Syntax::kImportFrom:
      if (where == "inside a compound statement") scope_.add_import(node);
      return;
    case Syntax::kAssignment:
    case Syntax::kAugmentedAssignment:
      if (where == "inside a compound statement" && node.part(Part::kLeft).is(Syntax::kIdentifier)) {
        scope_.forbid(node.part(Part::kLeft).text(), "it is assigned under a condition, which only Python can decide");
      }
      return;
    case Syntax::kDecoratedDefinition: {
      const std::string decorator = warp_decorator(node);
      if ((decorator == "kernel" || decorator == "func") && definition_of(node).is(Syntax::kFunctionDefinition)) {
        FunctionEntry& entry = add_entry(node, decorator == "kernel");
        refuse(entry, fmt::format("stands {}, so that what it uses is known only when Python runs", where));
      }
      break;
    }
    case Syntax::kCall: return;
    default: break;
  }
  for (const Node child : node.children())
    collect_unread(child, where);
}

std::vector<FunctionEntry*> FileReader::functions(std::string_view name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return {};
  for (FunctionEntry* entry : found->second) {
    entry->is_wanted = true;
    if (!entry->is_kernel) read_entry(*entry);
  }
  return found->second;
}

void FileReader::read_entry(FunctionEntry& entry) {
  if (entry.state != FunctionEntry::State::kUnread) return;
  entry.state = FunctionEntry::State::kReading;
  read_function(*this, entry);
  if (entry.is_kernel && entry.state == FunctionEntry::State::kRead) {
    result_.module.kernels.back().annotations = annotations_above(result_.module.source_lines, entry.first_line);
  }
}

/// What the reader lets through and the verifier does not, such as limits on size, costs only the kernel that has it.
void FileReader::drop_invalid_kernels() {
  ir::Module& module = result_.module;
  if (ir::verify(module).empty()) return;
  std::vector<ir::Function> all = std::exchange(module.kernels, {});
  std::vector<ir::Function> valid;
  for (ir::Function& kernel : all) {
    module.kernels = {kernel};
    const auto complaints = ir::verify(module);
    if (complaints.empty()) {
      valid.push_back(std::move(kernel));
      continue;
    }
    const ir::Complaint& first = complaints.front();
    const std::string_view label = ir::row(first.rule).label;
    report({.loc = first.loc, .function = kernel.name, .construct = std::string(label), .reason = first.message});
    for (FunctionEntry& entry : entries_) {
      if (entry.is_kernel && entry.name == kernel.name) entry.state = FunctionEntry::State::kFailed;
    }
  }
  module.kernels = std::move(valid);
  // Functions that are invalid by themselves have spoilt every kernel.
  const auto complaints = ir::verify(module);
  if (complaints.empty()) return;
  module.functions.clear();
  for (FunctionEntry& entry : entries_)
    entry.state = FunctionEntry::State::kFailed;
  if (!all.empty()) return;
  const ir::Complaint& first = complaints.front();
  report({.loc = first.loc, .construct = std::string(ir::row(first.rule).label), .reason = first.message});
}

std::int32_t FileReader::library_function(std::string_view name, ir::Function (*make)(const ir::Module&)) {
  const auto found = library_.find(name);
  if (found != library_.end()) return found->second;
  const auto place = static_cast<std::int32_t>(module().functions.size());
  module().functions.push_back(make(module()));
  library_.emplace(name, place);
  return place;
}

/// A function that cannot be read and that nobody calls is no error.
void FileReader::soften_unwanted() {
  for (Diagnostic& diagnostic : result_.diagnostics) {
    const auto found = by_name_.find(diagnostic.function);
    if (found == by_name_.end()) continue;
    const bool unwanted = std::all_of(found->second.begin(), found->second.end(), [](const FunctionEntry* entry) {
      return !entry->is_kernel && !entry->is_wanted;
    });
    if (unwanted) diagnostic.severity = Severity::kNote;
  }
}

void FileReader::declare_all() {
  for (const FunctionEntry& entry : entries_) {
    result_.declarations.push_back({.name = entry.name,
                                    .is_kernel = entry.is_kernel,
                                    .was_read = entry.state == FunctionEntry::State::kRead,
                                    .loc = entry.definition.loc(),
                                    .parameters = entry.parameters});
  }
}

}  // namespace assay::frontend
