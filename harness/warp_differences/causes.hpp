// Why Warp's gradient of a kernel departs from ours, as far as the kernel's own text tells.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ir/module.hpp"

namespace assay::warp {

/// The first that a kernel has is what its departure is put down to: those before are wrong more often.
enum class Cause : std::uint8_t {
  kWhile,
  kJump,
  kReusedArray,
  kNestedLoop,
  kLoop,
  kLongStaticLoop,
  kAtomicExtreme,
  kMod,
  kFrac,
  kComponents,
  kWhere,
  kPow,
  kNormalize,
  kTie,
  kOther
};

struct CauseRow {
  Cause cause;
  std::string_view title;
  std::string_view explanation;  ///< what Warp does there and what is right
};
/// Every cause, in the order of Cause.
std::span<const CauseRow> causes();

/// Functions that the kernel calls count as part of it.
Cause cause_of(const ir::Module& module, const ir::Function& kernel);

}  // namespace assay::warp
