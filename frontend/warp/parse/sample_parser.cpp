// The part of WarpExpressionParser that parses samples of distributions given by arrays, and the names of the samplers
// of shapes.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "frontend/warp/parse/expression_parser.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::VarId;

bool is_shape_sampler(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "sample_triangle",    "sample_unit_ring",           "sample_unit_disk",
      "sample_unit_sphere", "sample_unit_sphere_surface", "sample_unit_hemisphere",
      "sample_unit_square", "sample_unit_cube",           "sample_unit_hemisphere_surface"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

/// wp.sample_cdf(state, cdf): the place of a uniform number in the array.
ExprId WarpExpressionParser::sample_of_distribution(SyntaxNode node, std::span<const SyntaxNode> given) {
  if (given.size() != 2) return context_.error(node, "expected the random generator state and an array");
  const VarId state = state_variable(given[0]);
  if (state == ir::kNone) return ir::kNone;
  const std::size_t loads_before = context_.loaded_arrays.size();
  const AssignmentTarget cdf = searched(given[1]);
  if (cdf.failed()) return ir::kNone;
  if (cdf.type.element() != ir::kF32) {
    return context_.error(
        given[1], fmt::format("array elements must be float32, got {}", context_.type_name(cdf.type.element())));
  }
  if (!can_evaluate_effect(node, loads_before, state)) return ir::kNone;
  context_.builder.at(node.loc());
  const ExprId number = drawn(node, "randf", state, {}, "drawn");
  const ExprId found = search_position(node, cdf, {}, number);
  return context_.builder.var(context_.builder.let("found", found));
}

}  // namespace assay::frontend
