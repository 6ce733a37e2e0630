// Parameters that the source does not have: what a kernel takes from its launch, or from a mesh, a hash grid, a
// hierarchy of boxes, a texture or a volume, becomes a parameter of the kernel and of each function that uses it.
//
// A mesh is a row of the arrays of points, velocities and indices, which all meshes share. The mesh with the identifier
// k is row k - 1. No mesh has the identifier 0. The same holds for hash grids, hierarchies of boxes and volumes.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string_view>

#include "frontend/warp/syntax/syntax.hpp"
#include "ir/module.hpp"
#include "ir/spatial_paths.hpp"

namespace assay::frontend {

/// A parameter that the source does not have, in the order in which they follow the other parameters.
enum class HiddenParameter : std::uint8_t {
  kMeshPoints,
  kMeshVelocities,
  kMeshIndices,
  kMeshOrder,
  kMeshGroups,
  kGridCells,
  kGridDims,
  kGridWidths,
  kGridGroups,
  kGridOrder,
  kBvhLowers,
  kBvhUppers,
  kBvhGroups,
  kBvhOrder,
  kTextures1D,
  kTextures2D,
  kTextures3D,
  kVolumeFloats,
  kVolumeVectors,
  kVolumeInts,
  kVolumeExtents,
  kVolumeSizes,
  kVolumeOrigins,
  kBlockSize
};
inline constexpr std::size_t kHiddenParameterCount = 24;
/// Number that stands for queries of meshes, such as wp.mesh_query_point: a property of a function, not a parameter.
inline constexpr std::size_t kQueriesMeshes = kHiddenParameterCount;
/// The same for functions of tiles, and for functions of values that differ between the threads of a block.
inline constexpr std::size_t kUsesTiles = kHiddenParameterCount + 1;
inline constexpr std::size_t kHasThreadValues = kHiddenParameterCount + 2;
/// Which of them a function has, by number.
using HiddenParameters = std::bitset<kHiddenParameterCount + 3>;

/// One row of kHiddenParameters.
struct HiddenParameterEntry {
  HiddenParameter parameter;  ///< the parameter
  std::string_view name;      ///< name of the parameter, unless the function has another parameter of this name
  std::string_view path;      ///< Variable::path of the kernel's parameter
  ir::Type type;              ///< type of the parameter
  /// Precondition of a kernel with the parameter, with `{}` for its name; empty: none, or one that depends on the
  /// kernel.
  std::string_view domain = {};
};
inline constexpr std::array<HiddenParameterEntry, kHiddenParameterCount> kHiddenParameters = {{
    {HiddenParameter::kMeshPoints, "mesh_points", ir::kMeshPointsPath,
     ir::vector_type(ir::Scalar::kF32, 3).array_of(2)},
    {HiddenParameter::kMeshVelocities, "mesh_velocities", ir::kMeshVelocitiesPath,
     ir::vector_type(ir::Scalar::kF32, 3).array_of(2)},
    {HiddenParameter::kMeshIndices, "mesh_indices", ir::kMeshIndicesPath, ir::kI32.array_of(2)},
    {HiddenParameter::kMeshOrder, "mesh_order", ir::kMeshOrderPath, ir::kI32.array_of(1), "{} is a permutation"},
    {HiddenParameter::kMeshGroups, "mesh_groups", ir::kMeshGroupsPath, ir::kI32.array_of(2), "0 <= {} <= 2"},
    {HiddenParameter::kGridCells, "grid_cells", ir::kGridCellsPath, ir::vector_type(ir::Scalar::kI32, 3).array_of(2),
     "-4 <= {} <= 4"},
    {HiddenParameter::kGridDims, "grid_dims", ir::kGridDimsPath, ir::vector_type(ir::Scalar::kI32, 3).array_of(1),
     "1 <= {} <= 6"},
    {HiddenParameter::kGridWidths, "grid_widths", ir::kGridWidthsPath, ir::kF32.array_of(1), "0.375 <= {} <= 1.5"},
    {HiddenParameter::kGridGroups, "grid_groups", ir::kGridGroupsPath, ir::kI32.array_of(2), "0 <= {} <= 2"},
    {HiddenParameter::kGridOrder, "grid_order", ir::kGridOrderPath, ir::kI32.array_of(1), "{} is a permutation"},
    {HiddenParameter::kBvhLowers, "bvh_lowers", ir::kBvhLowersPath, ir::vector_type(ir::Scalar::kF32, 3).array_of(2),
     "-2 <= {} <= 2"},
    {HiddenParameter::kBvhUppers, "bvh_uppers", ir::kBvhUppersPath, ir::vector_type(ir::Scalar::kF32, 3).array_of(2),
     "-2 <= {} <= 2"},
    {HiddenParameter::kBvhGroups, "bvh_groups", ir::kBvhGroupsPath, ir::kI32.array_of(2), "0 <= {} <= 2"},
    {HiddenParameter::kBvhOrder, "bvh_order", ir::kBvhOrderPath, ir::kI32.array_of(1), "{} is a permutation"},
    {HiddenParameter::kTextures1D, "textures_1d", ir::kTextures1DPath,
     ir::vector_type(ir::Scalar::kF32, 4).array_of(2)},
    {HiddenParameter::kTextures2D, "textures_2d", ir::kTextures2DPath,
     ir::vector_type(ir::Scalar::kF32, 4).array_of(3)},
    {HiddenParameter::kTextures3D, "textures_3d", ir::kTextures3DPath,
     ir::vector_type(ir::Scalar::kF32, 4).array_of(4)},
    {HiddenParameter::kVolumeFloats, "volume_floats", ir::kVolumeFloatsPath, ir::kF32.array_of(4)},
    {HiddenParameter::kVolumeVectors, "volume_vectors", ir::kVolumeVectorsPath,
     ir::vector_type(ir::Scalar::kF32, 3).array_of(4)},
    {HiddenParameter::kVolumeInts, "volume_ints", ir::kVolumeIntsPath, ir::kI32.array_of(4)},
    {HiddenParameter::kVolumeExtents, "volume_extents", ir::kVolumeExtentsPath,
     ir::vector_type(ir::Scalar::kI32, 3).array_of(1), "1 <= {} <= 4"},
    {HiddenParameter::kVolumeSizes, "volume_sizes", ir::kVolumeSizesPath,
     ir::vector_type(ir::Scalar::kF32, 3).array_of(1), "0.375 <= {} <= 1.5"},
    {HiddenParameter::kVolumeOrigins, "volume_origins", ir::kVolumeOriginsPath,
     ir::vector_type(ir::Scalar::kF32, 3).array_of(1)},
    {HiddenParameter::kBlockSize, "block_dim", ir::kBlockSizePath, ir::kI32},
}};

/// The parameters that a call of this function of Warp needs.
HiddenParameters hidden_parameters_of(SyntaxNode call, std::string_view warp_function);
/// The same for wp.texture_sample. `kinds`: those that a call with one coordinate may need.
HiddenParameters texture_parameters_of(SyntaxNode call, const HiddenParameters& kinds);
/// The arrays of the kinds of textures that a text names: of wp.Texture2D in an annotation.
HiddenParameters texture_kinds_in(std::string_view text);
/// The parameters that a call of a function of volumes needs.
HiddenParameters volume_parameters_of(SyntaxNode call, std::string_view warp_function);
/// Whether the attribute of a texture is one of its extents: "width".
bool is_texture_extent(std::string_view attribute);

}  // namespace assay::frontend
