// The part of WarpExpressionParser that parses wp.lower_bound, a binary search in a sorted array.
#include <fmt/format.h>

#include "frontend/warp/parse/expression_parser.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;
using ir::Op;

namespace {

/// The function lower_bound(array, begin, end, value). As in Warp, it never compares the last element of the range, so
/// the result is at most `end` - 1.
ir::Function lower_bound(const ir::Module& module, ir::Type element, const std::string& name) {
  ir::Function function;
  function.name = name;
  function.results = {ir::kI32};
  ir::Builder b(module, function);
  const ir::VarId array = b.parameter("array", element.array_of(1));
  const ir::VarId begin = b.parameter("begin", ir::kI32);
  const ir::VarId end = b.parameter("end", ir::kI32);
  const ir::VarId value = b.parameter("value", element);
  const ir::VarId lower = b.let("lower", b.var(begin));
  const ir::VarId upper = b.let("upper", b.op(Op::kSub, {b.var(end), b.i32(1)}));
  b.while_(b.op(Op::kLt, {b.var(lower), b.var(upper)}), [&] {
    const ExprId half = b.op(Op::kDiv, {b.op(Op::kSub, {b.var(upper), b.var(lower)}), b.i32(2)});
    const ir::VarId middle = b.let("middle", b.op(Op::kAdd, {b.var(lower), half}));
    b.if_(
        b.op(Op::kLt, {b.load(array, {b.var(middle)}), b.var(value)}),
        [&] {
          b.assign(lower, b.op(Op::kAdd, {b.var(middle), b.i32(1)}));
        },
        [&] { b.assign(upper, b.var(middle)); });
  });
  b.return_({b.var(lower)});
  return function;
}

}  // namespace

/// wp.lower_bound(array, value) or wp.lower_bound(array, begin, end, value).
ExprId WarpExpressionParser::search(SyntaxNode node) {
  std::vector<SyntaxNode> given;
  if (!ordered_arguments(node, {"arr value", "arr arr_begin arr_end value"}, given) ||
      (given.size() != 2 && given.size() != 4)) {
    return context_.error(node, "expected an array, optionally the bounds of a range, and a value");
  }
  const AssignmentTarget array = place(given[0]);
  if (array.failed()) return kNone;
  const ir::Type element = array.type.element();
  if (!array.is_whole_array() || array.type.rank != 1 || !element.is_scalar() || element.is_bool())
    return context_.error(given[0], "searched array must be a whole one-dimensional array of numbers");
  std::vector<ExprId> values;
  for (std::size_t k = 1; k < given.size(); ++k) {
    values.push_back(value(given[k]));
    if (values.back() == kNone) return kNone;
    const ir::Type wanted = k + 1 == given.size() ? element : ir::kI32;
    if (context_.type_of(values.back()) == wanted) continue;
    return context_.error(given[k], fmt::format("expected {}, got {}", context_.type_name(wanted),
                                                context_.type_name(context_.type_of(values.back()))));
  }
  context_.loads.push_back(array.variable);
  context_.builder.at(node.loc());
  if (values.size() == 1)
    values.insert(values.begin(), {context_.builder.i32(0), context_.builder.shape_of(array.variable, 0)});
  values.insert(values.begin(), context_.builder.var(array.variable));
  const std::string name = fmt::format("lower_bound_{}", ir::row(element.scalar).name);
  const auto make = [&](const ir::Module& module) { return lower_bound(module, element, name); };
  return context_.builder.call(context_.file.library_function(name, make), values);
}

}  // namespace assay::frontend
