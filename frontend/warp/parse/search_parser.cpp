// The part of WarpExpressionParser that parses wp.lower_bound, a binary search in a sorted array.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "frontend/warp/parse/expression_parser.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;
using ir::Op;

namespace {

/// Whether the elements lie next to each other if those of the whole array do.
bool is_contiguous(const AssignmentTarget& array) {
  if (array.is_whole_array()) return true;
  const SliceDimension& last = array.dimensions.back();
  return last.kind == DimensionSelection::kAllIndices || (last.kind == DimensionSelection::kRange && last.step == 1);
}

/// The name of the search in such a part of an array: by dimension, `i` for an index and `r2` for a range with step 2.
std::string search_name(const AssignmentTarget& array) {
  std::string name = fmt::format("lower_bound_{}", ir::row(array.type.scalar).name);
  if (array.is_whole_array()) return name;
  name += "_";
  for (const SliceDimension& dimension : array.dimensions) {
    const bool is_range = dimension.kind == DimensionSelection::kRange;
    name += dimension.kind == DimensionSelection::kSingleIndex ? "i"
            : is_range                                         ? fmt::format("r{}", dimension.step)
                                                               : "w";
  }
  return name;
}

/// The function lower_bound(array, place..., begin, end, value); `place` is the index of each fixed dimension and the
/// start of a range. As in Warp, it never compares the last element of the range, so the result is at most `end` - 1.
ir::Function lower_bound(const ir::Module& module, const AssignmentTarget& searched, const std::string& name) {
  ir::Function function;
  function.name = name;
  function.results = {ir::kI32};
  ir::Builder b(module, function);
  const ir::Type element = searched.type.element();
  const ir::VarId array = b.parameter("array", element.array_of(static_cast<int>(searched.dimensions.size())));
  std::vector<ir::VarId> places;
  for (const SliceDimension& dimension : searched.dimensions) {
    const bool is_whole = dimension.kind == DimensionSelection::kAllIndices;
    places.push_back(is_whole ? kNone : b.parameter(fmt::format("place{}", places.size()), ir::kI32));
  }
  const ir::VarId begin = b.parameter("begin", ir::kI32);
  const ir::VarId end = b.parameter("end", ir::kI32);
  const ir::VarId value = b.parameter("value", element);
  const ir::VarId lower = b.let("lower", b.var(begin));
  const ir::VarId upper = b.let("upper", b.op(Op::kSub, {b.var(end), b.i32(1)}));
  b.while_(b.op(Op::kLt, {b.var(lower), b.var(upper)}), [&] {
    const ExprId half = b.op(Op::kDiv, {b.op(Op::kSub, {b.var(upper), b.var(lower)}), b.i32(2)});
    const ir::VarId middle = b.let("middle", b.op(Op::kAdd, {b.var(lower), half}));
    std::vector<ExprId> indices;
    for (std::size_t d = 0; d < places.size(); ++d) {
      const SliceDimension& dimension = searched.dimensions[d];
      if (dimension.kind != DimensionSelection::kRange) {
        indices.push_back(b.var(places[d] == kNone ? middle : places[d]));
        continue;
      }
      const ExprId offset =
          dimension.step == 1 ? b.var(middle) : b.op(Op::kMul, {b.var(middle), b.i32(dimension.step)});
      indices.push_back(b.op(Op::kAdd, {b.var(places[d]), offset}));
    }
    b.if_(
        b.op(Op::kLt, {b.load(array, indices), b.var(value)}),
        [&] {
          b.assign(lower, b.op(Op::kAdd, {b.var(middle), b.i32(1)}));
        },
        [&] { b.assign(upper, b.var(middle)); });
  });
  b.return_({b.var(lower)});
  return function;
}

}  // namespace

AssignmentTarget WarpExpressionParser::searched(SyntaxNode node) {
  AssignmentTarget array = place(node);
  if (array.failed()) return array;
  const bool is_array =
      array.lacks_indices() && array.type.is_array() && array.type.rank == 1 && !array.is_indexed_array();
  const bool is_searchable = is_array && array.type.element().is_scalar() && !array.type.element().is_bool();
  if (is_searchable && is_contiguous(array)) return array;
  if (is_searchable) {
    context_.error(node,
                   "searched slice must be contiguous, because Warp ignores the strides of the array; search a row");
    return {};
  }
  context_.error(node, "searched array must be one-dimensional, with numbers as elements");
  return {};
}

/// wp.lower_bound(array, value) or wp.lower_bound(array, begin, end, value).
ExprId WarpExpressionParser::search(SyntaxNode node) {
  std::vector<SyntaxNode> given;
  if (!match_named_arguments(node, {"arr value", "arr arr_begin arr_end value"}, given) ||
      (given.size() != 2 && given.size() != 4)) {
    return context_.error(node, "expected an array, optionally the bounds of a range, and a value");
  }
  const AssignmentTarget array = searched(given[0]);
  if (array.failed()) return kNone;
  std::vector<ExprId> values;
  for (std::size_t k = 1; k < given.size(); ++k) {
    values.push_back(value(given[k]));
    if (values.back() == kNone) return kNone;
    const ir::Type wanted = k + 1 == given.size() ? array.type.element() : ir::kI32;
    if (context_.type_of(values.back()) == wanted) continue;
    return context_.error(given[k], fmt::format("expected {}, got {}", context_.type_name(wanted),
                                                context_.type_name(context_.type_of(values.back()))));
  }
  const ExprId wanted = values.back();
  values.pop_back();
  return search_position(node, array, std::move(values), wanted);
}

ExprId WarpExpressionParser::search_position(SyntaxNode node, const AssignmentTarget& array, std::vector<ExprId> bounds,
                                             ExprId value) {
  context_.loaded_arrays.push_back(array.variable);
  context_.builder.at(node.loc());
  if (bounds.empty()) bounds = {context_.builder.i32(0), extent_of(context_, node, array, 0)};
  std::vector<ExprId> arguments{context_.builder.var(array.variable)};
  for (const SliceDimension& dimension : array.dimensions) {
    if (dimension.kind == DimensionSelection::kSingleIndex) arguments.push_back(as_i32(node, dimension.index));
    if (dimension.kind == DimensionSelection::kRange) arguments.push_back(dimension.start);
  }
  arguments.insert(arguments.end(), bounds.begin(), bounds.end());
  arguments.push_back(value);
  const std::string name = search_name(array);
  const auto make = [&](const ir::Module& module) { return lower_bound(module, array, name); };
  context_.builder.at(node.loc());
  return context_.builder.call(context_.file.library_function(name, make), arguments);
}

}  // namespace assay::frontend
