// Random kernels, one generator per family: the same seed makes the same kernel on every platform.
//
//     GeneratedKernel made = generate(Family::kLoop, 42);          // made.name == "loop/r2_42"
//     Result<GeneratedKernel> again = generate_named("loop/r2_42");
//
// The kernels look like what people write, use every float input, have no races and are well defined for
// inputs in their domains: by default [-2, 2] for floats, or as a comment above the kernel specifies,
// "domain: 0 <= n <= 12". Values stay small and derivatives well conditioned by construction (ranges.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/module.hpp"
#include "support/result.hpp"
#include "support/rng.hpp"

namespace assay::generators {

class KernelSketch;

/// The families of random kernels. Each exercises one feature of the language.
enum class Family : std::uint8_t {
  kArithmetic,        ///< operators on every scalar type
  kMath,              ///< scalar functions
  kConditional,       ///< if, where, conditional expressions, min, max, clamp, abs
  kMultiConditional,  ///< elif chains, nested and combined conditions
  kLoop,              ///< range loops with loop-carried state
  kNestedLoop,        ///< loops inside loops
  kControlFlow,       ///< while, break, continue and return
  kScalarParam,       ///< scalars and vectors passed by value
  kVector,            ///< vectors of 2 or more components
  kMatrix,            ///< square and rectangular matrices
  kQuaternion,        ///< quaternions
  kTransform,         ///< transforms, spatial vectors and matrices
  kRandomMath,        ///< random expression trees of operations and functions
  kInPlace,           ///< array elements that are changed in place
  kAtomic,            ///< atomic operations, with and without contention
  kReduction,         ///< sums, norms, argmin and argmax, histograms, softmax
  kArrayAccess,       ///< 1-D to 4-D arrays: transposition, gather, scatter, stencil
  kInteger,           ///< 8-bit to 64-bit integers
  kFunction,          ///< functions with several results or side effects, nested calls
  kCombined,          ///< several families in one kernel of 20 to 200 statements
  kStructParam,       ///< structs by value, in arrays and nested
  kPrecision,         ///< f16, bf16, f32 and f64, mixed types and casts
  kTile,              ///< tiles, which a block of threads processes together
  kSpatial            ///< queries of meshes, hash grids, hierarchies of boxes, textures and volumes
};

/// The name, description and generator of a family.
struct KernelFamilyDefinition {
  Family family;                 ///< the family
  std::string_view name;         ///< name of the family: "loop"
  std::string_view alias;        ///< another name that commands accept; empty for none
  std::string_view description;  ///< description in one line, which `assay list` prints
  /// Makes a random kernel in an empty sketch; null if the kernels are written as Python.
  void (*make)(KernelSketch&) = nullptr;
  /// Writes a random kernel with the given name as Python; null if `make` is not.
  std::string (*write)(Rng&, std::string_view) = nullptr;
};

/// Every family, in the order of Family.
std::span<const KernelFamilyDefinition> families();
const KernelFamilyDefinition& row(Family family);
/// The family with a name or alias. Names take precedence over aliases.
std::optional<Family> find_family(std::string_view name);

/// The version of the generators, which is part of the kernels' names. It changes when any seed would give a different
/// kernel, so that a name always identifies the same kernel.
inline constexpr int kGeneratorVersion = 2;

/// A random kernel and its name.
struct GeneratedKernel {
  ir::Module module;  ///< module with one kernel, named "r<version>_<seed>"
  std::string name;   ///< name of the kernel: "<family>/r<version>_<seed>"
  /// The Python text of the kernel if the generator writes Python. Empty if the module comes first.
  std::string python = {};
};

GeneratedKernel generate(Family family, std::uint64_t seed);

/// The kernel with a name returned by generate. Fails for an unknown family, another version or a malformed name.
Result<GeneratedKernel> generate_named(std::string_view name);

}  // namespace assay::generators
