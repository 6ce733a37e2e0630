#include "frontend/warp/parse/file_parser.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "frontend/warp/parse/native_code.hpp"
#include "frontend/warp/parse/rebinding.hpp"
#include "frontend/warp/parse/warp_names.hpp"
#include "ir/analysis.hpp"
#include "ir/custom.hpp"
#include "ir/index_wrapping.hpp"
#include "ir/source_location.hpp"
#include "ir/verifier.hpp"
#include "support/trim.hpp"

namespace assay::frontend {
namespace {

/// "launch: (n, m)", "domain: ..." and "custom gradients: trusted" from the comment lines directly above the line, from
/// top to bottom.
std::vector<std::string> annotations_above(const std::vector<std::string>& lines, int line) {
  std::vector<std::string> found;
  for (int above = line - 2; above >= 0; --above) {
    std::string_view text = lines[static_cast<std::size_t>(above)];
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    if (!text.starts_with('#')) break;
    text.remove_prefix(std::min(text.find_first_not_of("# \t"), text.size()));
    text = text.substr(0, text.find_last_not_of(" \t") + 1);
    if (text.starts_with("launch:") || text.starts_with("domain:") || text == ir::kTrustCustomGradientsAnnotation)
      found.insert(found.begin(), std::string(text));
  }
  return found;
}

SyntaxNode definition_of(SyntaxNode decorated) {
  return decorated.is(SyntaxKind::kDecoratedDefinition) ? decorated.part(SyntaxField::kDefinition) : decorated;
}

std::vector<std::string> parameter_names(SyntaxNode definition) {
  std::vector<std::string> names;
  for (const SyntaxNode parameter : definition.part(SyntaxField::kParameters).children()) {
    SyntaxNode name = parameter;
    if (parameter.is(SyntaxKind::kTypedParameter)) name = parameter.children()[0];
    if (const SyntaxNode named = parameter.part(SyntaxField::kName)) name = named;
    if (name.is(SyntaxKind::kIdentifier)) names.emplace_back(name.text());
  }
  return names;
}

}  // namespace

void WarpFileParser::report(Diagnostic diagnostic) {
  // Errors at the top level of an imported file are reported where one of its names is used.
  if (!is_loading_import_) result_.diagnostics.push_back(std::move(diagnostic));
}

Result<void> WarpFileParser::read() {
  const SyntaxNode broken = first_error(tree_.root());
  collect_file(tree_.root(), environments_.front());
  collect_uncalled();
  const bool any_left = std::any_of(source_functions_.begin(), source_functions_.end(),
                                    [](const SourceFunction& entry) { return entry.reason_not_parsed.empty(); });
  if (broken && !any_left) {
    const ir::Loc loc = broken.loc();
    return Error{fmt::format("syntax error at {}; no definition could be parsed", describe(broken)),
                 fmt::format("{}:{}", loc.line, loc.column)};
  }
  // Python rejects the whole file. An error outside of these definitions may be valid Python that the grammar does not
  // support.
  for (const SourceFunction& entry : source_functions_) {
    const SyntaxNode error = first_error(entry.definition);
    if (!error) continue;
    const ir::Loc loc = error.loc();
    return Error{fmt::format("syntax error at {} in {}", describe(error), entry.name),
                 fmt::format("{}:{}", loc.line, loc.column)};
  }
  for (SourceFunction& entry : source_functions_) {
    if (!entry.is_kernel && !entry.is_generic && entry.is_callable) parse_entry(entry);
  }
  reject_unmatched_customs();
  for (SourceFunction& entry : source_functions_) {
    if (!entry.is_kernel) continue;
    const std::size_t reported = result_.diagnostics.size();
    parse_kernel(entry);
    if (entry.parse_state == SourceFunction::State::kParsed || !failed_before(entry)) continue;
    entry.is_redundant_variant = true;
    result_.diagnostics.resize(reported);
  }
  ir::wrap_indices(module());
  drop_invalid_kernels();
  demote_unreferenced_errors();
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

void WarpFileParser::parse_kernel(SourceFunction& kernel) {
  if (kernel.is_generic && kernel.generic_instances.empty() && kernel.reason_not_parsed.empty()) assume_types(kernel);
  if (!kernel.is_generic) parse_entry(kernel);
  for (SourceFunction* instance : kernel.generic_instances) {
    parse_entry(*instance);
    if (instance->parse_state == SourceFunction::State::kParsed) kernel.parse_state = SourceFunction::State::kParsed;
    note_assumptions(*instance);
  }
  note_assumptions(kernel);
}

bool WarpFileParser::failed_before(const SourceFunction& kernel) const {
  if (!kernel.is_inverted_bool_variant) return false;
  const SourceFunction* first = first_function_by_definition_.at(kernel.definition.id());
  return first != &kernel && first->parse_state == SourceFunction::State::kFailed;
}

/// Makes the names unknown that code binds which the parser does not execute.
void WarpFileParser::mark_rebound_names(SyntaxNode block, Environment& home) {
  for (const ReboundName& each : rebound_names(block)) {
    home.scope.mark_rebound(each.name, fmt::format("{} in {} also binds this name, so its value is known only when "
                                                   "Python runs; to use that value, run with --import",
                                                   each.how, ir::line_text(result_.module, each.binding.loc())));
  }
}

void WarpFileParser::collect_file(SyntaxNode root, Environment& home) {
  mark_rebound_names(root, home);
  const std::span<const SyntaxNode> statements = root.children();
  for (std::size_t i = 0; i < statements.size(); ++i) {
    // Error recovery may have truncated a definition and left the rest as an error after it.
    const bool is_sound = !statements[i].has_error() && !(i + 1 < statements.size() && statements[i + 1].has_error());
    if (const SyntaxNode error = first_error(statements[i])) {
      report({.loc = error.loc(), .construct_excerpt = describe(error), .reason = "syntax error"});
    }
    collect(statements[i], is_sound && !root.is(SyntaxKind::kError), home);
  }
}

void WarpFileParser::collect(SyntaxNode statement, bool is_sound, Environment& home) {
  const auto forbid_definition = [&](const char* what) {
    forget_functions(statement.part(SyntaxField::kName).text(), home);
    home.scope.mark_unknown(statement.part(SyntaxField::kName).text(), what);
  };
  switch (statement.kind()) {
    case SyntaxKind::kImport:
    case SyntaxKind::kImportFrom: collect_import(statement, home); return;
    case SyntaxKind::kDecoratedDefinition: collect_decorated(statement, is_sound, home); return;
    case SyntaxKind::kFunctionDefinition:
      forbid_definition("the name is a Python function without the decorator @wp.func");
      home.kernel_factories.insert_or_assign(std::string(statement.part(SyntaxField::kName).text()), statement);
      add_uncalled(statement, home);
      return;
    case SyntaxKind::kClassDefinition:
      if (home.scope.add_class(statement)) return;
      forbid_definition(
          "the name is a Python class without the decorator @wp.struct; to use constants of the class, run with "
          "--import");
      for (const SyntaxNode member : statement.part(SyntaxField::kBody).children()) {
        const SyntaxNode method = definition_of(member);
        if (member.is(SyntaxKind::kDecoratedDefinition) && !warp_decorator(member, home).empty()) {
          collect_unsupported(member, "inside a class", home);
        } else if (method.is(SyntaxKind::kFunctionDefinition)) add_uncalled(method, home);
      }
      return;
    case SyntaxKind::kExpressionStatement:
      for (const SyntaxNode part : statement.children()) {
        const bool waits = home.is_imported && home.enclosing_environment == nullptr &&
                           part.is(SyntaxKind::kAssignment) &&
                           part.part(SyntaxField::kLeft).is(SyntaxKind::kIdentifier);
        if (waits) {
          home.scope.defer(part.part(SyntaxField::kLeft).text(),
                           [this, part, &home] { collect_assignment(part, home); });
        } else if (part.is(SyntaxKind::kAssignment) || part.is(SyntaxKind::kAugmentedAssignment)) {
          collect_assignment(part, home);
        }
        if (part.is(SyntaxKind::kCall)) collect_overload(part, {}, home);
      }
      return;
    default: collect_unsupported(statement, "inside a compound statement", home); return;
  }
}

void WarpFileParser::collect_assignment(SyntaxNode assignment, Environment& home) {
  const SyntaxNode left = assignment.part(SyntaxField::kLeft);
  const SyntaxNode right = assignment.part(SyntaxField::kRight);
  if (assignment.is(SyntaxKind::kAssignment) && right.is(SyntaxKind::kCall)) {
    if (left.is(SyntaxKind::kIdentifier) && collect_overload(right, left.text(), home)) return;
    if (call_factory(right, left.elements({SyntaxKind::kPatternList, SyntaxKind::kTuplePattern}), home)) return;
  }
  const auto names = left.elements({SyntaxKind::kPatternList, SyntaxKind::kTuplePattern});
  const auto values = right.elements({SyntaxKind::kTuple, SyntaxKind::kExpressionList});
  const bool is_multiple = assignment.is(SyntaxKind::kAssignment) && !left.is(SyntaxKind::kIdentifier) &&
                           names.size() > 1 && names.size() == values.size() &&
                           std::ranges::all_of(names, [](SyntaxNode name) { return name.is(SyntaxKind::kIdentifier); });
  if (!is_multiple) {
    if (left.is(SyntaxKind::kIdentifier)) {
      if (assignment.is(SyntaxKind::kAssignment) && alias_functions(left.text(), right, home)) return;
      forget_functions(left.text(), home);
    }
    return home.scope.add_assignment(assignment);
  }
  // A value that depends on an earlier value of one of the names becomes unknown, because the name is assigned twice.
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (values[i].is(SyntaxKind::kCall) && call_factory(values[i], names.subspan(i, 1), home)) continue;
    if (alias_functions(names[i].text(), values[i], home)) continue;
    forget_functions(names[i].text(), home);
    home.scope.define(names[i].text(), values[i]);
  }
}

/// Lets a new name stand for the functions with the decorator wp.func that `value` names. Returns false, and changes
/// nothing, if `value` names no such functions or the name is not new.
bool WarpFileParser::alias_functions(std::string_view name, SyntaxNode value, Environment& home) {
  if (home.scope.knows(name) || home.functions.contains(name)) return false;
  const auto* const named = named_functions(home, value);
  if (named == nullptr || std::ranges::any_of(*named, &SourceFunction::is_kernel)) return false;
  home.functions.emplace(name, *named);
  return true;
}

/// Removes the functions with the decorator wp.func that the name stands for, because later code binds the name.
void WarpFileParser::forget_functions(std::string_view name, Environment& home) {
  const auto found = home.functions.find(name);
  if (found == home.functions.end()) return;
  std::erase_if(found->second, [](const SourceFunction* entry) { return !entry->is_kernel; });
  if (found->second.empty()) home.functions.erase(found);
}

std::string WarpFileParser::warp_decorator(SyntaxNode decorated, const Environment& home) {
  for (const SyntaxNode child : decorated.children()) {
    if (!child.is(SyntaxKind::kDecorator)) continue;
    const auto parts = child.children();
    if (parts.size() != 1) continue;
    const std::string name =
        home.scope.warp_name(parts[0].is(SyntaxKind::kCall) ? parts[0].part(SyntaxField::kFunction) : parts[0]);
    if (!name.empty()) return name;
  }
  return {};
}

SourceFunction& WarpFileParser::add_entry(SyntaxNode decorated, bool is_kernel, const Environment& home) {
  const SyntaxNode definition = definition_of(decorated);
  SourceFunction& entry = (home.is_imported ? imported_functions_ : source_functions_).emplace_back();
  entry.definition = definition;
  entry.environment = &home;
  entry.first_line = decorated.loc().line;
  entry.name = definition.part(SyntaxField::kName).text();
  entry.is_kernel = is_kernel;
  entry.parameter_names = parameter_names(definition);
  entry.is_generic = std::ranges::any_of(annotations_of(entry), is_generic);
  return entry;
}

void WarpFileParser::reject(SourceFunction& entry, std::string reason) {
  if (!entry.reason_not_parsed.empty()) return;
  entry.reason_not_parsed = std::move(reason);
  entry.parse_state = SourceFunction::State::kFailed;
  report({.loc = entry.definition.loc(),
          .function = entry.name,
          .construct_excerpt = "def " + entry.name,
          .reason = entry.reason_not_parsed});
}

void WarpFileParser::collect_decorated(SyntaxNode decorated, bool is_sound, Environment& home) {
  const SyntaxNode definition = definition_of(decorated);
  const std::string_view name = definition.part(SyntaxField::kName).text();
  const std::string decorator = warp_decorator(decorated, home);
  home.scope.remove_import(name);
  if (decorator == "struct" && definition.is(SyntaxKind::kClassDefinition)) {
    if (home.is_imported) {
      home.scope.defer(name, [this, definition, is_sound, &home] { collect_struct(definition, is_sound, home); });
    } else {
      collect_struct(definition, is_sound, home);
    }
    return;
  }
  if (definition.is(SyntaxKind::kFunctionDefinition) && (decorator == "func_grad" || decorator == "func_replay")) {
    return collect_custom_derivative(decorated, decorator, is_sound, home);
  }
  if (definition.is(SyntaxKind::kFunctionDefinition) && decorator == "overload") {
    return collect_overload_stub(definition, home);
  }
  const bool is_kernel = decorator == "kernel";
  const bool is_native = decorator == "func_native";
  if (is_kernel && is_repeated(definition)) return;
  if (!definition.is(SyntaxKind::kFunctionDefinition) || (!is_kernel && !is_native && decorator != "func")) {
    home.scope.mark_unknown(name, decorator.empty() ? "the decorator of this definition is not supported"
                                                    : fmt::format("unsupported decorator @wp.{}", decorator));
    if (decorator.empty() && definition.is(SyntaxKind::kFunctionDefinition)) {
      add_uncalled(definition, home);
    } else {
      collect_unsupported(definition.part(SyntaxField::kBody), "inside a decorated definition", home);
    }
    return;
  }
  SourceFunction& entry = add_entry(decorated, is_kernel, home);
  entry.is_inverted_bool_variant = !inverted_bool_parameters_.empty();
  first_function_by_definition_.emplace(definition.id(), &entry);
  auto& same_name = home.functions[std::string(name)];
  // Functions that an assignment gave this name are no overloads of the new one.
  std::erase_if(same_name, [&](const SourceFunction* earlier) {
    return !earlier->is_kernel && (earlier->environment != &home || earlier->name != name);
  });
  for (SourceFunction* earlier : same_name) {
    if (is_kernel || earlier->is_kernel)
      reject(*earlier, fmt::format("redefined in {}", ir::line_text(result_.module, entry.definition.loc())));
  }
  std::erase_if(same_name, [](const SourceFunction* earlier) { return !earlier->reason_not_parsed.empty(); });
  const auto replaced = std::ranges::find_if(same_name, [&](const SourceFunction* earlier) {
    const std::size_t count = entry.parameter_names.size();
    return earlier->parameter_names.size() == count && have_same_types(*earlier, entry, count);
  });
  if (replaced == same_name.end()) {
    same_name.push_back(&entry);
  } else {
    // Warp keeps overloads by their types, so that the new one takes the earlier one's place in the order.
    drop_replaced(**replaced, entry);
    *replaced = &entry;
  }
  entry.is_callable = true;
  const auto parts = decorated.children();
  const auto decorators =
      std::count_if(parts.begin(), parts.end(), [](SyntaxNode part) { return part.is(SyntaxKind::kDecorator); });
  if (!is_sound) reject(entry, "the file has a syntax error here or just after");
  if (decorators > 1) reject(entry, "a kernel or function must have only one decorator");
  if (is_native) return take_native_code(decorated, entry);
  collect_unsupported(definition.part(SyntaxField::kBody), "inside a kernel or function", home);
}

/// Whether the first `count` parameters of both functions have the same types. Annotations that stand for no type of
/// the kernel language, such as `Any`, must have the same text.
bool WarpFileParser::have_same_types(const SourceFunction& a, const SourceFunction& b, std::size_t count) const {
  const std::vector<SyntaxNode> types_of_a = annotations_of(a);
  const std::vector<SyntaxNode> types_of_b = annotations_of(b);
  if (types_of_a.size() < count || types_of_b.size() < count) return false;
  for (std::size_t p = 0; p < count; ++p) {
    if (!types_of_a[p] || !types_of_b[p]) return false;
    const auto type_a = a.environment->scope.type(types_of_a[p]);
    const auto type_b = b.environment->scope.type(types_of_b[p]);
    const bool is_same = type_a.ok() && type_b.ok()
                             ? *type_a == *type_b
                             : type_a.ok() == type_b.ok() && types_of_a[p].text() == types_of_b[p].text();
    if (!is_same) return false;
  }
  return true;
}

/// Drops a function that a later definition replaces, with its custom gradient and replay, as in Warp.
void WarpFileParser::drop_replaced(SourceFunction& earlier, const SourceFunction& later) {
  earlier.parse_state = SourceFunction::State::kFailed;
  earlier.reason_not_parsed =
      fmt::format("{} redefines this function with the same parameter types; all calls use that definition",
                  ir::line_text(result_.module, later.definition.loc()));
  report({.severity = Severity::kNote,
          .loc = earlier.definition.loc(),
          .function = earlier.name,
          .construct_excerpt = "def " + earlier.name,
          .reason = earlier.reason_not_parsed});
  std::erase_if(custom_derivatives_, [&](const CustomDerivative& custom) {
    const bool is_of_earlier = custom.function == earlier.name && custom.entry->environment == earlier.environment &&
                               custom.entry->reason_not_parsed.empty() &&
                               have_same_types(*custom.entry, earlier, earlier.parameter_names.size());
    if (is_of_earlier) {
      custom.entry->parse_state = SourceFunction::State::kFailed;
      custom.entry->reason_not_parsed = earlier.reason_not_parsed;
    }
    return is_of_earlier;
  });
}

/// The code in @wp.func_native(snippet).
void WarpFileParser::take_native_code(SyntaxNode decorated, SourceFunction& entry) {
  const SyntaxNode decorator = decorated.children()[0].children()[0];
  if (!decorator.is(SyntaxKind::kCall)) return reject(entry, "@wp.func_native must have the code as its argument");
  const CallArguments arguments = arguments_of(decorator);
  const auto named = arguments.keyword_arguments.find("snippet");
  const bool is_named = named != arguments.keyword_arguments.end();
  const std::size_t given = arguments.positional_arguments.size() + arguments.keyword_arguments.size();
  if (given != 1 || (!is_named && arguments.positional_arguments.empty()))
    return reject(entry, "a native function must have its code only; adj_snippet and replay_snippet are not supported");
  if (entry.is_generic) return reject(entry, "native functions cannot have generic parameters");
  entry.native_code = string_value(is_named ? named->second : arguments.positional_arguments[0]);
  if (!entry.native_code)
    reject(entry,
           "the code of a native function must be a string literal; to use that of a variable, run with --import");
}

void WarpFileParser::collect_struct(SyntaxNode definition, bool is_sound, Environment& home) {
  auto added = is_sound ? home.scope.add_struct(definition) : Result<void>(Error{"the file has a syntax error here"});
  if (added.ok()) return;
  const std::string_view name = definition.part(SyntaxField::kName).text();
  home.scope.mark_unknown(name, fmt::format("struct {} could not be parsed: {}", name, added.error().message));
  if (home.is_imported) return;  // reported where it is used
  report(
      {.loc = definition.loc(), .construct_excerpt = fmt::format("class {}", name), .reason = added.error().message});
}

/// @wp.func_grad(f) and @wp.func_replay(f).
void WarpFileParser::collect_custom_derivative(SyntaxNode decorated, std::string_view decorator, bool is_sound,
                                               Environment& home) {
  SourceFunction& entry = add_entry(decorated, false, home);
  CustomDerivative& custom = custom_derivatives_.emplace_back();
  custom.entry = &entry;
  custom.is_gradient = decorator == "func_grad";
  for (const SyntaxNode child : decorated.children()) {
    if (!child.is(SyntaxKind::kDecorator)) continue;
    const auto parts = child.children();
    if (parts.size() != 1 || !parts[0].is(SyntaxKind::kCall)) continue;
    const CallArguments arguments = arguments_of(parts[0]);
    if (arguments.positional_arguments.size() == 1 && arguments.positional_arguments[0].is(SyntaxKind::kIdentifier))
      custom.function = arguments.positional_arguments[0].text();
  }
  const auto* functions = find(home, custom.function);
  const bool known = functions != nullptr && !functions->empty() && !functions->front()->is_kernel;
  if (!is_sound) reject(entry, "the file has a syntax error here or just after");
  if (!known) reject(entry, fmt::format("@wp.{} must name a function defined above it in this file", decorator));
}

void WarpFileParser::parse_custom_derivatives(SourceFunction& entry) {
  if (entry.parse_state != SourceFunction::State::kParsed || entry.is_kernel) return;
  for (CustomDerivative& custom : custom_derivatives_) {
    if (custom.function != entry.name || custom.entry->environment != entry.environment ||
        custom.entry->parse_state == SourceFunction::State::kParsing)
      continue;
    SourceFunction& other = *custom.entry;
    const bool taken = other.differentiated_function != nullptr || other.replayed_function != nullptr;
    if (taken || !takes_parameters_of(other, entry)) continue;
    if (hidden_parameters(entry).any()) {
      (custom.is_gradient ? other.differentiated_function : other.replayed_function) = &entry;
      entry.parse_state = SourceFunction::State::kFailed;
      entry.reason_not_parsed =
          "a function with a custom gradient or replay must not call wp.block_dim() or functions of meshes, hash grids "
          "or hierarchies of boxes";
      return;
    }
    if (!entry.argument_specs.empty() ||
        module().functions[static_cast<std::size_t>(entry.function_index)].parameter_count !=
            static_cast<int>(entry.parameter_types.size())) {
      entry.parse_state = SourceFunction::State::kFailed;
      entry.reason_not_parsed =
          "array slices, and structs that contain array slices, cannot be passed to functions with a custom gradient "
          "or "
          "replay";
      return;
    }
    (custom.is_gradient ? other.differentiated_function : other.replayed_function) = &entry;
    other.is_referenced = entry.is_referenced;
    parse_entry(other);
    if (other.parse_state != SourceFunction::State::kParsed) {
      entry.parse_state = SourceFunction::State::kFailed;
      entry.reason_not_parsed =
          fmt::format("the custom {} of this function could not be parsed", custom.is_gradient ? "gradient" : "replay");
      return;
    }
    ir::Function& function = module().functions[static_cast<std::size_t>(entry.function_index)];
    (custom.is_gradient ? function.gradient_function_index : function.replay_function_index) = other.function_index;
    std::vector<ir::ParameterUses> uses;
    for (const ir::Function& each : module().functions)
      uses.push_back(ir::parameter_use(each, uses));
    const auto fault = custom.is_gradient ? ir::find_custom_gradient_error(module(), function, uses)
                                          : ir::find_custom_replay_error(module(), function, uses);
    if (!fault) continue;
    report({.loc = other.definition.loc(),
            .function = entry.name,
            .construct_excerpt = "def " + other.name,
            .reason = *fault});
    // Without the derivative, the function is valid, but no kernel may call it.
    (custom.is_gradient ? function.gradient_function_index : function.replay_function_index) = ir::kNone;
    entry.parse_state = SourceFunction::State::kFailed;
    return;
  }
}

/// A gradient or replay whose parameters match no overload would be ignored silently.
void WarpFileParser::reject_unmatched_customs() {
  for (CustomDerivative& custom : custom_derivatives_)
    if (!custom.entry->environment->is_imported) reject_if_unmatched(custom);
}

void WarpFileParser::reject_if_unmatched(CustomDerivative& custom) {
  SourceFunction& other = *custom.entry;
  if (other.differentiated_function != nullptr || other.replayed_function != nullptr ||
      !other.reason_not_parsed.empty())
    return;
  const auto* functions = find(*other.environment, custom.function);
  if (functions == nullptr || std::ranges::any_of(*functions, &SourceFunction::is_generic)) return;
  reject(other, fmt::format("no function named {} has the same parameter types", custom.function));
  for (SourceFunction* function : *functions) {
    function->parse_state = SourceFunction::State::kFailed;
    function->reason_not_parsed =
        fmt::format("the custom {} of this function could not be parsed", custom.is_gradient ? "gradient" : "replay");
  }
}

/// Whether the annotations of a gradient or replay begin with the types of the function's parameters, as required for
/// one of several overloads. For a single function, errors are reported when its gradient is parsed.
bool WarpFileParser::takes_parameters_of(const SourceFunction& custom, const SourceFunction& entry) const {
  const auto* functions = find(*entry.environment, entry.name);
  if (functions == nullptr || functions->size() == 1) return true;
  const ir::Function& function = result_.module.functions[static_cast<std::size_t>(entry.function_index)];
  std::size_t p = 0;
  for (const SyntaxNode node : custom.definition.part(SyntaxField::kParameters).children()) {
    if (p == static_cast<std::size_t>(function.parameter_count)) return true;
    const SyntaxNode annotation = node.part(SyntaxField::kType);
    if (!annotation) return false;
    const auto type = custom.environment->scope.type(annotation);
    if (!type.ok() || *type != function.variables[p++].type) return false;
  }
  return p == static_cast<std::size_t>(function.parameter_count);
}

void WarpFileParser::collect_unsupported(SyntaxNode node, std::string_view where, Environment& home) {
  switch (node.kind()) {
    case SyntaxKind::kImport:
    case SyntaxKind::kImportFrom:
      if (where == "inside a compound statement") collect_import(node, home);
      return;
    case SyntaxKind::kAssignment:
    case SyntaxKind::kAugmentedAssignment:
      if (where != "inside a compound statement") return;
      for (const SyntaxNode name : names_in_target(node.part(SyntaxField::kLeft))) {
        forget_functions(name.text(), home);
        home.scope.mark_unknown(name.text(),
                                "the name is assigned under a condition that is known only when Python runs");
      }
      if (const SyntaxNode right = node.part(SyntaxField::kRight); right.is(SyntaxKind::kAssignment))
        collect_unsupported(right, where, home);
      return;
    case SyntaxKind::kDecoratedDefinition: {
      const std::string decorator = warp_decorator(node, home);
      if ((decorator == "kernel" || decorator == "func") && definition_of(node).is(SyntaxKind::kFunctionDefinition)) {
        // No value of a bool makes it supported, so that a second variant of the enclosing factory reports nothing new.
        if (!inverted_bool_parameters_.empty() && first_function_by_definition_.contains(definition_of(node).id()))
          return;
        SourceFunction& entry = add_entry(node, decorator == "kernel", home);
        if (where == "inside a compound statement") {
          forget_functions(entry.name, home);
          home.scope.mark_unknown(entry.name,
                                  "the function is defined under a condition that is known only when Python runs");
        }
        first_function_by_definition_.emplace(entry.definition.id(), &entry);
        reject(entry, fmt::format("defined {}, so the names in the definition are known only when Python runs", where));
      }
      break;
    }
    case SyntaxKind::kFunctionDefinition:
      if (where != "inside a kernel or function") {
        add_uncalled(node, home);
        return;
      }
      break;
    case SyntaxKind::kCall: return;
    default: break;
  }
  for (const SyntaxNode child : node.children())
    collect_unsupported(child, where, home);
}

void WarpFileParser::find_defaults(SourceFunction& entry) {
  for (const SyntaxNode node : entry.definition.part(SyntaxField::kParameters).children()) {
    if (!node.is(SyntaxKind::kTypedDefaultParameter)) continue;
    if (auto value = entry.environment->scope.constant(node.part(SyntaxField::kValue)))
      entry.default_arguments.emplace(node.part(SyntaxField::kName).text(), *value);
  }
}

const std::vector<SourceFunction*>* WarpFileParser::find(const Environment& home, std::string_view name) {
  for (const Environment* at = &home; at != nullptr; at = at->enclosing_environment) {
    at->scope.resolve_deferred(name);
    const auto found = at->functions.find(name);
    if (found != at->functions.end()) return &found->second;
    if (at->scope.knows(name)) return nullptr;
  }
  return nullptr;
}

const std::vector<SourceFunction*>* WarpFileParser::named_functions(const Environment& home, SyntaxNode value) {
  const bool is_member =
      value.is(SyntaxKind::kAttribute) && value.part(SyntaxField::kObject).is(SyntaxKind::kIdentifier);
  return value.is(SyntaxKind::kIdentifier) || is_member ? find(home, value.text()) : nullptr;
}

std::vector<SourceFunction*> WarpFileParser::functions(const Environment& home, std::string_view name) {
  const auto* found = find(home, name);
  if (found == nullptr) return {};
  for (SourceFunction* entry : *found) {
    entry->is_referenced = true;
    if (!entry->is_kernel && !entry->is_generic) parse_entry(*entry);
    if (entry->is_generic && entry->default_arguments.empty()) find_defaults(*entry);
  }
  // Those of the file itself are checked after all its functions have been parsed.
  for (CustomDerivative& custom : custom_derivatives_) {
    const Environment& at = *custom.entry->environment;
    const auto* functions = at.is_imported ? find(at, custom.function) : nullptr;
    if (functions != nullptr && *functions == *found) reject_if_unmatched(custom);
  }
  return *found;
}

HiddenParameters WarpFileParser::hidden_parameters(SourceFunction& entry) {
  if (entry.hidden_parameters) return *entry.hidden_parameters;
  entry.hidden_parameters = HiddenParameters();  // ends the search at recursive calls
  HiddenParameters found;
  std::optional<HiddenParameters> texture_kinds;
  // Annotations tell which kinds of textures the function uses: its own or, if it takes them from structs, others.
  const auto textures = [&] {
    if (texture_kinds) return *texture_kinds;
    texture_kinds = texture_kinds_in(entry.definition.text());
    if (texture_kinds->any()) return *texture_kinds;
    for (const std::string& line : entry.environment->scope.source_lines()) {
      const std::string_view text = trimmed(line);
      const bool is_of_function = text.starts_with("def ") || text.ends_with(',') || text.ends_with("):");
      if (!is_of_function) *texture_kinds |= texture_kinds_in(text);
    }
    return *texture_kinds;
  };
  const std::function<void(SyntaxNode)> search = [&](SyntaxNode node) {
    const bool is_extent =
        node.is(SyntaxKind::kAttribute) && is_texture_extent(node.part(SyntaxField::kAttribute).text());
    if (is_extent) found |= textures();
    if (node.is(SyntaxKind::kCall)) {
      const SyntaxNode function = node.part(SyntaxField::kFunction);
      const std::string name = entry.environment->scope.warp_name(function);
      if (name.starts_with("tile_")) found.set(kUsesTiles);
      if (is_thread_value_function(name)) found.set(kUsesTiles).set(kHasThreadValues);
      found |= name == "texture_sample" ? texture_parameters_of(node, textures()) : hidden_parameters_of(node, name);
      if (const auto* callees = find(*entry.environment, function.text()); callees != nullptr) {
        for (SourceFunction* callee : *callees)
          found |= hidden_parameters(*callee);
      }
    }
    for (const SyntaxNode child : node.children())
      search(child);
  };
  search(entry.definition.part(SyntaxField::kBody));
  entry.hidden_parameters = found;
  return found;
}

/// Kernels of several Python functions may have one name.
void WarpFileParser::make_name_unique(SourceFunction& kernel) {
  const std::string wanted = kernel.name;
  auto [taken, is_new] = next_suffix_by_kernel_name_.try_emplace(wanted, 2);
  while (!is_new) {
    kernel.name = fmt::format("{}_{}", wanted, taken->second++);
    is_new = next_suffix_by_kernel_name_.try_emplace(kernel.name, 2).second;
  }
}

void WarpFileParser::parse_entry(SourceFunction& entry) {
  if (entry.parse_state != SourceFunction::State::kUnparsed) return;
  entry.parse_state = SourceFunction::State::kParsing;
  if (entry.is_kernel) make_name_unique(entry);
  const auto reported = static_cast<std::ptrdiff_t>(result_.diagnostics.size());
  read_function(*this, entry);
  parse_custom_derivatives(entry);
  if (entry.parse_state == SourceFunction::State::kFailed && entry.rejection_reason.empty()) {
    const auto first = std::find_if(
        result_.diagnostics.begin() + reported, result_.diagnostics.end(), [&](const Diagnostic& diagnostic) {
          return diagnostic.severity == Severity::kError && diagnostic.function == entry.name;
        });
    if (first != result_.diagnostics.end()) {
      entry.rejection_reason = fmt::format("{}: {}: {}", ir::location_text(result_.module, first->loc),
                                           first->construct_excerpt, first->reason);
    }
  }
  if (entry.is_kernel && entry.parse_state == SourceFunction::State::kParsed) {
    std::vector<std::string>& annotations = result_.module.kernels.back().annotations;
    std::vector<std::string> stated = annotations_above(result_.module.source_lines, entry.first_line);
    // What the source states replaces what the parser has stated about the block size.
    if (std::ranges::any_of(stated, [](const std::string& line) { return line.starts_with("launch:"); }))
      std::erase_if(annotations, [](const std::string& line) { return line.starts_with("launch:"); });
    annotations.insert(annotations.end(), stated.begin(), stated.end());
  }
}

/// Rejects only the kernels that the verifier rejects, for example because of size limits.
void WarpFileParser::drop_invalid_kernels() {
  ir::Module& module = result_.module;
  if (ir::verify(module).empty()) return;
  const auto fail = [this](const auto& which) {
    for (auto* entries : {&source_functions_, &generic_instances_}) {
      for (SourceFunction& entry : *entries)
        if (which(entry)) entry.parse_state = SourceFunction::State::kFailed;
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
    report(
        {.loc = first.loc, .function = kernel.name, .construct_excerpt = std::string(label), .reason = first.message});
    fail([&](const SourceFunction& entry) { return entry.is_kernel && entry.name == kernel.name; });
  }
  module.kernels = std::move(valid);
  // An invalid function makes every kernel invalid.
  const auto diagnostics = ir::verify(module);
  if (diagnostics.empty()) return;
  module.functions.clear();
  fail([](const SourceFunction&) { return true; });
  if (!all.empty()) return;
  const ir::VerifierError& first = diagnostics.front();
  report({.loc = first.loc, .construct_excerpt = std::string(ir::row(first.rule).label), .reason = first.message});
}

std::int32_t WarpFileParser::library_function(std::string_view name,
                                              const std::function<ir::Function(const ir::Module&)>& make) {
  const auto found = library_function_indices_.find(name);
  if (found != library_function_indices_.end()) return found->second;
  const auto place = static_cast<std::int32_t>(module().functions.size());
  module().functions.push_back(make(module()));
  library_function_indices_.emplace(name, place);
  return place;
}

/// Errors in functions that are never called become notes.
void WarpFileParser::demote_unreferenced_errors() {
  std::map<std::string_view, bool> wanted;
  for (const SourceFunction& entry : source_functions_)
    wanted[entry.name] |= entry.is_kernel || entry.is_referenced || !entry.is_callable;
  for (Diagnostic& diagnostic : result_.diagnostics) {
    if (ir::source_location(result_.module, diagnostic.loc).is_imported) continue;
    const auto found = wanted.find(diagnostic.function);
    if (found != wanted.end() && !found->second) diagnostic.severity = Severity::kNote;
  }
}

void WarpFileParser::declare_all() {
  std::vector<const SourceFunction*> all;
  for (const SourceFunction& entry : source_functions_) {
    if (entry.is_redundant_variant) continue;
    if (entry.is_kernel && !entry.generic_instances.empty()) {
      all.insert(all.end(), entry.generic_instances.begin(), entry.generic_instances.end());
    } else {
      all.push_back(&entry);
    }
  }
  const auto place = [](const SourceFunction* entry) {
    const ir::Loc loc = entry->definition.loc();
    return std::pair(loc.line, loc.column);
  };
  std::ranges::stable_sort(all, {}, place);
  for (const SourceFunction* listed : all) {
    const SourceFunction& entry = *listed;
    result_.declarations.push_back({.name = entry.name,
                                    .is_kernel = entry.is_kernel,
                                    .is_parsed = entry.parse_state == SourceFunction::State::kParsed,
                                    .uses_thread_index = entry.uses_thread_index,
                                    .has_assumptions = entry.has_assumptions,
                                    .suggested_overload = entry.suggested_overload,
                                    .loc = entry.definition.loc(),
                                    .parameter_names = entry.parameter_names});
  }
}

}  // namespace assay::frontend
