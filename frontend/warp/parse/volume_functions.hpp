// Functions of the language that compute the functions of volumes of Warp. A volume is a box of voxels: the voxel with
// the coordinates (0, 0, 0) and those after it are active, and all others have the background value zero. The volumes
// of a launch are rows of arrays.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/builder.hpp"

namespace assay::frontend::volumes {

/// Where a function finds the values of the voxels.
enum class Content : std::uint8_t {
  kVoxels,  ///< in an array of all volumes: of volumes, then of three coordinates
  kData,    ///< in an array of one volume; the number of a voxel counts all active voxels, the last coordinate fastest
};

/// Which value a place between voxels has.
enum class Mode : std::uint8_t {
  kGiven,    ///< the mode is a parameter: 0 for the closest voxel, 1 for interpolation, otherwise the value is zero
  kClosest,  ///< that of the closest voxel
  kLinear,   ///< interpolated between eight voxels
};

/// What a function finds at a place, and how.
struct Sampling {
  Content content = Content::kVoxels;  ///< where the values are
  ir::Type type = {};                  ///< type of a value
  /// Whether the function also returns the gradient by the coordinates: a vector, or for a vector a matrix with a row
  /// for each component.
  bool has_gradient = false;
  Mode mode = Mode::kGiven;  ///< which value a place between voxels has
};

/// Returns the name of the function without the namespace, such as "sample_grad_f"; `what` is "sample" or "lookup".
std::string name_of(std::string_view what, const Sampling& sampling);
/// The value at integer coordinates. The parameters are the values and the volume, or the extents of all volumes, the
/// volume, the data and the background; then three i32.
ir::Function lookup(const ir::Module& module, const Sampling& sampling);
/// The value at a vec3f. The parameters before the vector are those of `lookup`, which is the function with the index
/// `lookup_index`; the mode follows if it is a parameter. Integers are not interpolated.
ir::Function sample(const ir::Module& module, const Sampling& sampling, std::int32_t lookup_index);
/// Stores a value at integer coordinates, unless the voxel is not active. The parameters are the values, the volume,
/// three i32 and the value.
ir::Function store(const ir::Module& module, ir::Type type);
/// The number of a voxel, -1 if it is not active. The parameters are the extents, the volume and three i32.
ir::Function voxel_number(const ir::Module& module);
/// The number of active voxels. The parameters are the extents and the volume.
ir::Function voxel_count(const ir::Module& module);
/// Maps a vector from voxel coordinates to the world or back. The parameters are the sizes of a voxel, the positions of
/// voxel (0, 0, 0) unless the vector is a direction, the volume, and the vector, of f32 or f64.
ir::Function mapping(const ir::Module& module, ir::Scalar scalar, bool to_world, bool is_direction);

}  // namespace assay::frontend::volumes
