// Random kernels, one generator per family: the same seed makes the same kernel on every platform.
//
//     GeneratedKernel made = generate(Family::kLoop, 42);          // made.name == "loop/r1_42"
//     Result<GeneratedKernel> again = generate_named("loop/r1_42");
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

namespace assay::generators {

class KernelSketch;

enum class Family : std::uint8_t {
  kArithmetic,
  kMath,
  kConditional,
  kMultiConditional,
  kLoop,
  kNestedLoop,
  kControlFlow,
  kScalarParam,
  kVector,
  kMatrix,
  kQuaternion,
  kTransform,
  kRandomMath,
  kInPlace,
  kAtomic,
  kReduction,
  kArrayAccess,
  kInteger,
  kFunction,
  kCombined,
  kStructParam,
  kPrecision,
  kTile
};

struct KernelFamilyDefinition {
  Family family;
  std::string_view name;         ///< name of the family: "loop"
  std::string_view alias;        ///< another name that commands accept; empty for none
  std::string_view description;  ///< one line for `assay list`
  void (*make)(KernelSketch&);   ///< makes a random kernel in an empty sketch
};

/// Every family, in the order of Family.
std::span<const KernelFamilyDefinition> families();
const KernelFamilyDefinition& row(Family family);
/// The family with a name or alias. Names take precedence over aliases.
std::optional<Family> find_family(std::string_view name);

/// Changes whenever some seed would produce a different kernel, so that a name permanently identifies a kernel.
inline constexpr int kGeneratorVersion = 1;

struct GeneratedKernel {
  ir::Module module;  ///< module with one kernel, named "r<version>_<seed>"
  std::string name;   ///< name of the kernel: "<family>/r<version>_<seed>"
};

GeneratedKernel generate(Family family, std::uint64_t seed);

/// The kernel with a name returned by generate. Fails for an unknown family, another version or a malformed name.
Result<GeneratedKernel> generate_named(std::string_view name);

}  // namespace assay::generators
