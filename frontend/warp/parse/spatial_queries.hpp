// Functions of the language that compute the queries of hash grids and hierarchies of boxes of Warp. They examine every
// point or box, because the result does not depend on the sorted points or the tree that Warp uses to skip some.
//
// A hash grid holds the cell of each point, not the point. A query visits the points whose cells are in a box of cells.
// All cells whose coordinates differ by multiples of the grid's dimensions are the same cell. Warp visits points and
// boxes in an order that it does not define; Assay visits them in the order of a permutation, a further input.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "frontend/warp/parse/file_parser.hpp"
#include "frontend/warp/parse/hidden_parameters.hpp"
#include "ir/types/type.hpp"

namespace assay::frontend {

/// A kind of structure that kernels query, each with its own identifiers.
enum class SpatialKind : std::uint8_t { kMesh, kGrid, kBvh };
/// What a structure of this kind is called.
std::string_view spatial_noun(SpatialKind kind);
/// An array with one row for each structure of this kind.
HiddenParameter rows_of(SpatialKind kind);

/// A query of a hash grid or hierarchy of boxes. It returns a struct, which is continued by `wp.hash_grid_query_next`
/// or `wp.bvh_query_next`.
struct SpatialQuery {
  SpatialKind kind;              ///< what it queries
  std::string_view name;         ///< name of the function after `wp.`
  std::string_view struct_name;  ///< name of the struct that it returns, without `wp_`
  std::string_view parameters;   ///< names of the parameters in Warp, without the last one, which may be omitted
  /// Types of the parameters after the identifier. For a hash grid, these are the types for float32; Warp also has
  /// functions for float16 and float64.
  std::vector<ir::Type> operands;

  /// The last parameter: the group or, for boxes, the root of the group to which the query is restricted.
  std::string_view restriction() const { return kind == SpatialKind::kGrid ? "group" : "root"; }
};
/// The query with this name; null if there is none.
const SpatialQuery* find_spatial_query(std::string_view name);
/// Whether the call restricts the query to a group.
bool is_restricted(SyntaxNode call, const SpatialQuery& query);
/// The kind of structure whose queries this function of Warp continues; nullopt if it continues none.
std::optional<SpatialKind> continued_kind(std::string_view name);
/// The parameters that a call of this function of Warp needs, if it is a function of hash grids or hierarchies of
/// boxes.
HiddenParameters spatial_parameters_of(SyntaxNode call, std::string_view warp_function);

/// How a query that visits faces, points or boxes continues.
struct QueryStep {
  SpatialKind kind;                     ///< what is queried
  std::vector<HiddenParameter> arrays;  ///< arguments of the function before the query and an index
  bool has_limit = false;               ///< whether the greatest distance is a further argument
  /// Index of the function in the module of the file; added if needed. It returns whether something more was found,
  /// the new value of the field `next`, and what was found or else the index.
  std::function<std::int32_t(WarpFileParser&)> function;
};
/// The step of the query that returns this struct; nullopt if no query does.
std::optional<QueryStep> step_of_struct(std::string_view struct_name);

/// Index of the function that starts the query. Its parameters are, for a hash grid, the array of widths; the
/// identifier; the operands, where those of a grid have the given scalar type; and the group or root if it is
/// restricted.
std::int32_t function_of_spatial_query(WarpFileParser& file, const SpatialQuery& query, ir::Scalar scalar,
                                       bool is_restricted);
/// Index of the function for wp.hash_grid_point_id: (order, index) -> point.
std::int32_t function_of_point_id(WarpFileParser& file);
/// Index of the function for wp.bvh_get_group_root and wp.mesh_get_group_root: (groups, order, bvh or mesh, group) ->
/// root, a number that stands for the group, or -1 if no box or face is in the group.
std::int32_t function_of_group_root(WarpFileParser& file);

}  // namespace assay::frontend
