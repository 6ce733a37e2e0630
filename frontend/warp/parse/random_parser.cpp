// The part of WarpExpressionParser that parses Warp's random numbers: a generator of 32 bits of state (M. Jarzynski,
// M. Olano, "Hash Functions for GPU Rendering", JCGT 9(3), 2020). A draw changes its state variable before the
// statement and stores its number in a separate variable. ir/library_random.cpp defines the functions.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "frontend/warp/parse/expression_parser.hpp"
#include "ir/library.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;
using ir::Op;

namespace {

const ir::Type kState = scalar_type(ir::Scalar::kU32);

/// One step of the generator: state -> next state. Unlike the function of the library, it can be written as Python, as
/// part of a mesh query.
ir::Function generator_step(const ir::Module& module) {
  ir::Function function;
  function.name = "rand_pcg";
  function.results = {kState};
  ir::Builder b(module, function);
  const ir::VarId state = b.parameter("state", kState);
  const auto number = [&](std::int64_t value) { return b.literal(kState, value); };
  const ExprId product = b.op(Op::kMul, {b.var(state), number(747796405)});
  const ir::VarId next = b.let("next", b.op(Op::kAdd, {product, number(2891336453)}));
  const ExprId amount = b.op(Op::kAdd, {b.op(Op::kShiftRight, {b.var(next), number(28)}), number(4)});
  const ExprId mixed = b.op(Op::kBitXor, {b.op(Op::kShiftRight, {b.var(next), amount}), b.var(next)});
  const ir::VarId word = b.let("word", b.op(Op::kMul, {mixed, number(277803737)}));
  b.return_({b.op(Op::kBitXor, {b.op(Op::kShiftRight, {b.var(word), number(22)}), b.var(word)})});
  return function;
}

}  // namespace

bool is_random_function(std::string_view name) {
  static constexpr std::string_view kNames[] = {"rand_init", "randi",   "randu",     "randf",
                                                "randn",     "poisson", "sample_cdf"};
  return std::ranges::find(kNames, name) != std::end(kNames) || is_shape_sampler(name);
}

bool draws_from_state(std::string_view name) {
  return is_random_function(name) && name != "rand_init" && name != "sample_cdf";
}

/// Whether the expression changes variables: whether it draws a random number, which changes the variable that holds
/// the generator's state, or calls a function with variables for its results.
bool WarpExpressionParser::draws(SyntaxNode node) const {
  if (node.is(SyntaxKind::kCall)) {
    const std::string name = warp_function_name(node);
    if (is_random_function(name) || changes_query_arguments(node, name) || name.starts_with("volume_sample_grad"))
      return true;
  }
  return std::ranges::any_of(node.children(), [this](SyntaxNode child) { return draws(child); });
}

std::int32_t random_generator_step(WarpFileParser& file) { return file.library_function("rand_pcg", generator_step); }

ExprId WarpExpressionParser::random(SyntaxNode node, std::string_view name, const std::string& result) {
  const CallArguments arguments = arguments_of(node);
  if (arguments.has_star_argument || !arguments.keyword_arguments.empty())
    return context_.error(node, "arguments of this function must be passed by position");
  const auto& given = arguments.positional_arguments;
  if (name == "rand_init") return generator_state(node, given);
  if (name == "sample_cdf") return sample_of_distribution(node, given);
  const bool is_poisson = name == "poisson";
  const bool may_have_range = name == "randi" || name == "randu" || name == "randf";
  const bool fits = is_poisson ? given.size() == 2 : given.size() == 1 || (given.size() == 3 && may_have_range);
  if (!fits) {
    return context_.error(
        node, is_poisson ? "expected two arguments: the random generator state and the mean"
              : may_have_range
                  ? "expected one or three arguments: the random generator state and, optionally, two bounds"
                  : "expected the random generator state as the only argument");
  }
  const ir::VarId state = state_variable(given[0]);
  if (state == kNone) return kNone;
  const std::size_t loads_before = context_.loaded_arrays.size();
  std::vector<ExprId> bounds;
  for (std::size_t i = 1; i < given.size(); ++i)
    bounds.push_back(value(given[i]));
  const ir::Type bound = name == "randf" || is_poisson ? ir::kF32 : name == "randu" ? kState : ir::kI32;
  for (const ExprId id : bounds) {
    if (id == kNone) return kNone;
    if (context_.type_of(id) != bound)
      return context_.error(node, fmt::format("the {} of the random numbers must have type {}",
                                              is_poisson ? "mean" : "bounds", context_.type_name(bound)));
  }
  if (!can_evaluate_effect(node, loads_before, state)) return kNone;
  return drawn(node, name, state, bounds, result);
}

/// Calls the library function, which returns the number and the new state.
ExprId WarpExpressionParser::drawn(SyntaxNode node, std::string_view name, ir::VarId state,
                                   const std::vector<ExprId>& bounds, const std::string& result) {
  ir::Builder& b = context_.builder;
  b.at(node.loc());
  std::vector<ExprId> operands{b.var(state)};
  std::vector<ir::Type> types{kState};
  for (const ExprId id : bounds) {
    operands.push_back(id);
    types.push_back(context_.type_of(id));
  }
  const auto function = ir::library_function(context_.file.module(), name, types);
  if (!function.ok()) return context_.error(node, function.error().message);
  const std::vector<ir::VarId> results = b.call_statement(*function, operands, {result, "next_state"});
  b.assign(state, b.var(results[1]));
  return b.var(results[0]);
}

ExprId WarpExpressionParser::generator_state(SyntaxNode node, std::span<const SyntaxNode> given) {
  if (given.empty() || given.size() > 2) return context_.error(node, "expected a seed and an optional offset");
  std::vector<ExprId> numbers;
  std::vector<ir::Type> types(given.size(), ir::kI32);
  for (const SyntaxNode argument : given) {
    numbers.push_back(value(argument));
    if (numbers.back() == kNone) return kNone;
    if (context_.type_of(numbers.back()) != ir::kI32) return context_.error(argument, "seed and offset must be int32");
  }
  context_.builder.at(node.loc());
  return context_.builder.call(ir::library_function(context_.file.module(), "rand_init", types).value(), numbers);
}

/// The state variable of a draw: the one that the source names, or a new one for a state that is just made.
ir::VarId WarpExpressionParser::state_variable(SyntaxNode node) {
  if (node.is(SyntaxKind::kCall) && warp_function_name(node) == "rand_init") {
    const ExprId state = value(node);
    context_.builder.at(node.loc());
    return state == kNone ? kNone : context_.builder.let("state", state);
  }
  const ir::VarId named = node.is(SyntaxKind::kIdentifier) ? context_.bindings.find(node.text()) : kNone;
  const ir::VarId variable = FunctionContext::is_alias(named) ? kNone : named;
  const bool known = variable != kNone && context_.function.var(variable).type == kState;
  if (known && !context_.function.is_parameter(variable)) return variable;
  context_.error(node, "random generator state must be a variable of type uint32");
  return kNone;
}

}  // namespace assay::frontend
