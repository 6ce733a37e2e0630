#include "frontend/warp/parse/module_scope.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "frontend/warp/parse/warp_names.hpp"

namespace assay::frontend {
namespace {

/// Members of enumerations beyond are not counted on from.
constexpr std::int64_t kLargestMember = std::int64_t{1} << 40;

Error unknown_type(Node expression) {
  return Error{fmt::format("'{}' is not a type that the reader knows", expression.text())};
}

}  // namespace

int array_rank(std::string_view name) {
  if (name == "array" || name == "array1d") return 1;
  if (name == "array2d") return 2;
  if (name == "array3d") return 3;
  if (name == "array4d") return 4;
  return 0;
}

Arguments arguments_of(Node call) {
  Arguments arguments;
  for (const Node argument : call.part(Part::kArguments).children()) {
    if (argument.is(Syntax::kKeywordArgument)) {
      arguments.keyword.emplace(argument.part(Part::kName).text(), argument.part(Part::kValue));
    } else {
      if (argument.grammar_name().ends_with("splat")) arguments.has_star = true;
      arguments.positional.push_back(argument);
    }
  }
  return arguments;
}

void ModuleScope::add_import(Node statement) {
  const bool is_from = statement.is(Syntax::kImportFrom);
  const Node module = is_from ? statement.part(Part::kModuleName) : Node();
  for (const Node item : statement.children()) {
    if (is_from && item.id() == module.id()) continue;
    const bool renamed = item.is(Syntax::kAliasedImport);
    const std::string_view name = renamed ? item.part(Part::kName).text() : item.text();
    const std::string_view alias = renamed ? item.part(Part::kAlias).text() : name.substr(0, name.find('.'));
    if (!is_from) {
      modules_[std::string(alias)] = renamed ? name : alias;
    } else if (module.text() == "warp") {
      imported_[std::string(alias)] = name;
    } else {
      forbid(alias, fmt::format("it comes from module '{}', which only Python can load", module.text()));
    }
  }
}

bool ModuleScope::knows(std::string_view name) const {
  return constants_.contains(name) || types_.contains(name) || unknown_.contains(name) || imported_.contains(name) ||
         modules_.contains(name) || enumerations_.contains(name) || deferred_.contains(name) ||
         file_modules_.contains(name);
}

void ModuleScope::defer(std::string_view name, std::function<void()> settle) {
  if (knows(name)) return forbid(name, "it is assigned more than once");
  deferred_.emplace(name, std::move(settle));
}

void ModuleScope::forget_import(std::string_view name) {
  deferred_.erase(std::string(name));
  file_modules_.erase(std::string(name));
}

bool ModuleScope::settle(std::string_view name) const {
  if (const std::size_t dot = name.find('.'); dot != std::string_view::npos) {
    settle(name.substr(0, dot));
    const auto module = file_modules_.find(name.substr(0, dot));
    if (module == file_modules_.end() || !brought_.emplace(name).second) return false;
    module->second.bring(std::string(name), std::string(name.substr(dot + 1)));
    return true;
  }
  const auto found = deferred_.find(name);
  if (found == deferred_.end()) return false;
  // Taken out first: where files import from one another, the name may be asked for again.
  const std::function<void()> find_meaning = std::move(found->second);
  deferred_.erase(found);
  find_meaning();
  return true;
}

void ModuleScope::add_module(std::string_view name, FileModule module,
                             std::function<void(const std::string& name, const std::string& member)> bring) {
  file_modules_.insert_or_assign(std::string(name),
                                 NamedModule{.module = std::move(module), .bring = std::move(bring)});
}

const ModuleScope::FileModule* ModuleScope::file_module(std::string_view name) const {
  const ModuleScope* scope = owner(name);
  if (scope == nullptr) return nullptr;
  const auto found = scope->file_modules_.find(name);
  return found == scope->file_modules_.end() ? nullptr : &found->second.module;
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
  return take(constants_, scope->constants_) || take(types_, scope->types_) ||
         take(enumerations_, scope->enumerations_) || take(imported_, scope->imported_) ||
         take(modules_, scope->modules_);
}

const ModuleScope* ModuleScope::owner(std::string_view name) const {
  const ModuleScope* scope = this;
  while (scope != nullptr && !scope->settle(name) && !scope->knows(name))
    scope = scope->outer_;
  return scope;
}

bool ModuleScope::bind(std::string_view name, Node expression, const ModuleScope& from) {
  if (auto number = from.constant(expression)) {
    constants_.emplace(name, std::move(*number));
  } else if (const auto known = from.type(expression); known.ok()) {
    types_.emplace(name, *known);
  } else if (const std::string warp = from.warp_name(expression); !warp.empty()) {
    bind_warp(name, warp);
  } else {
    return false;
  }
  return true;
}

void ModuleScope::forbid(std::string_view name, std::string reason) {
  constants_.erase(std::string(name));
  types_.erase(std::string(name));
  enumerations_.erase(std::string(name));
  deferred_.erase(std::string(name));
  file_modules_.erase(std::string(name));
  unknown_.insert_or_assign(std::string(name), std::move(reason));
}

void ModuleScope::add_assignment(Node assignment) {
  const Node left = assignment.part(Part::kLeft);
  const Node right = assignment.part(Part::kRight);
  if (!right || assignment.is(Syntax::kAugmentedAssignment) || !left.is(Syntax::kIdentifier)) {
    const auto names = left.is(Syntax::kIdentifier) ? left.elements({}) : left.children();
    for (const Node name : names)
      forbid(name.text(), "its value is not a plain assignment");
    return;
  }
  if (right.is(Syntax::kAssignment)) {
    add_assignment(right);
    define(left.text(), right.part(Part::kLeft));
  } else {
    define(left.text(), right);
  }
}

void ModuleScope::define(std::string_view name, Node value) {
  if (constants_.contains(name) || types_.contains(name) || unknown_.contains(name) || enumerations_.contains(name) ||
      deferred_.contains(name)) {
    forbid(name, "it is assigned more than once");
  } else if (auto number = constant(value)) {
    constants_.emplace(name, std::move(*number));
  } else if (const auto known = type(value); known.ok() && !known->is_array()) {
    types_.emplace(name, *known);
  } else {
    forbid(name, fmt::format("its value '{}' is known only when Python runs", describe(value)));
  }
}

bool ModuleScope::add_class(Node class_definition) {
  const std::string_view name = class_definition.part(Part::kName).text();
  if (knows(name)) return false;
  const auto bases = class_definition.part(Part::kSuperclasses).children();
  if (bases.size() != 1) return false;
  const Node base = bases[0];
  const std::string_view base_name = base.is(Syntax::kAttribute) ? base.part(Part::kAttribute).text() : base.text();
  if (base_name == "IntEnum" || base_name == "IntFlag") {
    add_enumeration(class_definition, base_name == "IntFlag");
    return true;
  }
  const auto known = base.is(Syntax::kCall) ? type(base) : Result<ir::Type>(unknown_type(base));
  if (!known.ok() || !known->is_aggregate()) return false;
  const auto says_nothing = [](Node statement) {
    const auto parts = statement.children();
    return statement.is(Syntax::kPass) || (parts.size() == 1 && parts[0].is(Syntax::kString));
  };
  if (!std::ranges::all_of(class_definition.part(Part::kBody).children(), says_nothing)) return false;
  types_.emplace(name, *known);
  return true;
}

/// Members whose value is not known here are left out. auto() is one more than the member before, of flags the next
/// power of two; versions of Python differ where the member before is not the greatest, and then it is not known
/// either.
void ModuleScope::add_enumeration(Node class_definition, bool is_flag) {
  ModuleScope inside(module_, this);  // a member may be named by those behind it
  std::int64_t next = 1;
  bool counts = true;  // whether `next` is what auto() gives
  std::int64_t greatest = std::numeric_limits<std::int64_t>::min();
  for (const Node statement : class_definition.part(Part::kBody).children()) {
    for (const Node part : statement.children()) {
      const Node left = part.part(Part::kLeft);
      if (!part.is(Syntax::kAssignment)) continue;
      const Node right = part.part(Part::kRight);
      const Node function = right.part(Part::kFunction);
      const std::string_view name =
          function.is(Syntax::kAttribute) ? function.part(Part::kAttribute).text() : function.text();
      const bool is_auto = right.is(Syntax::kCall) && name == "auto" && right.part(Part::kArguments).children().empty();
      if (!is_auto) inside.define(left.text(), right);
      else if (counts) inside.constants_.emplace(left.text(), Constant::integer(next));
      const auto made = inside.constants_.find(left.text());
      const bool is_known = made != inside.constants_.end() && made->second.type.is_integer_scalar();
      if (!is_known && made != inside.constants_.end()) inside.constants_.erase(made);
      // One that is not known may be greater than all behind it.
      const std::int64_t value = is_known ? made->second.number().integer : std::numeric_limits<std::int64_t>::max();
      counts = is_known && value >= greatest && value <= kLargestMember && value >= (is_flag ? 0 : -kLargestMember);
      greatest = std::max(greatest, value);
      if (!counts) continue;
      const auto highest_bit = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(value)));
      next = is_flag ? std::max<std::int64_t>(1, 2 * highest_bit) : value + 1;
    }
  }
  enumerations_.insert_or_assign(std::string(class_definition.part(Part::kName).text()), std::move(inside.constants_));
}

Result<void> ModuleScope::add_struct(Node class_definition) {
  const std::string name(class_definition.part(Part::kName).text());
  ir::StructDef definition{.name = name, .fields = {}};
  if (class_definition.part(Part::kSuperclasses)) return Error{"a struct cannot inherit"};
  for (const Node statement : class_definition.part(Part::kBody).children()) {
    const auto parts = statement.children();
    if (statement.is(Syntax::kPass) || (parts.size() == 1 && parts[0].is(Syntax::kString))) continue;
    const bool is_field = statement.is(Syntax::kExpressionStatement) && parts.size() == 1 &&
                          parts[0].is(Syntax::kAssignment) && parts[0].part(Part::kType) &&
                          parts[0].part(Part::kLeft).is(Syntax::kIdentifier);
    if (!is_field) return Error{fmt::format("a struct holds annotated fields only, not '{}'", describe(statement))};
    if (parts[0].part(Part::kRight)) return Error{"a field cannot have a default value"};
    const std::string_view field = parts[0].part(Part::kLeft).text();
    auto field_type = type(parts[0].part(Part::kType));
    if (!field_type.ok()) return Error{fmt::format("field '{}': {}", field, field_type.error().message)};
    const auto has_its_name = [&](const ir::Field& other) { return other.name == field; };
    if (std::ranges::any_of(definition.fields, has_its_name))
      return Error{fmt::format("field '{}' is declared twice", field)};
    definition.fields.push_back({std::string(field), *field_type});
  }
  if (definition.fields.empty()) return Error{"a struct needs at least one field"};
  types_.insert_or_assign(name, ir::struct_type(static_cast<int>(module_.structs.size())));
  module_.structs.push_back(std::move(definition));
  return {};
}

std::string_view ModuleScope::module_name(Node name) const {
  const ModuleScope* scope = owner(name.text());
  if (scope == nullptr) return {};
  const auto found = scope->modules_.find(name.text());
  return found == scope->modules_.end() ? std::string_view() : std::string_view(found->second);
}

const ModuleScope* ModuleScope::member_owner(Node attribute) const {
  const Node object = attribute.part(Part::kObject);
  if (!object.is(Syntax::kIdentifier) || file_module(object.text()) == nullptr) return nullptr;
  return owner(attribute.text());
}

std::string ModuleScope::name_of_warp() const {
  for (const ModuleScope* scope = this; scope != nullptr; scope = scope->outer_) {
    const auto found = std::ranges::find(scope->modules_, "warp", [](const auto& entry) { return entry.second; });
    if (found != scope->modules_.end()) return found->first;
  }
  return {};
}

std::string ModuleScope::warp_name(Node node) const {
  if (node.is(Syntax::kIdentifier)) {
    const ModuleScope* scope = owner(node.text());
    if (scope == nullptr) return {};
    const auto found = scope->imported_.find(node.text());
    return found == scope->imported_.end() ? "" : found->second;
  }
  if (!node.is(Syntax::kAttribute)) return {};
  const Node object = node.part(Part::kObject);
  if (const ModuleScope* scope = member_owner(node)) {
    const auto found = scope->imported_.find(node.text());
    return found == scope->imported_.end() ? "" : found->second;
  }
  const std::string_view name = node.part(Part::kAttribute).text();
  if (object.is(Syntax::kIdentifier)) {
    const std::string_view module = module_name(object);
    if (module == "warp") return std::string(name);
    if (module == "warp.types") return fmt::format("types.{}", name);
  }
  const std::string outer = warp_name(object);
  return outer.empty() ? "" : fmt::format("{}.{}", outer, name);
}

Result<ir::Type> ModuleScope::type(Node expression) const {
  switch (expression.kind()) {
    case Syntax::kType: {
      const auto inner = expression.children();
      return inner.size() == 1 ? type(inner[0]) : Result<ir::Type>(unknown_type(expression));
    }
    case Syntax::kString: {
      return type_in_string(expression);
    }
    case Syntax::kIdentifier: {
      const std::string_view name = expression.text();
      if (const ModuleScope* scope = owner(name)) {
        if (const auto found = scope->types_.find(name); found != scope->types_.end()) return found->second;
      }
      if (name == "float") return ir::kF32;
      if (name == "int") return ir::kI32;
      if (name == "bool") return ir::kBool;
      if (name == "Any") return Error{"a generic argument gets its type only when Python calls it"};
      if (const std::string why = why_unknown(name); !why.empty()) return Error{fmt::format("'{}': {}", name, why)};
      break;
    }
    case Syntax::kAttribute: {
      const ModuleScope* scope = member_owner(expression);
      if (scope == nullptr) break;
      const auto found = scope->types_.find(expression.text());
      if (found != scope->types_.end()) return found->second;
      if (const std::string why = why_unknown(expression.text()); !why.empty())
        return Error{fmt::format("'{}': {}", expression.text(), why)};
      break;
    }
    case Syntax::kCall: return type_of_call(expression);
    case Syntax::kSubscript: {
      const int rank = array_rank(warp_name(expression.part(Part::kValue)));
      const auto parts = expression.children();
      if (rank == 0 || parts.size() != 2) return unknown_type(expression);
      return type(parts[1]).map([&](ir::Type element) { return element.array_of(rank); });
    }
    default: break;
  }
  const std::string name = warp_name(expression);
  const ir::Type known = warp_type(name);
  if (!known.is_void()) return known;
  if (name == "array") return Error{"the array's dtype is missing"};
  return unknown_type(expression);
}

/// A type written as text, 'wp.vec3', is the type that the text would name.
Result<ir::Type> ModuleScope::type_in_string(Node string) const {
  std::string_view text = string.text();
  const bool is_plain = text.size() > 2 && (text.front() == '"' || text.front() == '\'') && text[1] != text[0];
  if (!is_plain) return unknown_type(string);
  text = text.substr(1, text.size() - 2);
  const auto tree = SyntaxTree::parse(std::string(text));
  if (!tree.ok() || tree->root().has_error()) return unknown_type(string);
  const auto statements = tree->root().children();
  const auto parts = statements.size() == 1 ? statements[0].children() : std::span<const Node>();
  if (parts.size() != 1 || parts[0].is(Syntax::kString)) return unknown_type(string);
  return type(parts[0]);
}

Result<ir::Type> ModuleScope::type_of_call(Node call) const {
  const std::string name = warp_name(call.part(Part::kFunction));
  if (array_rank(name) > 0) return array_type(name, call);
  if (name == "types.vector" || name == "types.matrix") return vector_or_matrix(name, call);
  if (name.ends_with("array")) return Error{fmt::format("wp.{} is not read; only wp.array is", name)};
  return unknown_type(call);
}

Result<ir::Type> ModuleScope::array_type(std::string_view constructor, Node call) const {
  const Arguments arguments = arguments_of(call);
  int rank = array_rank(constructor);
  Node element;
  for (const auto& [name, value] : arguments.keyword) {
    if (name == "dtype") {
      element = value;
    } else if (name == "ndim") {
      const auto number = constant(value);
      if (!number || !number->type.is_integer_scalar()) return Error{"the array's ndim is not a number"};
      rank = static_cast<int>(std::clamp<std::int64_t>(number->number().integer, 0, 5));
    } else {
      return Error{fmt::format("the argument '{}' of an array type is not read", name)};
    }
  }
  if (!arguments.positional.empty() || arguments.has_star) return Error{"an array type takes dtype=... and ndim=..."};
  if (!element) return Error{"the array's dtype is missing, so it is generic"};
  if (rank < 1 || rank > 4) return Error{"an array has 1 to 4 dimensions"};
  auto dtype = type(element);
  if (!dtype.ok()) return dtype;
  if (dtype->is_array()) return Error{"an array of arrays is not read"};
  return dtype->array_of(rank);
}

Result<ir::Type> ModuleScope::vector_or_matrix(std::string_view name, Node call) const {
  const Arguments arguments = arguments_of(call);
  const bool is_vector = name == "types.vector";
  const auto argument = [&](std::size_t position, std::string_view keyword) -> Node {
    if (position < arguments.positional.size()) return arguments.positional[position];
    const auto found = arguments.keyword.find(keyword);
    return found == arguments.keyword.end() ? Node() : found->second;
  };
  const Node size = argument(0, is_vector ? "length" : "shape");
  const Node dtype = argument(1, "dtype");
  if (!size || !dtype) return Error{fmt::format("wp.{} needs its size and dtype", name)};
  auto component = type(dtype);
  if (!component.ok()) return component;
  if (!component->is_scalar()) return Error{"the components of a vector or matrix are scalars"};
  return sized_type(size, *component, is_vector);
}

Result<ir::Type> ModuleScope::sized_type(Node size, ir::Type component, bool is_vector) const {
  std::vector<int> extents;
  for (const Node extent : size.elements({Syntax::kTuple})) {
    const auto number = constant(extent);
    if (!number || !number->type.is_integer_scalar())
      return Error{fmt::format("'{}' is not a known number", extent.text())};
    extents.push_back(static_cast<int>(std::clamp<std::int64_t>(number->number().integer, 0, 255)));
  }
  const bool fits = std::all_of(extents.begin(), extents.end(), [](int extent) { return extent >= 1 && extent <= 16; });
  if (extents.size() != (is_vector ? 1U : 2U) || !fits)
    return Error{"a vector or matrix has 1 to 16 components a side"};
  return is_vector ? ir::vector_type(component.scalar, extents[0])
                   : ir::matrix_type(component.scalar, extents[0], extents[1]);
}

std::string ModuleScope::why_unknown(std::string_view name) const {
  const ModuleScope* scope = owner(name);
  if (scope == nullptr) return {};
  if (scope->enumerations_.contains(name)) return "the value of this member is known only when Python runs";
  const auto found = scope->unknown_.find(name);
  return found == scope->unknown_.end() ? "" : found->second;
}

}  // namespace assay::frontend
