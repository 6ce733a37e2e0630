// The part of WarpExpressionParser that parses calls.
#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "frontend/warp/parse/expression_parser.hpp"
#include "frontend/warp/parse/warp_names.hpp"
#include "ir/library.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;
using ir::Op;

std::string WarpExpressionParser::warp_function_name(SyntaxNode call) const {
  const SyntaxNode function = call.part(SyntaxField::kFunction);
  std::string name = context_.scope().warp_name(function);
  if (name.empty() && function.is(SyntaxKind::kAttribute)) {
    // As in Warp, math.sqrt and np.sqrt are wp.sqrt; functions that Warp lacks, such as math.hypot, are rejected.
    const std::string_view module = context_.scope().module_name(function.part(SyntaxField::kObject));
    const std::string_view member = function.part(SyntaxField::kAttribute).text();
    const bool is_known = warp_function(member).has_value() || ir::is_in_library(member);
    if ((module == "math" || module == "numpy") && is_known) return std::string(member);
  }
  if (!name.empty() || !function.is(SyntaxKind::kIdentifier)) return name;
  const std::string_view text = function.text();
  const bool taken = context_.bindings.find(text) != kNone || context_.data_flow.assignments(text) > 0 ||
                     !context_.scope().reason_unknown(text).empty() || is_file_function(call);
  return taken ? "" : std::string(text);
}

/// The type of type(x), x.dtype, or a type name in scope.
Result<ir::Type> WarpExpressionParser::type_of_node(SyntaxNode node) {
  const bool is_type_call = node.is(SyntaxKind::kCall) && node.part(SyntaxField::kFunction).text() == "type";
  if (is_type_call) {
    const auto given = arguments_of(node).positional_arguments;
    if (given.size() != 1) return Error{"type() takes one argument"};
    const ExprId value = this->value(given[0]);
    return value == kNone ? Result<ir::Type>(Error{"the argument of type() has no value, so it has no type"})
                          : context_.type_of(value);
  }
  if (node.is(SyntaxKind::kAttribute) && node.part(SyntaxField::kAttribute).text() == "dtype") {
    const SyntaxNode object = node.part(SyntaxField::kObject);
    if (is_array_expression(object)) {
      const AssignmentTarget array = place(object);
      if (array.can_be_indexed()) return array.type.element();
    } else if (const auto whole = type_with_components(object);
               whole && !whole->is_scalar() && whole->components() > 0) {
      return whole->component();
    }
  }
  return context_.scope().type(node);
}

/// The type of x in x.dtype, if x is y.dtype or belongs to a variable.
std::optional<ir::Type> WarpExpressionParser::type_with_components(SyntaxNode node) {
  if (node.is(SyntaxKind::kAttribute) && node.part(SyntaxField::kAttribute).text() == "dtype") {
    const auto type = type_of_node(node);
    return type.ok() ? std::optional(*type) : std::nullopt;
  }
  SyntaxNode root = node;
  while (root.is(SyntaxKind::kAttribute) || root.is(SyntaxKind::kSubscript))
    root = root.part(root.is(SyntaxKind::kAttribute) ? SyntaxField::kObject : SyntaxField::kValue);
  if (!root.is(SyntaxKind::kIdentifier) || context_.bindings.find(root.text()) == kNone) return std::nullopt;
  const AssignmentTarget whole = place(node);
  return whole.failed() ? std::nullopt : std::optional(whole.type);
}

std::optional<int> WarpExpressionParser::component_count(SyntaxNode node) {
  if (!node.is(SyntaxKind::kAttribute) || node.part(SyntaxField::kAttribute).text() != "length") return std::nullopt;
  const SyntaxNode object = node.part(SyntaxField::kObject);
  std::optional<ir::Type> type;
  if (object.is(SyntaxKind::kCall) && object.part(SyntaxField::kFunction).text() == "type") {
    if (const auto named = type_of_node(object); named.ok()) type = *named;
  } else if (!is_array_expression(object)) {
    type = type_with_components(object);
  }
  const bool is_made_of_scalars = type && type->is_value() && !type->is_struct() && !type->is_scalar();
  return is_made_of_scalars ? std::optional(type->components()) : std::nullopt;
}

ExprId WarpExpressionParser::call(SyntaxNode node) {
  if (is_file_function(node)) return call_file_function(node);
  std::string name = warp_function_name(node);
  const SyntaxNode function = node.part(SyntaxField::kFunction);
  // As a function of values, wp.types.vector is wp.vector.
  for (const std::string_view constructor : {"vector", "matrix", "quaternion", "transformation"})
    if (name == fmt::format("types.{}", constructor)) name = constructor;
  const std::string maker =
      function.is(SyntaxKind::kCall) ? context_.scope().warp_name(function.part(SyntaxField::kFunction)) : "";
  if (maker.starts_with("types."))
    return context_.error(
        node,
        fmt::format("Warp does not compile a call of wp.{}(...) in a kernel; give the type a name at module level",
                    maker));
  if (const auto type = type_of_node(function); type.ok()) return type_call(node, *type);
  if (name.empty()) {
    const std::string why = context_.scope().reason_unknown(function.text());
    return context_.error(
        node, why.empty() ? "only Warp functions and functions decorated with @wp.func can be called" : why);
  }
  if (const std::string_view why = reason_unsupported(name); !why.empty())
    return context_.error(node, fmt::format("function is not supported: {}", why));
  if (name == "tid") return thread_index(node);
  if (name == "len") return length_of(node);
  if (name == "lower_bound") return search(node);
  if (name == "div_approx") return approximate_quotient(node);
  if (name == "inverse_approx") return warp_call(node, "inverse");
  if (name == "cast") return reinterpret(node);
  if (name == "block_dim") {
    const CallArguments arguments = arguments_of(node);
    const bool is_bare = arguments.positional_arguments.empty() && arguments.keyword_arguments.empty();
    return is_bare ? hidden_parameter(node, HiddenParameter::kBlockSize)
                   : context_.error(node, "wp.block_dim() takes no arguments");
  }
  if (is_thread_value_function(name)) return thread_value_call(node, name);
  if (is_mesh_function(name)) return mesh_call(node, name);
  if (name == "texture_sample") return texture_sample(node);
  if (is_spatial_function(name)) return spatial_call(node, name);
  if (is_volume_function(name)) return volume_call(node, name);
  if (name == "select")
    return context_.error(node, "wp.select was removed from Warp; use wp.where(condition, if_true, if_false)");
  if (name == "static") {
    const CallArguments arguments = arguments_of(node);
    const auto number = arguments.positional_arguments.size() == 1
                            ? context_.static_scope().constant(arguments.positional_arguments[0])
                            : std::nullopt;
    if (number) return constant(node, *number);
    // The length of a vector or matrix is known from its type.
    const SyntaxNode given =
        arguments.positional_arguments.size() == 1 ? arguments.positional_arguments[0] : SyntaxNode();
    const auto measured = given && given.is(SyntaxKind::kCall) && warp_function_name(given) == "len"
                              ? arguments_of(given).positional_arguments
                              : std::vector<SyntaxNode>();
    const bool is_length = measured.size() == 1 && measured[0].is(SyntaxKind::kIdentifier);
    const ExprId length = is_length ? length_of(given) : kNone;
    const bool is_known = length != kNone && context_.function.expr(length).kind == ir::ExprKind::kLiteral;
    return is_known ? length
                    : context_.error(node,
                                     "wp.static argument must be a compile-time constant; to evaluate names of the "
                                     "module in Python, run with --import");
  }
  if (const auto op = atomic(node)) {
    const ir::VarId result = atomic_call(node, *op, "old");
    context_.builder.at(node.loc());
    return result == kNone ? kNone : context_.builder.var(result);
  }
  if (is_random_function(name)) return random(node, name, "drawn");
  if (is_maker(name)) return make(node, name);
  if (name.starts_with("tile_")) return tile_call(node, name);
  return warp_call(node, name);
}

namespace {

/// An argument of a Warp function: its node, or the default value of an omitted parameter.
struct WarpArgument {
  SyntaxNode node;
  std::optional<Constant> omitted;
};

/// The arguments in the order of the first list of parameter names that has all keywords. `default_of` gives the
/// default value of a parameter, if it has one. Empty if no list fits.
template <class DefaultOf>
std::optional<std::vector<WarpArgument>> order_arguments(const std::vector<std::string_view>& lists,
                                                         const CallArguments& arguments, DefaultOf default_of) {
  std::vector<WarpArgument> positional;
  for (const SyntaxNode node : arguments.positional_arguments)
    positional.push_back({.node = node, .omitted = {}});
  // A starred argument stands for an unknown number of parameters, so the others have no known position.
  if (arguments.has_star_argument)
    return arguments.keyword_arguments.empty() ? std::optional(positional) : std::nullopt;
  for (const std::string_view names : lists) {
    std::vector<WarpArgument> all = positional;
    std::size_t used = 0;
    std::size_t number = 0;
    for (std::size_t at = 0; at <= names.size(); ++number) {
      const std::size_t end = std::min(names.find(' ', at), names.size());
      const std::string_view name = names.substr(at, end - at);
      const auto found = arguments.keyword_arguments.find(name);
      if (number == all.size() && found != arguments.keyword_arguments.end()) {
        all.push_back({.node = found->second, .omitted = {}});
        ++used;
      } else if (std::optional<Constant> value = default_of(name); number == all.size() && value) {
        all.push_back({.node = {}, .omitted = std::move(value)});
      }
      at = end + 1;
    }
    if (used == arguments.keyword_arguments.size()) return all;
  }
  return arguments.keyword_arguments.empty() ? std::optional(positional) : std::nullopt;
}

}  // namespace

bool WarpExpressionParser::match_named_arguments(SyntaxNode call, const std::vector<std::string_view>& lists,
                                                 std::vector<SyntaxNode>& given) {
  const CallArguments arguments = arguments_of(call);
  const auto ordered = order_arguments(lists, arguments, [](std::string_view) { return std::optional<Constant>(); });
  if (arguments.has_star_argument || !ordered) return false;
  given.clear();
  for (const WarpArgument& argument : *ordered)
    given.push_back(argument.node);
  return true;
}

/// An operation, or a function of the library.
ExprId WarpExpressionParser::warp_call(SyntaxNode node, std::string_view name) {
  const auto op = warp_function(name);
  if (!op && !ir::is_in_library(name)) return context_.error(node, "unknown or unsupported function");
  const CallArguments arguments = arguments_of(node);
  const auto given = order_arguments(warp_parameters(name), arguments,
                                     [&](std::string_view parameter) { return warp_default(name, parameter); });
  if (!given) return context_.error(node, "arguments of this function must be passed by position");
  const bool has_axes = name == "quat_from_euler" || name == "quat_to_euler";
  for (std::size_t k = 1; has_axes && k < given->size(); ++k) {
    const auto axis = (*given)[k].omitted ? (*given)[k].omitted : known_number((*given)[k].node);
    // Warp reads beyond the vector for other numbers.
    if (!axis || axis->number().is_real || axis->number().integer < 0 || axis->number().integer > 2)
      return context_.error(node, "each axis must be the constant 0, 1 or 2");
  }
  std::vector<ExprId> values;
  for (const WarpArgument& argument : *given) {
    if (!argument.omitted && is_starred(argument.node)) {
      if (!spread(argument.node, values, Spread::kParts)) return kNone;
      continue;
    }
    const bool is_test = op == Op::kWhere && values.empty();
    if (argument.omitted) {
      values.push_back(constant(node, *argument.omitted));
    } else {
      values.push_back(is_test ? choice_condition(argument.node) : value(argument.node));
    }
    if (values.back() == kNone) return kNone;
  }
  return op ? context_.operation(node, *op, values) : context_.library_call(node, name, values);
}

/// On the CPU, wp.div_approx is the division; only GPUs approximate it.
ExprId WarpExpressionParser::approximate_quotient(SyntaxNode node) {
  std::vector<SyntaxNode> given;
  if (!match_named_arguments(node, {"a b"}, given) || given.size() != 2)
    return context_.error(node, "expected two arguments, a dividend and a divisor");
  const ExprId left = value(given[0]);
  const ExprId right = left == kNone ? kNone : value(given[1]);
  if (right == kNone) return kNone;
  for (const ExprId operand : {left, right}) {
    if (const ir::Type type = context_.type_of(operand); !type.is_value() || !type.has_float_components())
      return context_.error(node, fmt::format("operands must be floats, got {}", context_.type_name(type)));
  }
  return builtin_binary(node, "/", left, right);
}

// ---- types as functions

ExprId WarpExpressionParser::type_call(SyntaxNode node, ir::Type type) {
  if (type.is_struct()) return construct_struct(node, type);
  const CallArguments arguments = arguments_of(node);
  if (arguments.has_star_argument && !type.is_aggregate()) {
    return context_.error(node,
                          "starred arguments are supported for vectors, matrices, quaternions and transforms only");
  }
  std::vector<SyntaxNode> given = arguments.positional_arguments;
  const std::string_view parameters = type.is_quaternion() ? "x y z w" : type.is_transform() ? "p q" : "";
  if (!arguments.keyword_arguments.empty() && !match_named_arguments(node, {parameters}, given))
    return context_.error(node, "constructor arguments must be passed by position");
  if (type.is_scalar()) return convert(node, type);
  if (type.is_aggregate()) return construct(node, type, given);
  return context_.error(node, fmt::format("constructing values of type {} is not supported", context_.type_name(type)));
}

ExprId WarpExpressionParser::convert(SyntaxNode node, ir::Type type) {
  const auto arguments = arguments_of(node).positional_arguments;
  if (arguments.size() != 1) return context_.error(node, "type conversion takes one argument");
  if (const auto number = known_number(arguments[0]); number && number->type.is_scalar())
    return convert_constant(arguments[0], *number, type);
  const ExprId operand = value(arguments[0]);
  return context_.operation(node, Op::kCast, {operand}, type);
}

/// wp.cast(value, dtype), which keeps the bits.
ExprId WarpExpressionParser::reinterpret(SyntaxNode node) {
  std::vector<SyntaxNode> given;
  if (!match_named_arguments(node, warp_parameters("cast"), given) || given.size() != 2)
    return context_.error(node, "expected a value and the type that gets its bits");
  const auto type = type_of_node(given[1]);
  if (!type.ok()) return context_.error(given[1], type.error().message);
  const ExprId operand = value(given[0]);
  if (operand == kNone) return kNone;
  const ir::Type from = context_.type_of(operand);
  const auto is_supported = [](ir::Type each) {
    return (each.is_float_scalar() || each.is_integer_scalar()) && ir::row(each.scalar).bytes >= 4;
  };
  if (!is_supported(from) || !is_supported(*type) || ir::row(from.scalar).bytes != ir::row(type->scalar).bytes) {
    return context_.error(node, fmt::format("wp.cast is supported between integers and floats of 32 bits or of 64 "
                                            "bits, got {} and {}; to convert a value, call its type, as in "
                                            "wp.int32(x)",
                                            context_.type_name(from), context_.type_name(*type)));
  }
  const bool keeps_kind = from.is_float_scalar() == type->is_float_scalar();
  return context_.operation(node, keeps_kind ? Op::kCast : Op::kReinterpret, {operand}, *type);
}

// ---- thread index and array lengths

ExprId WarpExpressionParser::length_of(SyntaxNode node) {
  const auto arguments = arguments_of(node).positional_arguments;
  if (arguments.size() != 1) return context_.error(node, "len() takes one argument");
  const AssignmentTarget measured = place(arguments[0]);
  if (measured.failed()) return kNone;
  if (measured.can_be_indexed()) return extent_of(context_, node, measured, 0);
  context_.builder.at(node.loc());
  const ir::Type type = measured.type;
  if (type.is_tile()) return context_.builder.i32(type.tile[0]);
  if (type.is_vector() || type.is_matrix()) return context_.builder.i32(type.parts());
  if (type.is_quaternion() || type.is_transform()) return context_.builder.i32(type.components());
  return context_.error(node,
                        fmt::format("len() does not support values of type {}", context_.type_name(measured.type)));
}

ExprId WarpExpressionParser::thread_index(SyntaxNode node) {
  if (!context_.entry.is_kernel) {
    return context_.error(node, "wp.tid() is supported in kernels only; pass the index to the function");
  }
  if (context_.function.launch_rank != 1) {
    return context_.error(node, fmt::format("launch has {} dimensions; unpack the indices with i, j, ... = wp.tid()",
                                            context_.function.launch_rank));
  }
  context_.builder.at(node.loc());
  return context_.builder.var(context_.function.parameter_count);
}

// ---- effects

std::optional<ir::AtomicOp> WarpExpressionParser::atomic(SyntaxNode call) const {
  return call.is(SyntaxKind::kCall) ? warp_atomic(warp_function_name(call)) : std::nullopt;
}

bool WarpExpressionParser::has_side_effects(SyntaxNode node) const {
  if (node.is(SyntaxKind::kCall)) {
    if (atomic(node)) return true;
    if (is_file_function(node)) {
      for (const SourceFunction* entry : context_.functions(called_name(node))) {
        if (entry->has_side_effects || !entry->reference_parameters.empty()) return true;
      }
    }
  }
  const auto children = node.children();
  return std::any_of(children.begin(), children.end(), [&](SyntaxNode child) { return has_side_effects(child); });
}

bool WarpExpressionParser::can_evaluate_effect(SyntaxNode node, std::size_t loads_before, ir::VarId array) {
  if (!context_.may_hoist) {
    context_.error(node,
                   "side effects are not supported in expressions evaluated conditionally or repeatedly; use a "
                   "separate statement");
    return false;
  }
  const auto end = context_.loaded_arrays.begin() + static_cast<std::ptrdiff_t>(loads_before);
  const bool late = std::any_of(context_.loaded_arrays.begin(), end,
                                [&](ir::VarId loaded) { return array == kNone || loaded == array; });
  if (late) {
    context_.error(node, "call changes an array that the same statement already reads; use separate statements");
    return false;
  }
  context_.loaded_arrays.resize(loads_before);
  return true;
}

ir::VarId WarpExpressionParser::atomic_call(SyntaxNode call, ir::AtomicOp op, const std::string& result) {
  const std::size_t loads_before = context_.loaded_arrays.size();
  const bool compares = op == ir::AtomicOp::kCompareAndSwap;
  static const std::vector<std::string_view> kUpdates = {"arr i value", "arr i j value", "arr i j k value",
                                                         "arr i j k l value"};
  static const std::vector<std::string_view> kSwaps = {"arr i compare value", "arr i j compare value",
                                                       "arr i j k compare value", "arr i j k l compare value"};
  std::vector<SyntaxNode> given;
  if (!match_named_arguments(call, compares ? kSwaps : kUpdates, given) || given.empty())
    return context_.error(
        call, "expected an array, its indices and a value; starred arguments (`*args`) are not supported here");
  AssignmentTarget target = place(given[0]);
  if (target.failed()) return kNone;
  if (target.root_kind != AssignmentTarget::RootKind::kArray || !target.type.is_array()) {
    return context_.error(given[0], "the target of an atomic must be an array parameter");
  }
  const std::size_t values = compares ? 2 : 1;
  const std::size_t missing = target.type.rank;
  if (given.size() != 1 + missing + values) {
    return context_.error(
        call, fmt::format("expected an array, {} indices and {} value{}", missing, values, compares ? "s" : ""));
  }
  std::size_t passed = 0;
  for (std::size_t i = 1; i <= missing; ++i)
    add_index(given[i], target, given[i], passed);
  std::vector<ExprId> operands;
  for (std::size_t i = 1 + missing; i < given.size(); ++i)
    operands.push_back(value(given[i]));
  if (target.failed()) return kNone;
  if (target.lacks_indices()) return context_.error(call, "the target of an atomic must be one element");
  const ir::Type element = target.type;
  for (const ExprId operand : operands) {
    if (operand == kNone) return kNone;
    if (context_.type_of(operand) == element) continue;
    return context_.error(call, fmt::format("array elements have type {}, got {}", context_.type_name(element),
                                            context_.type_name(context_.type_of(operand))));
  }
  const bool is_sum = op == ir::AtomicOp::kAdd || op == ir::AtomicOp::kSub;
  const bool is_extremum = op == ir::AtomicOp::kMin || op == ir::AtomicOp::kMax;
  const bool takes_components = is_sum || (is_extremum && (element.is_vector() || element.is_matrix()));
  const bool fits = element.is_scalar()
                        ? !element.is_bool() && (!row(op).is_integer_only || element.is_integer_scalar())
                        : takes_components && !element.is_struct();
  if (!fits)
    return context_.error(call, fmt::format("this atomic operation is not supported for elements of type {}",
                                            context_.type_name(element)));
  if (!can_evaluate_effect(call, loads_before, target.variable)) return kNone;
  context_.entry.has_side_effects = true;
  context_.builder.at(call.loc());
  const ExprId compare = compares ? operands[0] : kNone;
  if (result.empty() && !compares) {
    context_.builder.atomic(op, target.variable, target.indices(), operands.back());
    return kNone;
  }
  return context_.builder.atomic_result(result.empty() ? "old" : result, op, target.variable, target.indices(),
                                        operands.back(), compare);
}

// ---- functions of the file

/// f of f(x) and of wp.static(f)(x); empty if the callee is not a name.
std::string_view WarpExpressionParser::called_name(SyntaxNode call) const {
  SyntaxNode function = call.part(SyntaxField::kFunction);
  if (function.is(SyntaxKind::kCall) && context_.scope().warp_name(function.part(SyntaxField::kFunction)) == "static") {
    const auto given = arguments_of(function).positional_arguments;
    if (given.size() == 1) function = given[0];
  }
  return context_.global_name(function);
}

bool WarpExpressionParser::is_file_function(SyntaxNode call) const {
  const std::string_view name = called_name(call);
  return !name.empty() && context_.defines(name);
}

/// The function that an argument names, if it names one and not a variable.
std::optional<ArgumentSpec> WarpExpressionParser::function_argument(SyntaxNode node) {
  const bool is_name = node.is(SyntaxKind::kIdentifier);
  if (!is_name && !node.is(SyntaxKind::kAttribute)) return std::nullopt;
  if (is_name && (context_.bindings.find(node.text()) != kNone || context_.data_flow.assignments(node.text()) > 0)) {
    return std::nullopt;
  }
  ArgumentSpec given{.kind = ArgumentSpec::Kind::kFunction};
  if (const std::string_view name = context_.global_name(node); !name.empty() && context_.defines(name)) {
    given.functions = context_.functions(name);
    return given;
  }
  given.warp_function_name = context_.scope().warp_name(node);
  if (given.warp_function_name.empty() || context_.constant(node) || context_.scope().type(node).ok()) {
    return std::nullopt;
  }
  return given;
}

CallArgument WarpExpressionParser::argument(SyntaxNode node) {
  if (auto function = function_argument(node)) return {.spec = std::move(*function), .values = {}};
  if (is_array_expression(node)) return array_argument(node, place(node));
  if (const auto constructed = array_struct_without_arguments(node)) {
    if (context_.may_hoist)
      return array_argument(node, place_of(context_, node, new_array_struct(context_, "constructed", *constructed)));
  }
  const ExprId value = this->value(node);
  return {.spec = {.kind = ArgumentSpec::Kind::kValue, .type = value == kNone ? ir::kVoid : context_.type_of(value)},
          .values = {value}};
}

/// An array, an array slice, or a struct with arrays or an array of such structs, whose fields are passed separately.
CallArgument WarpExpressionParser::array_argument(SyntaxNode node, const AssignmentTarget& place) {
  CallArgument result;
  if (place.failed()) return {.spec = {}, .values = {kNone}};
  result.spec.type = place.type;
  if (place.root_kind == AssignmentTarget::RootKind::kMissingArray) {
    result.spec.kind = ArgumentSpec::Kind::kMissingArray;
    return result;
  }
  if (place.root_kind == AssignmentTarget::RootKind::kArrayStruct) {
    result.spec.kind = ArgumentSpec::Kind::kArrayStruct;
    const std::size_t count = context_.file.module().structs[place.type.struct_id].fields.size();
    for (std::size_t f = 0; f < count; ++f) {
      const AssignmentTarget part = place_of_field(context_, node, place, f);
      const bool is_value = part.root_kind != AssignmentTarget::RootKind::kArrayStruct && !part.can_be_indexed();
      CallArgument given =
          is_value ? CallArgument{.spec = {.type = part.type}, .values = {read_target(context_, node, part)}}
                   : array_argument(node, part);
      result.spec.fields.push_back(std::move(given.spec));
      result.values.insert(result.values.end(), given.values.begin(), given.values.end());
    }
    return result;
  }
  const auto is_fixed = [](const SliceDimension& dimension) {
    return dimension.kind == DimensionSelection::kSingleIndex;
  };
  if (place.is_indexed_array() && std::ranges::any_of(place.dimensions, is_fixed)) {
    const ExprId failed =
        context_.error(node, "rows of indexed arrays cannot be passed to functions; pass the array and the index");
    return {.spec = {}, .values = {failed}};
  }
  result.spec.kind = ArgumentSpec::Kind::kArray;
  result.spec.whole_array_type = context_.function.var(place.variable).type;
  context_.builder.at(node.loc());
  result.values.push_back(context_.builder.var(place.variable));
  for (const SliceDimension& dimension : place.dimensions) {
    result.spec.dimensions.push_back({.kind = dimension.kind, .step = dimension.step});
    if (dimension.kind == DimensionSelection::kSingleIndex) result.values.push_back(as_i32(node, dimension.index));
    if (dimension.kind == DimensionSelection::kIndexed)
      result.values.push_back(context_.builder.var(dimension.indices));
    if (dimension.kind != DimensionSelection::kRange) continue;
    result.values.push_back(dimension.start);
    result.values.push_back(dimension.extent);
  }
  return result;
}

/// The positional arguments; a starred one gives an argument for each of its parts.
std::vector<CallArgument> WarpExpressionParser::positional_arguments(const CallArguments& arguments) {
  std::vector<CallArgument> result;
  for (const SyntaxNode node : arguments.positional_arguments) {
    if (!is_starred(node)) {
      result.push_back(argument(node));
      continue;
    }
    std::vector<ExprId> parts;
    if (!spread(node, parts, Spread::kParts)) parts = {kNone};
    for (const ExprId part : parts)
      result.push_back({.spec = {.type = part == kNone ? ir::kVoid : context_.type_of(part)}, .values = {part}});
  }
  return result;
}

/// Parses the call's arguments in the order of the callee's parameters. False after a reported error.
bool WarpExpressionParser::read_arguments(SyntaxNode call, const SourceFunction& callee,
                                          std::vector<CallArgument>& values) {
  const CallArguments arguments = arguments_of(call);
  const auto& parameters = callee.parameter_names;
  const auto fail = [&](std::string reason) {
    context_.error(call, std::move(reason));
    return false;
  };
  std::vector<CallArgument> positional = positional_arguments(arguments);
  if (std::ranges::any_of(positional, &CallArgument::failed)) return false;
  if (positional.size() > parameters.size()) {
    return fail(fmt::format("{} takes {} arguments, got {}", callee.name, parameters.size(), positional.size()));
  }
  for (const auto& [keyword, value] : arguments.keyword_arguments) {
    const auto found = std::find(parameters.begin(), parameters.end(), keyword);
    const auto position = static_cast<std::size_t>(found - parameters.begin());
    if (found == parameters.end()) return fail(fmt::format("{} has no parameter '{}'", callee.name, keyword));
    if (position < positional.size()) return fail(fmt::format("parameter '{}' is passed twice", keyword));
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto keyword = arguments.keyword_arguments.find(parameters[i]);
    const auto otherwise = callee.default_arguments.find(parameters[i]);
    if (i < positional.size()) {
      values.push_back(std::move(positional[i]));
    } else if (keyword != arguments.keyword_arguments.end()) {
      values.push_back(argument(keyword->second));
    } else if (otherwise != callee.default_arguments.end()) {
      const ExprId value = constant(call, otherwise->second);
      values.push_back({.spec = {.type = otherwise->second.type}, .values = {value}});
    } else {
      return fail(fmt::format("missing argument '{}'", parameters[i]));
    }
    if (values.back().failed()) return false;
  }
  return true;
}

/// The arguments in the order of the parameters; defaults have a type and no value yet. Empty if they do not match.
std::optional<std::vector<CallArgument>> WarpExpressionParser::match_arguments(
    const SourceFunction& callee, const std::vector<CallArgument>& positional,
    const std::map<std::string_view, CallArgument>& by_name) {
  std::vector<CallArgument> matched = positional;
  std::size_t used = 0;
  for (std::size_t i = positional.size(); i < callee.parameter_names.size(); ++i) {
    const auto named = by_name.find(callee.parameter_names[i]);
    const auto otherwise = callee.default_arguments.find(callee.parameter_names[i]);
    if (named != by_name.end()) {
      matched.push_back(named->second);
      ++used;
    } else if (otherwise != callee.default_arguments.end()) {
      matched.push_back({.spec = {.type = otherwise->second.type}, .values = {}});
    } else {
      return std::nullopt;
    }
  }
  const bool all_used = matched.size() == callee.parameter_names.size() && used == by_name.size();
  return all_used ? std::optional(std::move(matched)) : std::nullopt;
}

/// Reports if the function cannot be called.
bool WarpExpressionParser::is_callable(SyntaxNode call, const SourceFunction* callee) {
  const std::string_view name = callee->name;
  if (callee->parse_state == SourceFunction::State::kParsing) {
    context_.error(call, "recursive functions are not supported");
  } else if (callee->is_kernel) {
    context_.error(call, "kernels cannot be called");
  } else if (callee->is_generic && callee->reason_not_parsed.empty()) {
    return true;
  } else if (callee->parse_state != SourceFunction::State::kParsed) {
    const std::string why = callee->rejection_reason.empty() ? "" : ": " + callee->rejection_reason;
    context_.error(call, callee->reason_not_parsed.empty() ? fmt::format("function {} could not be parsed{}", name, why)
                                                           : callee->reason_not_parsed);
    if (context_.entry.rejection_reason.empty()) context_.entry.rejection_reason = callee->rejection_reason;
  } else {
    return true;
  }
  return false;
}

/// Whether the function takes these arguments; if not, `misfit` is the first parameter that does not.
bool WarpExpressionParser::takes(const SourceFunction& callee, const std::vector<CallArgument>& arguments,
                                 std::size_t& misfit) const {
  const auto annotations = callee.definition.part(SyntaxField::kParameters).children();
  for (misfit = 0; misfit < arguments.size(); ++misfit) {
    const ArgumentSpec& given = arguments[misfit].spec;
    const bool fits =
        callee.is_generic
            ? accepts(callee.environment->scope, annotations[misfit].part(SyntaxField::kType), given)
            : given.kind != ArgumentSpec::Kind::kFunction && given.type == callee.parameter_types[misfit] &&
                  given.is_indexed() ==
                      callee.environment->scope.is_indexed_array(annotations[misfit].part(SyntaxField::kType));
    if (!fits) return false;
  }
  return true;
}

/// The function instantiated for these arguments. Null after a reported error.
SourceFunction* WarpExpressionParser::specialize(SyntaxNode call, SourceFunction* callee,
                                                 const std::vector<CallArgument>& arguments) {
  const bool plain = std::ranges::all_of(arguments, [](const CallArgument& each) { return each.spec.is_plain(); });
  if (plain && !callee->is_generic) return callee;
  std::vector<ArgumentSpec> given;
  for (const CallArgument& argument : arguments)
    given.push_back(argument.spec);
  SourceFunction* instance = context_.file.instance(*callee, std::move(given));
  if (instance == nullptr) {
    context_.error(call, fmt::format("{} has too many specializations; does it call itself?", callee->name));
    return nullptr;
  }
  return is_callable(call, instance) ? instance : nullptr;
}

/// The overload whose parameters have the arguments' types.
SourceFunction* WarpExpressionParser::resolve_overload(SyntaxNode call, const std::vector<SourceFunction*>& candidates,
                                                       std::vector<CallArgument>& values) {
  const CallArguments arguments = arguments_of(call);
  const std::vector<CallArgument> positional = positional_arguments(arguments);
  std::map<std::string_view, CallArgument> by_name;
  for (const auto& [name, node] : arguments.keyword_arguments)
    by_name.emplace(name, argument(node));
  const auto failed = [](const CallArgument& given) { return given.failed(); };
  if (std::ranges::any_of(positional, failed) || std::ranges::any_of(std::views::values(by_name), failed))
    return nullptr;
  // Warp takes the first that fits, in the order of the file; generic functions come last.
  for (const bool generic : {false, true}) {
    for (SourceFunction* entry : candidates) {
      const bool is_parsed =
          entry->is_generic ? entry->reason_not_parsed.empty() : entry->parse_state == SourceFunction::State::kParsed;
      if (entry->is_generic != generic || !is_parsed) continue;
      auto matched = match_arguments(*entry, positional, by_name);
      std::size_t misfit = 0;
      if (!matched || !takes(*entry, *matched, misfit)) continue;
      values = std::move(*matched);
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i].values.empty() && values[i].spec.kind == ArgumentSpec::Kind::kValue)
          values[i].values.push_back(constant(call, entry->default_arguments.find(entry->parameter_names[i])->second));
      }
      return entry;
    }
  }
  context_.error(call, "no supported overload of this function accepts these argument types");
  return nullptr;
}

ResolvedCall WarpExpressionParser::resolve(SyntaxNode call) {
  const std::size_t loads_before = context_.loaded_arrays.size();
  const auto candidates = context_.functions(called_name(call));
  std::vector<CallArgument> arguments;
  SourceFunction* callee = nullptr;
  if (candidates.size() > 1) {
    callee = resolve_overload(call, candidates, arguments);
  } else if (is_callable(call, candidates.front()) && read_arguments(call, *candidates.front(), arguments)) {
    callee = candidates.front();
  }
  if (callee == nullptr) return {};
  if (std::size_t misfit = 0; !takes(*callee, arguments, misfit)) {
    const ArgumentSpec& spec = arguments[misfit].spec;
    if (!callee->is_generic && spec.kind == ArgumentSpec::Kind::kArray &&
        spec.type == callee->parameter_types[misfit]) {
      context_.error(
          call, fmt::format("parameter '{}' must be {}", callee->parameter_names[misfit],
                            spec.is_indexed() ? "an array, got an indexed array" : "an indexed array, got an array"));
      return {};
    }
    const std::string given = context_.type_name(arguments[misfit].spec.type);
    context_.error(call, callee->is_generic
                             ? fmt::format("parameter '{}' does not accept {}", callee->parameter_names[misfit], given)
                             : fmt::format("parameter '{}' has type {}, got {}", callee->parameter_names[misfit],
                                           context_.type_name(callee->parameter_types[misfit]), given));
    return {};
  }
  callee = specialize(call, callee, arguments);
  if (callee == nullptr) return {};
  ResolvedCall resolved{.callee = callee, .arguments = {}};
  for (const CallArgument& argument : arguments)
    resolved.arguments.insert(resolved.arguments.end(), argument.values.begin(), argument.values.end());
  const HiddenParameters hidden = WarpFileParser::hidden_parameters(*callee);
  for (const HiddenParameterEntry& row : kHiddenParameters) {
    if (!hidden[static_cast<std::size_t>(row.parameter)]) continue;
    resolved.arguments.push_back(hidden_parameter(call, row.parameter));
    if (resolved.arguments.back() == kNone) return {};
  }
  if (!callee->reference_parameters.empty() && !pass_references(call, *callee, resolved)) return {};
  if (callee->has_side_effects) {
    if (!can_evaluate_effect(call, loads_before, kNone)) return {};
    context_.entry.has_side_effects = true;
    return resolved;
  }
  for (const ExprId argument : resolved.arguments) {
    const ir::Expr& expr = context_.function.expr(argument);
    if (expr.type.is_array()) context_.loaded_arrays.push_back(expr.variable);
  }
  return resolved;
}

ExprId WarpExpressionParser::hidden_parameter(SyntaxNode call, HiddenParameter parameter) {
  const ir::VarId variable = context_.hidden[static_cast<std::size_t>(parameter)];
  if (variable == kNone) {
    return context_.error(call,
                          "meshes, hash grids, hierarchies of boxes and the block size are known only in kernels and "
                          "in functions that are called by their name; pass them as arguments");
  }
  context_.builder.at(call.loc());
  return context_.builder.var(variable);
}

ExprId WarpExpressionParser::call_file_function(SyntaxNode node) {
  const ResolvedCall resolved = resolve(node);
  if (resolved.callee == nullptr) return kNone;
  const std::size_t returned = returned_types(resolved).size();
  if (returned != 1)
    return context_.error(node, fmt::format("{} returns {} values, expected 1", resolved.callee->name, returned));
  return single_result(node, resolved);
}

ExprId WarpExpressionParser::single_result(SyntaxNode node, const ResolvedCall& resolved) {
  if (!resolved.references.empty()) return context_.builder.var(run(node, resolved, {"result"})[0]);
  context_.builder.at(node.loc());
  const ExprId result = context_.builder.call(resolved.callee->function_index, resolved.arguments);
  if (!resolved.callee->has_side_effects) return result;
  return context_.builder.var(context_.builder.let("result", result));
}

std::vector<ExprId> WarpExpressionParser::call_results(SyntaxNode node) {
  const ResolvedCall resolved = resolve(node);
  if (resolved.callee == nullptr) return {};
  const std::size_t returned = returned_types(resolved).size();
  if (returned == 1) return {single_result(node, resolved)};
  if (returned == 0) {
    context_.error(node, "function returns no value");
    return {};
  }
  std::vector<ExprId> values;
  for (const ir::VarId variable : run(node, resolved, std::vector<std::string>(returned, "result")))
    values.push_back(context_.builder.var(variable));
  return values;
}

}  // namespace assay::frontend
