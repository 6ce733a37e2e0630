// Causes of differences between Warp's gradients and the derivative, inferred from the text of the kernel, and which of
// them Warp documents.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ir/module.hpp"

namespace assay::warp {

/// A construct to which a difference between Warp's gradient and the derivative is attributed. The cause is the first
/// construct in this order that the kernel contains; earlier constructs are incorrect more often.
enum class GradientErrorCause : std::uint8_t {
  kWhile,                   ///< a while loop
  kJumpInLoop,              ///< `break`, `continue` or `return` in a loop
  kReusedArray,             ///< an array that the kernel reads and overwrites
  kNestedLoop,              ///< a dynamic loop inside another loop
  kLoop,                    ///< a dynamic loop
  kLongStaticLoop,          ///< a constant loop of more than 16 trips, which Warp does not unroll
  kAtomicExtreme,           ///< `wp.atomic_min` or `wp.atomic_max` on floats
  kFloatModulo,             ///< `%` or `//` on floats
  kFrac,                    ///< `wp.frac`
  kCurlNoise,               ///< `wp.curlnoise`
  kTileFunction,            ///< a function of tiles that gives no gradient, such as `wp.tile_min`
  kTileTranspose,           ///< `wp.tile_transpose`, whose adjoint changes the elements of the tile
  kScalarOfTile,            ///< an element of a tile, which each thread of a block computes with
  kComponentAssignment,     ///< components of a vector or fields of a struct assigned one by one
  kWhereOverflow,           ///< `wp.where` around a function that overflows
  kPow,                     ///< `wp.pow` or `**`
  kNormalize,               ///< `wp.normalize` or `wp.length` of a zero vector
  kNonDifferentiablePoint,  ///< non-differentiable points and poles of `abs`, `min`, `max` and similar functions
  kOther                    ///< none of the above
};

/// A cause, and where Warp documents it.
struct GradientErrorCauseEntry {
  GradientErrorCause cause;  ///< the cause
  std::string_view title;    ///< short name of the construct, in Markdown
  /// The section of Warp's user guide "Differentiability" that documents the behavior; empty: not documented.
  std::string_view documentation_section = {};
};
/// All causes, in the order of GradientErrorCause.
std::span<const GradientErrorCauseEntry> causes();
const GradientErrorCauseEntry& row_of(GradientErrorCause cause);

/// The cause for a kernel, including the functions that it calls.
GradientErrorCause cause_of(const ir::Module& module, const ir::Function& kernel);

/// Whether the kernel or a function that it calls has local arrays in place of tiles of its source. Warp then runs
/// other code than the source, and an incorrect gradient says nothing about Warp's tiles.
bool has_replaced_tiles(const ir::Module& module, const ir::Function& kernel);

}  // namespace assay::warp
