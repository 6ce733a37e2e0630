// The part of WarpExpressionParser that parses slices of vectors and matrices: v[0:2], m[:, 1].
#include <algorithm>

#include <fmt/format.h>

#include "frontend/warp/parse/expression_parser.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;

namespace {

/// The positions that start:stop:step selects of `size`, with Python's defaults and clamping.
std::vector<std::int64_t> positions(std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                                    std::int64_t step, std::int64_t size) {
  const bool forward = step > 0;
  const std::int64_t least = forward ? 0 : -1;
  const auto clamped = [&](std::int64_t bound) {
    return std::clamp(bound < 0 ? bound + size : bound, least, least + size);
  };
  const std::int64_t first = start ? clamped(*start) : forward ? 0 : size - 1;
  const std::int64_t last = stop ? clamped(*stop) : forward ? size : -1;
  std::vector<std::int64_t> result;
  for (std::int64_t k = first; forward ? k < last : k > last; k += step)
    result.push_back(k);
  return result;
}

}  // namespace

/// The positions that a slice with constant bounds selects; empty after a reported error.
std::vector<ExprId> WarpExpressionParser::range(SyntaxNode slice, int parts) {
  bool known = true;
  const auto number = [&](SyntaxNode part) -> std::optional<std::int64_t> {
    if (!part) return std::nullopt;
    const auto value = context_.constant(part);
    known = known && value && value->type.is_integer_scalar();
    return known ? std::optional(value->number().integer) : std::nullopt;
  };
  const auto [start, stop, step] = slice_parts(slice);
  const auto first = number(start);
  const auto last = number(stop);
  const std::int64_t stride = number(step).value_or(1);
  if (!known || stride == 0) {
    context_.error(slice, "slice bounds must be compile-time constants, and the step must not be zero");
    return {};
  }
  std::vector<ExprId> result;
  context_.builder.at(slice.loc());
  for (const std::int64_t position : positions(first, last, stride, parts))
    result.push_back(context_.builder.i32(position));
  if (result.empty()) context_.error(slice, "slice is empty");
  return result;
}

/// The positions that an index or a slice selects; empty after a reported error.
std::vector<ExprId> WarpExpressionParser::selected(SyntaxNode index, ir::Type type, int parts, std::string_view what) {
  if (is_slice(index)) return range(index, parts);
  const ExprId position = index_below(index, type, parts, what);
  return position == kNone ? std::vector<ExprId>() : std::vector{position};
}

/// v[1:3], m[0:2], m[:, 1], m[i, 0:2] or m[0:2, 1:3].
AssignmentTarget WarpExpressionParser::slice_of(SyntaxNode node, AssignmentTarget whole,
                                                std::span<const SyntaxNode> indices) {
  const ir::Type type = whole.type;
  if (indices.size() > (type.is_matrix() ? 2U : 1U)) {
    context_.error(node, fmt::format("too many indices for a value of type {}", context_.type_name(type)));
    return {};
  }
  const std::vector<ExprId> rows = selected(indices[0], type, type.parts(), type.is_matrix() ? "rows" : "components");
  if (rows.empty()) return {};
  if (!type.is_matrix()) {
    for (const ExprId row : rows)
      whole.components.push_back({{.index = row}});
    whole.type = ir::vector_type(type.scalar, static_cast<int>(rows.size()));
    return whole;
  }
  std::vector<ExprId> columns;
  if (indices.size() == 2) columns = selected(indices[1], type, type.cols, "columns");
  for (int c = 0; indices.size() == 1 && c < type.cols; ++c)
    columns.push_back(context_.builder.i32(c));
  if (columns.empty()) return {};
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const ExprId row = c == 0 ? rows[r] : context_.copy(rows[r]);
      const ExprId column = r == 0 ? columns[c] : context_.copy(columns[c]);
      whole.components.push_back({{.index = row}, {.index = column}});
    }
  }
  const auto height = static_cast<int>(rows.size());
  const auto width = static_cast<int>(columns.size());
  if (!is_slice(indices[0])) whole.type = ir::vector_type(type.scalar, width);
  else if (indices.size() == 2 && !is_slice(indices[1])) whole.type = ir::vector_type(type.scalar, height);
  else whole.type = ir::matrix_type(type.scalar, height, width);
  return whole;
}

}  // namespace assay::frontend
