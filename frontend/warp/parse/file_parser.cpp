#include "frontend/warp/parse/file_parser.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "ir/source_location.hpp"
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
  // What is wrong with the top level of another file matters where a name of it is asked for, and is told there.
  if (!is_loading_) result_.diagnostics.push_back(std::move(diagnostic));
}

Result<void> FileReader::read() {
  const Node broken = first_error(tree_.root());
  collect_file(tree_.root(), environments_.front());
  collect_uncalled();
  const bool any_left =
      std::any_of(entries_.begin(), entries_.end(), [](const FunctionEntry& entry) { return entry.rejection.empty(); });
  if (broken && !any_left) {
    const ir::Loc loc = broken.loc();
    return Error{fmt::format("syntax error at {}, and no definition without one", describe(broken)),
                 fmt::format("{}:{}", loc.line, loc.column)};
  }
  for (FunctionEntry& entry : entries_) {
    if (!entry.is_kernel && !entry.is_generic && entry.is_listed) read_entry(entry);
  }
  reject_unmatched_customs();
  for (FunctionEntry& entry : entries_) {
    if (!entry.is_kernel) continue;
    const std::size_t told = result_.diagnostics.size();
    read_kernel(entry);
    if (entry.state == FunctionEntry::State::kRead || !failed_before(entry)) continue;
    entry.is_dropped = true;
    result_.diagnostics.resize(told);
  }
  drop_invalid_kernels();
  soften_unwanted();
  declare_all();
  std::stable_sort(result_.diagnostics.begin(), result_.diagnostics.end(),
                   [](const Diagnostic& a, const Diagnostic& b) {
                     return std::pair(a.loc.line, a.loc.column) < std::pair(b.loc.line, b.loc.column);
                   });
  for (Diagnostic& diagnostic : result_.diagnostics) {
    const ir::SourceLocation place = ir::source_location(result_.module, diagnostic.loc);
    diagnostic.file = place.file;
    diagnostic.loc = place.loc;
  }
  return {};
}

void FileReader::read_kernel(FunctionEntry& kernel) {
  if (kernel.is_generic && kernel.instances.empty() && kernel.rejection.empty()) assume_types(kernel);
  if (!kernel.is_generic) read_entry(kernel);
  for (FunctionEntry* instance : kernel.instances) {
    read_entry(*instance);
    if (instance->state == FunctionEntry::State::kRead) kernel.state = FunctionEntry::State::kRead;
    note_assumptions(*instance);
  }
  note_assumptions(kernel);
}

bool FileReader::failed_before(const FunctionEntry& kernel) const {
  if (!kernel.is_turned) return false;
  const FunctionEntry* first = made_.at(kernel.definition.id());
  return first != &kernel && first->state == FunctionEntry::State::kFailed;
}

void FileReader::collect_file(Node root, Environment& home) {
  const std::span<const Node> statements = root.children();
  for (std::size_t i = 0; i < statements.size(); ++i) {
    // The parser's recovery may have cut a definition short and left the rest as an error behind it.
    const bool is_sound = !statements[i].has_error() && !(i + 1 < statements.size() && statements[i + 1].has_error());
    if (const Node error = first_error(statements[i])) {
      report({.loc = error.loc(), .construct = describe(error), .reason = "syntax error"});
    }
    collect(statements[i], is_sound && !root.is(Syntax::kError), home);
  }
}

void FileReader::collect(Node statement, bool is_sound, Environment& home) {
  const auto forbid_definition = [&](const char* what) { home.scope.forbid(statement.part(Part::kName).text(), what); };
  switch (statement.kind()) {
    case Syntax::kImport:
    case Syntax::kImportFrom: collect_import(statement, home); return;
    case Syntax::kDecoratedDefinition: collect_decorated(statement, is_sound, home); return;
    case Syntax::kFunctionDefinition:
      forbid_definition("it is a Python function, not decorated with @wp.func");
      home.factories.insert_or_assign(std::string(statement.part(Part::kName).text()), statement);
      add_uncalled(statement, home);
      return;
    case Syntax::kClassDefinition:
      if (home.scope.add_class(statement)) return;
      forbid_definition("it is a Python class, not decorated with @wp.struct");
      for (const Node member : statement.part(Part::kBody).children()) {
        const Node method = definition_of(member);
        if (member.is(Syntax::kDecoratedDefinition) && !warp_decorator(member, home).empty()) {
          collect_unread(member, "inside a class", home);
        } else if (method.is(Syntax::kFunctionDefinition)) add_uncalled(method, home);
      }
      return;
    case Syntax::kExpressionStatement:
      for (const Node part : statement.children()) {
        const bool waits = home.is_imported && home.outer == nullptr && part.is(Syntax::kAssignment) &&
                           part.part(Part::kLeft).is(Syntax::kIdentifier);
        if (waits) {
          home.scope.defer(part.part(Part::kLeft).text(), [this, part, &home] { collect_assignment(part, home); });
        } else if (part.is(Syntax::kAssignment) || part.is(Syntax::kAugmentedAssignment)) {
          collect_assignment(part, home);
        }
        if (part.is(Syntax::kCall)) collect_overload(part, {}, home);
      }
      return;
    default: collect_unread(statement, "inside a compound statement", home); return;
  }
}

void FileReader::collect_assignment(Node assignment, Environment& home) {
  const Node left = assignment.part(Part::kLeft);
  const Node right = assignment.part(Part::kRight);
  if (assignment.is(Syntax::kAssignment) && right.is(Syntax::kCall)) {
    if (left.is(Syntax::kIdentifier) && collect_overload(right, left.text(), home)) return;
    if (call_factory(right, left.elements({Syntax::kPatternList, Syntax::kTuplePattern}), home)) return;
  }
  home.scope.add_assignment(assignment);
}

std::string FileReader::warp_decorator(Node decorated, const Environment& home) {
  for (const Node child : decorated.children()) {
    if (!child.is(Syntax::kDecorator)) continue;
    const auto parts = child.children();
    if (parts.size() != 1) continue;
    const std::string name =
        home.scope.warp_name(parts[0].is(Syntax::kCall) ? parts[0].part(Part::kFunction) : parts[0]);
    if (!name.empty()) return name;
  }
  return {};
}

FunctionEntry& FileReader::add_entry(Node decorated, bool is_kernel, const Environment& home) {
  const Node definition = definition_of(decorated);
  FunctionEntry& entry = (home.is_imported ? imported_entries_ : entries_).emplace_back();
  entry.definition = definition;
  entry.home = &home;
  entry.first_line = decorated.loc().line;
  entry.name = definition.part(Part::kName).text();
  entry.is_kernel = is_kernel;
  entry.parameters = parameter_names(definition);
  entry.is_generic = std::ranges::any_of(annotations_of(entry), is_generic);
  return entry;
}

void FileReader::reject(FunctionEntry& entry, std::string reason) {
  if (!entry.rejection.empty()) return;
  entry.rejection = std::move(reason);
  entry.state = FunctionEntry::State::kFailed;
  report({.loc = entry.definition.loc(),
          .function = entry.name,
          .construct = "def " + entry.name,
          .reason = entry.rejection});
}

void FileReader::collect_decorated(Node decorated, bool is_sound, Environment& home) {
  const Node definition = definition_of(decorated);
  const std::string_view name = definition.part(Part::kName).text();
  const std::string decorator = warp_decorator(decorated, home);
  home.scope.forget_import(name);
  if (decorator == "struct" && definition.is(Syntax::kClassDefinition)) {
    if (home.is_imported) {
      home.scope.defer(name, [this, definition, is_sound, &home] { collect_struct(definition, is_sound, home); });
    } else {
      collect_struct(definition, is_sound, home);
    }
    return;
  }
  if (definition.is(Syntax::kFunctionDefinition) && (decorator == "func_grad" || decorator == "func_replay")) {
    return collect_custom(decorated, decorator, is_sound, home);
  }
  if (definition.is(Syntax::kFunctionDefinition) && decorator == "overload") {
    return collect_overload_stub(definition, home);
  }
  const bool is_kernel = decorator == "kernel";
  if (is_kernel && is_repeated(definition)) return;
  if (!definition.is(Syntax::kFunctionDefinition) || (!is_kernel && decorator != "func")) {
    home.scope.forbid(name, decorator.empty() ? "it is decorated by something that only Python can run"
                                              : fmt::format("the reader does not know @wp.{}", decorator));
    if (decorator.empty() && definition.is(Syntax::kFunctionDefinition)) {
      add_uncalled(definition, home);
    } else {
      collect_unread(definition.part(Part::kBody), "inside a decorated definition", home);
    }
    return;
  }
  FunctionEntry& entry = add_entry(decorated, is_kernel, home);
  entry.is_turned = !turned_flags_.empty();
  made_.emplace(definition.id(), &entry);
  auto& same_name = home.functions[std::string(name)];
  for (FunctionEntry* earlier : same_name) {
    if (is_kernel || earlier->is_kernel)
      reject(*earlier, fmt::format("is defined again in {}", ir::line_text(result_.module, entry.definition.loc())));
  }
  std::erase_if(same_name, [](const FunctionEntry* earlier) { return !earlier->rejection.empty(); });
  same_name.push_back(&entry);
  entry.is_listed = true;
  const auto parts = decorated.children();
  const auto decorators =
      std::count_if(parts.begin(), parts.end(), [](Node part) { return part.is(Syntax::kDecorator); });
  if (!is_sound) reject(entry, "the file has a syntax error here or right behind");
  if (decorators > 1) reject(entry, "another decorator changes it when Python runs");
  collect_unread(definition.part(Part::kBody), "inside a kernel or function", home);
}

void FileReader::collect_struct(Node definition, bool is_sound, Environment& home) {
  auto added = is_sound ? home.scope.add_struct(definition) : Result<void>(Error{"the file has a syntax error here"});
  if (added.ok()) return;
  const std::string_view name = definition.part(Part::kName).text();
  home.scope.forbid(name, fmt::format("struct {} could not be read: {}", name, added.error().message));
  if (home.is_imported) return;  // whoever names it is told
  report({.loc = definition.loc(), .construct = fmt::format("class {}", name), .reason = added.error().message});
}

/// @wp.func_grad(f) and @wp.func_replay(f).
void FileReader::collect_custom(Node decorated, std::string_view decorator, bool is_sound, Environment& home) {
  FunctionEntry& entry = add_entry(decorated, false, home);
  Custom& custom = customs_.emplace_back();
  custom.entry = &entry;
  custom.is_gradient = decorator == "func_grad";
  for (const Node child : decorated.children()) {
    if (!child.is(Syntax::kDecorator)) continue;
    const auto parts = child.children();
    if (parts.size() != 1 || !parts[0].is(Syntax::kCall)) continue;
    const Arguments arguments = arguments_of(parts[0]);
    if (arguments.positional.size() == 1 && arguments.positional[0].is(Syntax::kIdentifier))
      custom.function = arguments.positional[0].text();
  }
  const auto* functions = find(home, custom.function);
  const bool known = functions != nullptr && !functions->empty() && !functions->front()->is_kernel;
  if (!is_sound) reject(entry, "the file has a syntax error here or right behind");
  if (!known) reject(entry, fmt::format("@wp.{} takes a function of the file that stands above it", decorator));
}

void FileReader::read_customs(FunctionEntry& entry) {
  if (entry.state != FunctionEntry::State::kRead || entry.is_kernel) return;
  for (Custom& custom : customs_) {
    if (custom.function != entry.name || custom.entry->home != entry.home ||
        custom.entry->state == FunctionEntry::State::kReading)
      continue;
    FunctionEntry& other = *custom.entry;
    const bool taken = other.gradient_of != nullptr || other.replay_of != nullptr;
    if (taken || !takes_parameters_of(other, entry)) continue;
    if (!entry.given.empty() || module().functions[static_cast<std::size_t>(entry.index)].parameter_count !=
                                    static_cast<int>(entry.types.size())) {
      entry.state = FunctionEntry::State::kFailed;
      entry.rejection =
          "a function with a gradient or replay of its own takes neither parts of arrays nor structs with any";
      return;
    }
    (custom.is_gradient ? other.gradient_of : other.replay_of) = &entry;
    other.is_wanted = entry.is_wanted;
    read_entry(other);
    if (other.state != FunctionEntry::State::kRead) {
      entry.state = FunctionEntry::State::kFailed;
      entry.rejection = fmt::format("its {} could not be read", custom.is_gradient ? "gradient" : "replay");
      return;
    }
    ir::Function& function = module().functions[static_cast<std::size_t>(entry.index)];
    (custom.is_gradient ? function.gradient : function.replay) = other.index;
  }
}

/// A gradient or replay whose parameters are those of no overload belongs to none, and the overloads would be
/// differentiated as if it were not there.
void FileReader::reject_unmatched_customs() {
  for (Custom& custom : customs_)
    if (!custom.entry->home->is_imported) reject_if_unmatched(custom);
}

void FileReader::reject_if_unmatched(Custom& custom) {
  FunctionEntry& other = *custom.entry;
  if (other.gradient_of != nullptr || other.replay_of != nullptr || !other.rejection.empty()) return;
  const auto* functions = find(*other.home, custom.function);
  if (functions == nullptr || std::ranges::any_of(*functions, &FunctionEntry::is_generic)) return;
  reject(other, fmt::format("the parameters' types are those of no function named {}", custom.function));
  for (FunctionEntry* function : *functions) {
    function->state = FunctionEntry::State::kFailed;
    function->rejection = fmt::format("its {} could not be read", custom.is_gradient ? "gradient" : "replay");
  }
}

/// Whether the annotations of a gradient or replay begin with the types of the function's parameters, as those of one
/// of several overloads must. A function alone has its complaints when its gradient is read.
bool FileReader::takes_parameters_of(const FunctionEntry& custom, const FunctionEntry& entry) const {
  const auto* functions = find(*entry.home, entry.name);
  if (functions == nullptr || functions->size() == 1) return true;
  const ir::Function& function = result_.module.functions[static_cast<std::size_t>(entry.index)];
  std::size_t p = 0;
  for (const Node node : custom.definition.part(Part::kParameters).children()) {
    if (p == static_cast<std::size_t>(function.parameter_count)) return true;
    const Node annotation = node.part(Part::kType);
    if (!annotation) return false;
    const auto type = custom.home->scope.type(annotation);
    if (!type.ok() || *type != function.variables[p++].type) return false;
  }
  return p == static_cast<std::size_t>(function.parameter_count);
}

void FileReader::collect_unread(Node node, std::string_view where, Environment& home) {
  switch (node.kind()) {
    case Syntax::kImport:
    case Syntax::kImportFrom:
      if (where == "inside a compound statement") collect_import(node, home);
      return;
    case Syntax::kAssignment:
    case Syntax::kAugmentedAssignment:
      if (where == "inside a compound statement" && node.part(Part::kLeft).is(Syntax::kIdentifier)) {
        home.scope.forbid(node.part(Part::kLeft).text(),
                          "it is assigned under a condition, which only Python can decide");
      }
      return;
    case Syntax::kDecoratedDefinition: {
      const std::string decorator = warp_decorator(node, home);
      if ((decorator == "kernel" || decorator == "func") && definition_of(node).is(Syntax::kFunctionDefinition)) {
        // No truth value makes it readable, so that a second reading of what is around says nothing new.
        if (!turned_flags_.empty() && made_.contains(definition_of(node).id())) return;
        FunctionEntry& entry = add_entry(node, decorator == "kernel", home);
        made_.emplace(entry.definition.id(), &entry);
        reject(entry, fmt::format("stands {}, so that what it uses is known only when Python runs", where));
      }
      break;
    }
    case Syntax::kFunctionDefinition:
      if (where != "inside a kernel or function") {
        add_uncalled(node, home);
        return;
      }
      break;
    case Syntax::kCall: return;
    default: break;
  }
  for (const Node child : node.children())
    collect_unread(child, where, home);
}

void FileReader::find_defaults(FunctionEntry& entry) {
  for (const Node node : entry.definition.part(Part::kParameters).children()) {
    if (!node.is(Syntax::kTypedDefaultParameter)) continue;
    if (auto value = entry.home->scope.constant(node.part(Part::kValue)))
      entry.defaults.emplace(node.part(Part::kName).text(), *value);
  }
}

const std::vector<FunctionEntry*>* FileReader::find(const Environment& home, std::string_view name) {
  for (const Environment* at = &home; at != nullptr; at = at->outer) {
    at->scope.settle(name);
    const auto found = at->functions.find(name);
    if (found != at->functions.end()) return &found->second;
    if (at->scope.knows(name)) return nullptr;
  }
  return nullptr;
}

std::vector<FunctionEntry*> FileReader::functions(const Environment& home, std::string_view name) {
  const auto* found = find(home, name);
  if (found == nullptr) return {};
  for (FunctionEntry* entry : *found) {
    entry->is_wanted = true;
    if (!entry->is_kernel && !entry->is_generic) read_entry(*entry);
    if (entry->is_generic && entry->defaults.empty()) find_defaults(*entry);
  }
  // Those of the file itself are looked at when all its functions have been read.
  for (Custom& custom : customs_) {
    const Environment& at = *custom.entry->home;
    const auto* functions = at.is_imported ? find(at, custom.function) : nullptr;
    if (functions != nullptr && *functions == *found) reject_if_unmatched(custom);
  }
  return *found;
}

/// Kernels of several Python functions may have one name.
void FileReader::make_name_unique(FunctionEntry& kernel) {
  const std::string wanted = kernel.name;
  auto [taken, is_new] = kernel_names_.try_emplace(wanted, 2);
  while (!is_new) {
    kernel.name = fmt::format("{}_{}", wanted, taken->second++);
    is_new = kernel_names_.try_emplace(kernel.name, 2).second;
  }
}

void FileReader::read_entry(FunctionEntry& entry) {
  if (entry.state != FunctionEntry::State::kUnread) return;
  entry.state = FunctionEntry::State::kReading;
  if (entry.is_kernel) make_name_unique(entry);
  const auto told = static_cast<std::ptrdiff_t>(result_.diagnostics.size());
  read_function(*this, entry);
  read_customs(entry);
  if (entry.state == FunctionEntry::State::kFailed && entry.failure.empty()) {
    const auto first =
        std::find_if(result_.diagnostics.begin() + told, result_.diagnostics.end(), [&](const Diagnostic& diagnostic) {
          return diagnostic.severity == Severity::kError && diagnostic.function == entry.name;
        });
    if (first != result_.diagnostics.end()) {
      entry.failure =
          fmt::format("{}: {}: {}", ir::location_text(result_.module, first->loc), first->construct, first->reason);
    }
  }
  if (entry.is_kernel && entry.state == FunctionEntry::State::kRead) {
    result_.module.kernels.back().annotations = annotations_above(result_.module.source_lines, entry.first_line);
  }
}

/// What the reader lets through and the verifier does not, such as limits on size, costs only the kernel that has it.
void FileReader::drop_invalid_kernels() {
  ir::Module& module = result_.module;
  if (ir::verify(module).empty()) return;
  const auto fail = [this](const auto& which) {
    for (auto* entries : {&entries_, &instances_}) {
      for (FunctionEntry& entry : *entries)
        if (which(entry)) entry.state = FunctionEntry::State::kFailed;
    }
  };
  std::vector<ir::Function> all = std::exchange(module.kernels, {});
  std::vector<ir::Function> valid;
  for (ir::Function& kernel : all) {
    module.kernels = {kernel};
    const auto diagnostics = ir::verify(module);
    if (diagnostics.empty()) {
      valid.push_back(std::move(kernel));
      continue;
    }
    const ir::VerifierError& first = diagnostics.front();
    const std::string_view label = ir::row(first.rule).label;
    report({.loc = first.loc, .function = kernel.name, .construct = std::string(label), .reason = first.message});
    fail([&](const FunctionEntry& entry) { return entry.is_kernel && entry.name == kernel.name; });
  }
  module.kernels = std::move(valid);
  // Functions that are invalid by themselves have spoilt every kernel.
  const auto diagnostics = ir::verify(module);
  if (diagnostics.empty()) return;
  module.functions.clear();
  fail([](const FunctionEntry&) { return true; });
  if (!all.empty()) return;
  const ir::VerifierError& first = diagnostics.front();
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
  std::map<std::string_view, bool> wanted;
  for (const FunctionEntry& entry : entries_)
    wanted[entry.name] |= entry.is_kernel || entry.is_wanted || !entry.is_listed;
  for (Diagnostic& diagnostic : result_.diagnostics) {
    if (ir::source_location(result_.module, diagnostic.loc).is_imported) continue;
    const auto found = wanted.find(diagnostic.function);
    if (found != wanted.end() && !found->second) diagnostic.severity = Severity::kNote;
  }
}

void FileReader::declare_all() {
  std::vector<const FunctionEntry*> all;
  for (const FunctionEntry& entry : entries_) {
    if (entry.is_dropped) continue;
    if (entry.is_kernel && !entry.instances.empty()) {
      all.insert(all.end(), entry.instances.begin(), entry.instances.end());
    } else {
      all.push_back(&entry);
    }
  }
  const auto place = [](const FunctionEntry* entry) {
    const ir::Loc loc = entry->definition.loc();
    return std::pair(loc.line, loc.column);
  };
  std::ranges::stable_sort(all, {}, place);
  for (const FunctionEntry* listed : all) {
    const FunctionEntry& entry = *listed;
    result_.declarations.push_back({.name = entry.name,
                                    .is_kernel = entry.is_kernel,
                                    .was_read = entry.state == FunctionEntry::State::kRead,
                                    .asks_for_thread = entry.asks_for_thread,
                                    .has_assumptions = entry.has_assumptions,
                                    .overload = entry.overload,
                                    .loc = entry.definition.loc(),
                                    .parameters = entry.parameters});
  }
}

}  // namespace assay::frontend
