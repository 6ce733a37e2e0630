// Functions of the language that compute the queries of meshes of Warp. They examine every face, because the result
// does not depend on the hierarchy of boxes that Warp uses to skip faces.
//
// A query returns a face and a point on it. If several faces are equally close, the first one of the row is returned;
// Warp may return any of them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "frontend/warp/parse/file_parser.hpp"
#include "ir/types/type.hpp"

namespace assay::frontend {

/// A query of a mesh. It also takes the arrays of points and indices of all meshes and the identifier of the mesh.
struct MeshQuery {
  std::string_view name;           ///< name of the function after `wp.`
  std::string_view parameters;     ///< names of the parameters in Warp, without `root`
  std::vector<ir::Type> operands;  ///< types of the parameters after the mesh
  std::vector<double> defaults;    ///< values of the last parameters if they are omitted
  bool has_root = false;           ///< whether the last parameter in Warp is `root`, which selects a group of faces
  /// Names of the parameters that receive the fields of the result in Warp's other form of the query, which returns
  /// only whether something was found. They follow the first operands, up to the limit of the distance.
  std::string_view outputs;
  bool visits_faces = false;  ///< whether the result is a query that wp.mesh_query_next continues
};

/// Index of the function for one step of Warp's random numbers (random_parser.cpp); adds it to the file if needed.
std::int32_t random_generator_step(WarpFileParser& file);

/// The query with this name; null if there is none.
const MeshQuery* find_mesh_query(std::string_view name);
/// Whether the function continues a query that visits faces.
bool continues_mesh_query(std::string_view name);
/// The query that returns this struct and visits faces; null if there is none.
const MeshQuery* query_of_struct(std::string_view name);

/// Whether a call of the query may select a group of faces by its root.
bool selects_group(SyntaxNode call, const MeshQuery& query);
/// Index of the function for the query in the module of the file; adds it, and the functions that it calls, if needed.
/// Its parameters are the arrays of points and indices, the identifier of the mesh, and the operands of the query. If
/// the query is of a group of faces, the array of groups comes before the identifier, and the root after it. If the
/// query visits faces, the function has no arrays as parameters.
std::int32_t function_of_query(WarpFileParser& file, const MeshQuery& query, bool of_group);
/// Index of the function that finds the next face of a query, added if needed. Its parameters are the arrays of points
/// and indices, the order of the faces, the query, and an index. It returns whether there is another face, the new
/// value of the field `next`, and the face or else the index.
std::int32_t next_face_of_query(WarpFileParser& file, const MeshQuery& query);

/// Number of the field `next` in the struct of a query that visits faces.
inline constexpr std::int32_t kNextField = 1;

}  // namespace assay::frontend
