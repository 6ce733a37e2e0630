// Random kernels, one generator per family: the same seed makes the same kernel on every platform.
//
//     Generated made = generate(Family::kLoop, 42);          // made.name == "loop/r1_42"
//     Result<Generated> again = generate_named("loop/r1_42");
//
// The kernels look like what people write, use every float input, have no races and are well defined for
// inputs in their domains: the usual [-2, 2] of floats, or what a comment above the kernel says,
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

class Sketch;

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

struct FamilyRow {
  Family family;
  std::string_view name;
  std::string_view alias;   ///< another name that commands accept; empty for none
  std::string_view covers;  ///< one line for `assay list`
  void (*make)(Sketch&);    ///< makes a random kernel
};

/// Every family, in the order of Family.
std::span<const FamilyRow> families();
const FamilyRow& row(Family family);
/// The family of a name or an alias. A family's own name comes before another's alias.
std::optional<Family> find_family(std::string_view name);

/// Changes whenever some seed would make another kernel, so that a name stands for one kernel for good.
inline constexpr int kGeneratorVersion = 1;

struct Generated {
  ir::Module module;  ///< one kernel, named "r<version>_<seed>"
  std::string name;   ///< "<family>/r<version>_<seed>"
};

Generated generate(Family family, std::uint64_t seed);

/// The kernel of a name that generate gave. Fails for an unknown family, another version or a malformed name.
Result<Generated> generate_named(std::string_view name);

}  // namespace assay::generators
