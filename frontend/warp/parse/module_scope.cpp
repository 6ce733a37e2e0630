#include "frontend/warp/parse/module_scope.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "frontend/warp/parse/warp_names.hpp"
#include "ir/verifier.hpp"

namespace assay::frontend {
namespace {

/// auto() is not supported after larger enumeration members.
constexpr std::int64_t kLargestMember = std::int64_t{1} << 40;

/// The rank of an indexed array; 0 if it is another type.
int indexed_array_rank(std::string_view name) {
  constexpr std::string_view kPrefix = "indexed";
  return name.starts_with(kPrefix) ? array_rank(name.substr(kPrefix.size())) : 0;
}

Error unknown_type(SyntaxNode expression) { return Error{fmt::format("unknown type '{}'", expression.text())}; }

}  // namespace

int array_rank(std::string_view name) {
  // Fabric arrays differ from arrays only in the storage, which Assay does not model.
  if (name == "array" || name == "array1d" || name == "fabricarray") return 1;
  if (name == "fabricarrayarray") return 2;
  if (name == "array2d") return 2;
  if (name == "array3d") return 3;
  if (name == "array4d") return 4;
  return 0;
}

CallArguments arguments_of(SyntaxNode call) {
  CallArguments arguments;
  for (const SyntaxNode argument : call.part(SyntaxField::kArguments).children()) {
    if (argument.is(SyntaxKind::kKeywordArgument)) {
      arguments.keyword_arguments.emplace(argument.part(SyntaxField::kName).text(), argument.part(SyntaxField::kValue));
    } else {
      if (argument.grammar_name().ends_with("splat")) arguments.has_star_argument = true;
      arguments.positional_arguments.push_back(argument);
    }
  }
  return arguments;
}

void ModuleScope::add_import(SyntaxNode statement) {
  const bool is_from = statement.is(SyntaxKind::kImportFrom);
  const SyntaxNode module = is_from ? statement.part(SyntaxField::kModuleName) : SyntaxNode();
  for (const SyntaxNode item : statement.children()) {
    if (is_from && item.id() == module.id()) continue;
    const bool renamed = item.is(SyntaxKind::kAliasedImport);
    const std::string_view name = renamed ? item.part(SyntaxField::kName).text() : item.text();
    const std::string_view alias = renamed ? item.part(SyntaxField::kAlias).text() : name.substr(0, name.find('.'));
    if (!is_from) {
      modules_by_alias_[std::string(alias)] = renamed ? name : alias;
    } else if (module.text() == "warp") {
      warp_names_by_imported_name_[std::string(alias)] = name;
    } else {
      mark_unknown(alias,
                   fmt::format("the name is imported from module '{}', which could not be loaded", module.text()));
    }
  }
}

bool ModuleScope::knows(std::string_view name) const {
  return constants_by_name_.contains(name) || types_by_name_.contains(name) ||
         reasons_by_unknown_name_.contains(name) || warp_names_by_imported_name_.contains(name) ||
         modules_by_alias_.contains(name) || enumerations_.contains(name) || deferred_.contains(name) ||
         imported_modules_by_name_.contains(name);
}

void ModuleScope::defer(std::string_view name, std::function<void()> settle) {
  if (rebound_names_.contains(name)) return;
  if (knows(name)) return mark_unknown(name, "the name is assigned more than once");
  deferred_.emplace(name, std::move(settle));
}

void ModuleScope::remove_import(std::string_view name) {
  deferred_.erase(std::string(name));
  imported_modules_by_name_.erase(std::string(name));
}

bool ModuleScope::resolve_deferred(std::string_view name) const {
  if (const std::size_t dot = name.find('.'); dot != std::string_view::npos) {
    resolve_deferred(name.substr(0, dot));
    const auto module = imported_modules_by_name_.find(name.substr(0, dot));
    if (module == imported_modules_by_name_.end() || !imported_members_.emplace(name).second) return false;
    module->second.import_member(std::string(name), std::string(name.substr(dot + 1)));
    return true;
  }
  const auto found = deferred_.find(name);
  if (found == deferred_.end()) return false;
  // Removed first, because circular imports may look up the name again.
  const std::function<void()> find_meaning = std::move(found->second);
  deferred_.erase(found);
  find_meaning();
  return true;
}

void ModuleScope::add_module(std::string_view name, FileModule module,
                             std::function<void(const std::string& name, const std::string& member)> import_member) {
  imported_modules_by_name_.insert_or_assign(
      std::string(name), ImportedModule{.module = std::move(module), .import_member = std::move(import_member)});
}

const ModuleScope::FileModule* ModuleScope::file_module(std::string_view name) const {
  const ModuleScope* scope = owner(name);
  if (scope == nullptr) return nullptr;
  const auto found = scope->imported_modules_by_name_.find(name);
  return found == scope->imported_modules_by_name_.end() ? nullptr : &found->second.module;
}

bool ModuleScope::adopt(std::string_view name, const ModuleScope& from, std::string_view original) {
  const ModuleScope* scope = from.owner(original);
  if (scope == nullptr) return false;
  const auto take = [&](auto& mine, const auto& theirs) {
    const auto found = theirs.find(original);
    if (found == theirs.end()) return false;
    mine.insert_or_assign(std::string(name), found->second);
    return true;
  };
  return take(constants_by_name_, scope->constants_by_name_) || take(types_by_name_, scope->types_by_name_) ||
         take(enumerations_, scope->enumerations_) ||
         take(warp_names_by_imported_name_, scope->warp_names_by_imported_name_) ||
         take(modules_by_alias_, scope->modules_by_alias_);
}

const ModuleScope* ModuleScope::owner(std::string_view name) const {
  const ModuleScope* scope = this;
  while (scope != nullptr && !scope->resolve_deferred(name) && !scope->knows(name))
    scope = scope->enclosing_scope_;
  return scope;
}

bool ModuleScope::bind(std::string_view name, SyntaxNode expression, const ModuleScope& from) {
  if (rebound_names_.contains(name)) return true;  // stays unknown
  if (auto number = from.constant(expression)) {
    constants_by_name_.emplace(name, std::move(*number));
  } else if (const auto known = from.type(expression); known.ok()) {
    types_by_name_.emplace(name, *known);
  } else if (const std::string warp = from.warp_name(expression); !warp.empty()) {
    bind_warp(name, warp);
  } else {
    return false;
  }
  return true;
}

void ModuleScope::mark_unknown(std::string_view name, std::string reason) {
  constants_by_name_.erase(std::string(name));
  types_by_name_.erase(std::string(name));
  enumerations_.erase(std::string(name));
  deferred_.erase(std::string(name));
  imported_modules_by_name_.erase(std::string(name));
  sequences_by_name_.erase(std::string(name));
  reasons_by_unknown_name_.insert_or_assign(std::string(name), std::move(reason));
}

void ModuleScope::mark_rebound(std::string_view name, std::string reason) {
  if (!rebound_names_.emplace(name).second) return;
  mark_unknown(name, std::move(reason));
}

void ModuleScope::add_assignment(SyntaxNode assignment) {
  const SyntaxNode left = assignment.part(SyntaxField::kLeft);
  const SyntaxNode right = assignment.part(SyntaxField::kRight);
  if (!right || assignment.is(SyntaxKind::kAugmentedAssignment) || !left.is(SyntaxKind::kIdentifier)) {
    const auto names = left.is(SyntaxKind::kIdentifier) ? left.elements({}) : left.children();
    for (const SyntaxNode name : names)
      mark_unknown(name.text(), "the name is not defined by a plain assignment");
    return;
  }
  if (right.is(SyntaxKind::kAssignment)) {
    add_assignment(right);
    define(left.text(), right.part(SyntaxField::kLeft));
  } else {
    define(left.text(), right);
  }
}

void ModuleScope::define(std::string_view name, SyntaxNode value) {
  if (rebound_names_.contains(name)) return;
  if (constants_by_name_.contains(name) || types_by_name_.contains(name) || reasons_by_unknown_name_.contains(name) ||
      enumerations_.contains(name) || deferred_.contains(name)) {
    mark_unknown(name, "the name is assigned more than once");
  } else if (auto number = constant(value)) {
    constants_by_name_.emplace(name, std::move(*number));
  } else if (const auto known = type(value); known.ok() && !known->is_array()) {
    types_by_name_.emplace(name, *known);
  } else if (!known.ok() && warp_name(value.part(SyntaxField::kFunction)).starts_with("types.")) {
    mark_unknown(name, known.error().message);
  } else {
    mark_unknown(name, fmt::format("the value '{}' is known only when Python runs", describe(value)));
    if (auto elements = sequence(value)) sequences_by_name_.emplace(name, std::move(*elements));
  }
}

/// The elements of a tuple or list of constants and of tuples of constants; nullopt for other expressions.
std::optional<ModuleScope::Sequence> ModuleScope::sequence(SyntaxNode value) const {
  Sequence made{.is_list = value.grammar_name() == "list"};
  if (!made.is_list && !value.is(SyntaxKind::kTuple) && !value.is(SyntaxKind::kExpressionList)) return std::nullopt;
  for (const SyntaxNode element : value.children()) {
    auto inner = sequence(element);
    if (auto number = inner ? std::nullopt : constant(element)) inner = Sequence{.value = std::move(number)};
    if (!inner || inner->is_list) return std::nullopt;
    made.elements.push_back(std::move(*inner));
  }
  return made;
}

bool ModuleScope::add_class(SyntaxNode class_definition) {
  const std::string_view name = class_definition.part(SyntaxField::kName).text();
  if (knows(name)) return false;
  const auto bases = class_definition.part(SyntaxField::kSuperclasses).children();
  if (bases.size() != 1) return false;
  const SyntaxNode base = bases[0];
  const std::string_view base_name =
      base.is(SyntaxKind::kAttribute) ? base.part(SyntaxField::kAttribute).text() : base.text();
  if (base_name == "IntEnum" || base_name == "IntFlag") {
    add_enumeration(class_definition, base_name == "IntFlag");
    return true;
  }
  const auto known = base.is(SyntaxKind::kCall) ? type(base) : Result<ir::Type>(unknown_type(base));
  if (!known.ok() || !known->is_aggregate()) return false;
  const auto says_nothing = [](SyntaxNode statement) {
    const auto parts = statement.children();
    return statement.is(SyntaxKind::kPass) || (parts.size() == 1 && parts[0].is(SyntaxKind::kString));
  };
  if (!std::ranges::all_of(class_definition.part(SyntaxField::kBody).children(), says_nothing)) return false;
  types_by_name_.emplace(name, *known);
  return true;
}

/// Omits members whose value is not known. auto() is one more than the previous member, or the next power of two for
/// flags; if the previous member is not the greatest, Python versions differ and the value is treated as unknown.
void ModuleScope::add_enumeration(SyntaxNode class_definition, bool is_flag) {
  ModuleScope inside(module_, this);  // later members may refer to earlier ones
  std::int64_t next = 1;
  bool counts = true;  // whether `next` is the value of auto()
  std::int64_t greatest = std::numeric_limits<std::int64_t>::min();
  for (const SyntaxNode statement : class_definition.part(SyntaxField::kBody).children()) {
    for (const SyntaxNode part : statement.children()) {
      const SyntaxNode left = part.part(SyntaxField::kLeft);
      if (!part.is(SyntaxKind::kAssignment)) continue;
      const SyntaxNode right = part.part(SyntaxField::kRight);
      const SyntaxNode function = right.part(SyntaxField::kFunction);
      const std::string_view name =
          function.is(SyntaxKind::kAttribute) ? function.part(SyntaxField::kAttribute).text() : function.text();
      const bool is_auto =
          right.is(SyntaxKind::kCall) && name == "auto" && right.part(SyntaxField::kArguments).children().empty();
      if (!is_auto) inside.define(left.text(), right);
      else if (counts) inside.constants_by_name_.emplace(left.text(), Constant::integer(next));
      const auto made = inside.constants_by_name_.find(left.text());
      const bool is_known = made != inside.constants_by_name_.end() && made->second.type.is_integer_scalar();
      if (!is_known && made != inside.constants_by_name_.end()) inside.constants_by_name_.erase(made);
      // An unknown member may be greater than all later ones.
      const std::int64_t value = is_known ? made->second.number().integer : std::numeric_limits<std::int64_t>::max();
      counts = is_known && value >= greatest && value <= kLargestMember && value >= (is_flag ? 0 : -kLargestMember);
      greatest = std::max(greatest, value);
      if (!counts) continue;
      const auto highest_bit = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(value)));
      next = is_flag ? std::max<std::int64_t>(1, 2 * highest_bit) : value + 1;
    }
  }
  enumerations_.insert_or_assign(std::string(class_definition.part(SyntaxField::kName).text()),
                                 std::move(inside.constants_by_name_));
}

Result<void> ModuleScope::add_struct(SyntaxNode class_definition) {
  const std::string name(class_definition.part(SyntaxField::kName).text());
  ir::StructDef definition{.name = name, .fields = {}};
  if (class_definition.part(SyntaxField::kSuperclasses)) return Error{"structs cannot have base classes"};
  for (const SyntaxNode statement : class_definition.part(SyntaxField::kBody).children()) {
    const auto parts = statement.children();
    if (statement.is(SyntaxKind::kPass) || (parts.size() == 1 && parts[0].is(SyntaxKind::kString))) continue;
    const bool is_field = statement.is(SyntaxKind::kExpressionStatement) && parts.size() == 1 &&
                          parts[0].is(SyntaxKind::kAssignment) && parts[0].part(SyntaxField::kType) &&
                          parts[0].part(SyntaxField::kLeft).is(SyntaxKind::kIdentifier);
    if (!is_field) return Error{fmt::format("struct fields must be annotated names, got '{}'", describe(statement))};
    if (parts[0].part(SyntaxField::kRight)) return Error{"struct fields cannot have default values"};
    const std::string_view field = parts[0].part(SyntaxField::kLeft).text();
    auto field_type = type(parts[0].part(SyntaxField::kType));
    if (!field_type.ok()) return Error{fmt::format("field '{}': {}", field, field_type.error().message)};
    const auto has_its_name = [&](const ir::Field& other) { return other.name == field; };
    if (std::ranges::any_of(definition.fields, has_its_name))
      return Error{fmt::format("field '{}' is declared twice", field)};
    definition.fields.push_back({std::string(field), *field_type});
  }
  if (definition.fields.empty()) return Error{"struct must have at least one field"};
  types_by_name_.insert_or_assign(name, ir::struct_type(static_cast<int>(module_.structs.size())));
  module_.structs.push_back(std::move(definition));
  return {};
}

std::string_view ModuleScope::module_name(SyntaxNode name) const {
  const ModuleScope* scope = owner(name.text());
  if (scope == nullptr) return {};
  const auto found = scope->modules_by_alias_.find(name.text());
  return found == scope->modules_by_alias_.end() ? std::string_view() : std::string_view(found->second);
}

const ModuleScope* ModuleScope::member_owner(SyntaxNode attribute) const {
  const SyntaxNode object = attribute.part(SyntaxField::kObject);
  if (!object.is(SyntaxKind::kIdentifier) || file_module(object.text()) == nullptr) return nullptr;
  return owner(attribute.text());
}

std::string ModuleScope::name_of_warp() const {
  for (const ModuleScope* scope = this; scope != nullptr; scope = scope->enclosing_scope_) {
    const auto found =
        std::ranges::find(scope->modules_by_alias_, "warp", [](const auto& entry) { return entry.second; });
    if (found != scope->modules_by_alias_.end()) return found->first;
  }
  return {};
}

std::string ModuleScope::warp_name(SyntaxNode node) const {
  if (node.is(SyntaxKind::kIdentifier)) {
    const ModuleScope* scope = owner(node.text());
    if (scope == nullptr) return {};
    const auto found = scope->warp_names_by_imported_name_.find(node.text());
    return found == scope->warp_names_by_imported_name_.end() ? "" : found->second;
  }
  if (!node.is(SyntaxKind::kAttribute)) return {};
  const SyntaxNode object = node.part(SyntaxField::kObject);
  if (const ModuleScope* scope = member_owner(node)) {
    const auto found = scope->warp_names_by_imported_name_.find(node.text());
    return found == scope->warp_names_by_imported_name_.end() ? "" : found->second;
  }
  const std::string_view name = node.part(SyntaxField::kAttribute).text();
  if (object.is(SyntaxKind::kIdentifier)) {
    const std::string_view module = module_name(object);
    if (module == "warp") return std::string(name);
    if (module == "warp.types") return fmt::format("types.{}", name);
  }
  const std::string outer = warp_name(object);
  return outer.empty() ? "" : fmt::format("{}.{}", outer, name);
}

Result<ir::Type> ModuleScope::type(SyntaxNode expression) const {
  switch (expression.kind()) {
    case SyntaxKind::kType: {
      const auto inner = expression.children();
      return inner.size() == 1 ? type(inner[0]) : Result<ir::Type>(unknown_type(expression));
    }
    case SyntaxKind::kString: {
      return type_in_string(expression);
    }
    case SyntaxKind::kIdentifier: {
      const std::string_view name = expression.text();
      if (const ModuleScope* scope = owner(name)) {
        if (const auto found = scope->types_by_name_.find(name); found != scope->types_by_name_.end())
          return found->second;
      }
      if (name == "float") return ir::kF32;
      if (name == "int") return ir::kI32;
      if (name == "bool") return ir::kBool;
      if (name == "Any")
        return Error{
            "'Any' is not a type that can be used here; a parameter annotated with Any takes the type of each call's "
            "argument"};
      if (const std::string why = reason_unknown(name); !why.empty()) return Error{fmt::format("'{}': {}", name, why)};
      break;
    }
    case SyntaxKind::kAttribute: {
      const ModuleScope* scope = member_owner(expression);
      if (scope == nullptr) break;
      const auto found = scope->types_by_name_.find(expression.text());
      if (found != scope->types_by_name_.end()) return found->second;
      if (const std::string why = reason_unknown(expression.text()); !why.empty())
        return Error{fmt::format("'{}': {}", expression.text(), why)};
      break;
    }
    case SyntaxKind::kCall: return type_of_call(expression);
    case SyntaxKind::kSubscript: {
      const int rank = array_rank(warp_name(expression.part(SyntaxField::kValue)));
      const auto parts = expression.children();
      if (rank == 0 || parts.size() != 2) return unknown_type(expression);
      return type(parts[1]).map([&](ir::Type element) { return element.array_of(rank); });
    }
    default: break;
  }
  const std::string name = warp_name(expression);
  const ir::Type known = warp_type(name);
  if (!known.is_void()) return known;
  if (name == "array") return Error{"array dtype is missing"};
  return unknown_type(expression);
}

/// The type named by a string annotation, 'wp.vec3'.
Result<ir::Type> ModuleScope::type_in_string(SyntaxNode string) const {
  std::string_view text = string.text();
  const bool is_plain = text.size() > 2 && (text.front() == '"' || text.front() == '\'') && text[1] != text[0];
  if (!is_plain) return unknown_type(string);
  text = text.substr(1, text.size() - 2);
  const auto tree = SyntaxTree::parse(std::string(text));
  if (!tree.ok() || tree->root().has_error()) return unknown_type(string);
  const auto statements = tree->root().children();
  const auto parts = statements.size() == 1 ? statements[0].children() : std::span<const SyntaxNode>();
  if (parts.size() != 1 || parts[0].is(SyntaxKind::kString)) return unknown_type(string);
  return type(parts[0]);
}

Result<ir::Type> ModuleScope::type_of_call(SyntaxNode call) const {
  const std::string name = warp_name(call.part(SyntaxField::kFunction));
  if (array_rank(name) > 0) return array_type(array_rank(name), call);
  if (name == "types.vector" || name == "types.matrix") return vector_or_matrix(name, call);
  if (name == "types.quaternion" || name == "types.transformation") return quaternion_or_transform(name, call);
  if (indexed_array_rank(name) > 0) return Error{"indexed arrays are supported as parameters only"};
  if (name.ends_with("array")) return Error{fmt::format("wp.{} is not supported; use wp.array", name)};
  return unknown_type(call);
}

bool ModuleScope::is_indexed_array(SyntaxNode annotation) const {
  if (!annotation) return false;
  if (annotation.is(SyntaxKind::kType) && annotation.children().size() == 1)
    return is_indexed_array(annotation.children()[0]);
  const bool is_call = annotation.is(SyntaxKind::kCall);
  if (!is_call && !annotation.is(SyntaxKind::kSubscript)) return false;
  const SyntaxNode head = annotation.part(is_call ? SyntaxField::kFunction : SyntaxField::kValue);
  return indexed_array_rank(warp_name(head)) > 0;
}

SyntaxNode ModuleScope::referenced_type(SyntaxNode annotation) const {
  if (!annotation) return {};
  if (annotation.is(SyntaxKind::kType) && annotation.children().size() == 1)
    return referenced_type(annotation.children()[0]);
  const bool is_reference = annotation.is(SyntaxKind::kSubscript) && annotation.children().size() == 2 &&
                            warp_name(annotation.part(SyntaxField::kValue)) == "ref";
  return is_reference ? annotation.children()[1] : SyntaxNode();
}

Result<ir::Type> ModuleScope::indexed_array_type(SyntaxNode annotation) const {
  if (annotation.is(SyntaxKind::kType)) return indexed_array_type(annotation.children()[0]);
  if (annotation.is(SyntaxKind::kCall)) {
    return array_type(indexed_array_rank(warp_name(annotation.part(SyntaxField::kFunction))), annotation);
  }
  const int rank = indexed_array_rank(warp_name(annotation.part(SyntaxField::kValue)));
  const auto parts = annotation.children();
  if (parts.size() != 2) return unknown_type(annotation);
  return type(parts[1]).map([&](ir::Type element) { return element.array_of(rank); });
}

Result<ir::Type> ModuleScope::array_type(int rank, SyntaxNode call) const {
  const CallArguments arguments = arguments_of(call);
  SyntaxNode element;
  for (const auto& [name, value] : arguments.keyword_arguments) {
    if (name == "dtype") {
      element = value;
    } else if (name == "ndim") {
      const auto number = constant(value);
      if (!number || !number->type.is_integer_scalar()) return Error{"array ndim must be a compile-time constant"};
      rank = static_cast<int>(std::clamp<std::int64_t>(number->number().integer, 0, 5));
    } else {
      return Error{fmt::format("array type argument '{}' is not supported", name)};
    }
  }
  if (!arguments.positional_arguments.empty() || arguments.has_star_argument)
    return Error{"array types take dtype=... and ndim=... only"};
  if (!element) return Error{"array dtype is missing"};
  if (rank < 1 || rank > 4) return Error{"array must have 1 to 4 dimensions"};
  if (rank > 2 && warp_name(call.part(SyntaxField::kFunction)).ends_with("fabricarray"))
    return Error{"fabric arrays must have 1 or 2 dimensions"};
  auto dtype = type(element);
  if (!dtype.ok()) return dtype;
  if (dtype->is_array()) return Error{"arrays of arrays are not supported"};
  return dtype->array_of(rank);
}

Result<ir::Type> ModuleScope::vector_or_matrix(std::string_view name, SyntaxNode call) const {
  const CallArguments arguments = arguments_of(call);
  const bool is_vector = name == "types.vector";
  const auto argument = [&](std::size_t position, std::string_view keyword) -> SyntaxNode {
    if (position < arguments.positional_arguments.size()) return arguments.positional_arguments[position];
    const auto found = arguments.keyword_arguments.find(keyword);
    return found == arguments.keyword_arguments.end() ? SyntaxNode() : found->second;
  };
  const SyntaxNode size = argument(0, is_vector ? "length" : "shape");
  const SyntaxNode dtype = argument(1, "dtype");
  if (!size || !dtype) return Error{fmt::format("wp.{} requires a size and a dtype", name)};
  auto component = type(dtype);
  if (!component.ok()) return component;
  if (!component->is_scalar()) return Error{"vector and matrix components must be scalars"};
  return sized_type(size, *component, is_vector);
}

Result<ir::Type> ModuleScope::quaternion_or_transform(std::string_view name, SyntaxNode call) const {
  const CallArguments arguments = arguments_of(call);
  const auto named = arguments.keyword_arguments.find("dtype");
  const bool is_named = arguments.positional_arguments.empty() && arguments.keyword_arguments.size() == 1 &&
                        named != arguments.keyword_arguments.end();
  const bool is_first =
      arguments.positional_arguments.size() == 1 && arguments.keyword_arguments.empty() && !arguments.has_star_argument;
  if (!is_named && !is_first) return Error{fmt::format("wp.{} requires a dtype", name)};
  auto component = type(is_named ? named->second : arguments.positional_arguments[0]);
  if (!component.ok()) return component;
  if (!component->is_float_scalar()) return Error{"quaternion and transform components must be floats"};
  return name == "types.quaternion" ? ir::quaternion_type(component->scalar) : ir::transform_type(component->scalar);
}

Result<ir::Type> ModuleScope::sized_type(SyntaxNode size, ir::Type component, bool is_vector) const {
  std::vector<int> extents;
  for (const SyntaxNode extent : size.elements({SyntaxKind::kTuple})) {
    const auto number = constant(extent);
    if (!number || !number->type.is_integer_scalar())
      return Error{fmt::format("'{}' is not a compile-time constant", extent.text())};
    extents.push_back(static_cast<int>(std::clamp<std::int64_t>(number->number().integer, 0, 1000)));
  }
  int components = 1;
  for (const int extent : extents)
    components *= extent;
  const bool fits =
      std::ranges::all_of(extents, [](int extent) { return extent >= 1 && extent <= ir::kMaxMatrixSide; });
  if (extents.size() != (is_vector ? 1U : 2U) || !fits || components > ir::kMaxMatrixComponents)
    return is_vector
               ? Error{fmt::format("a vector must have 1 to {} components, got {}", ir::kMaxMatrixSide, size.text())}
               : Error{fmt::format("a matrix must have 1 to {} components in at most {} rows and columns, got {}",
                                   ir::kMaxMatrixComponents, ir::kMaxMatrixSide, size.text())};
  return is_vector ? ir::vector_type(component.scalar, extents[0])
                   : ir::matrix_type(component.scalar, extents[0], extents[1]);
}

std::string ModuleScope::reason_unknown(std::string_view name) const {
  const ModuleScope* scope = owner(name);
  if (scope == nullptr) return {};
  if (scope->enumerations_.contains(name)) return "the value of this enumeration member is known only when Python runs";
  const auto found = scope->reasons_by_unknown_name_.find(name);
  return found == scope->reasons_by_unknown_name_.end() ? "" : found->second;
}

}  // namespace assay::frontend
