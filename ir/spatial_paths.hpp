// Variable::path of the kernel parameters that hold the hash grids, hierarchies of boxes, textures and volumes of a
// launch. As for meshes (kMeshPathPrefix), the source has no such parameters, and each array has one row for each grid
// or hierarchy, except for the order, which all of them share.
#pragma once

#include <string_view>

#include "ir/module.hpp"

namespace assay::ir {

inline constexpr std::string_view kGridPathPrefix = "wp.HashGrid.";
inline constexpr std::string_view kGridCellsPath = "wp.HashGrid.cells";    ///< cell of each point, before it wraps
inline constexpr std::string_view kGridDimsPath = "wp.HashGrid.dims";      ///< numbers of cells along the axes
inline constexpr std::string_view kGridWidthsPath = "wp.HashGrid.widths";  ///< width of a cell
inline constexpr std::string_view kGridGroupsPath = "wp.HashGrid.groups";  ///< group of each point
inline constexpr std::string_view kGridOrderPath = "wp.HashGrid.order";    ///< order of the points, a permutation

inline constexpr std::string_view kBvhPathPrefix = "wp.Bvh.";
inline constexpr std::string_view kBvhLowersPath = "wp.Bvh.lowers";  ///< corner of each box with the least coordinates
inline constexpr std::string_view kBvhUppersPath = "wp.Bvh.uppers";  ///< corner with the greatest coordinates
inline constexpr std::string_view kBvhGroupsPath = "wp.Bvh.groups";  ///< group of each box
inline constexpr std::string_view kBvhOrderPath = "wp.Bvh.order";    ///< order of the boxes, a permutation

/// The values of the textures of each number of dimensions: an array with a row for each texture.
inline constexpr std::string_view kTexturePathPrefix = "wp.Texture";
inline constexpr std::string_view kTextures1DPath = "wp.Texture1D.values";
inline constexpr std::string_view kTextures2DPath = "wp.Texture2D.values";
inline constexpr std::string_view kTextures3DPath = "wp.Texture3D.values";

inline constexpr std::string_view kVolumePathPrefix = "wp.Volume.";
/// The values of the voxels of all volumes of each type: a row for each volume.
inline constexpr std::string_view kVolumeFloatsPath = "wp.Volume.floats";
inline constexpr std::string_view kVolumeVectorsPath = "wp.Volume.vectors";
inline constexpr std::string_view kVolumeIntsPath = "wp.Volume.ints";
inline constexpr std::string_view kVolumeExtentsPath = "wp.Volume.extents";  ///< numbers of voxels along the axes
inline constexpr std::string_view kVolumeSizesPath = "wp.Volume.sizes";      ///< edges of a voxel in the world
inline constexpr std::string_view kVolumeOriginsPath = "wp.Volume.origins";  ///< position of voxel (0, 0, 0)

/// Whether the path is that of an array of all meshes, hash grids, hierarchies of boxes, textures or volumes.
constexpr bool is_spatial_path(std::string_view path) {
  return path.starts_with(kMeshPathPrefix) || path.starts_with(kGridPathPrefix) || path.starts_with(kBvhPathPrefix) ||
         path.starts_with(kTexturePathPrefix) || path.starts_with(kVolumePathPrefix);
}

}  // namespace assay::ir
