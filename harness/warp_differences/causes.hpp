// Causes of differences between Warp's gradients and ours, inferred from the text of the kernel.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ir/module.hpp"

namespace assay::warp {

/// A difference is attributed to the first construct in this order that the kernel contains: earlier constructs are
/// incorrect more often.
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
  std::string_view explanation;  ///< the behaviour of Warp, and the correct one
};
/// All causes, in the order of Cause.
std::span<const CauseRow> causes();

/// The cause for a kernel, including the functions that it calls.
Cause cause_of(const ir::Module& module, const ir::Function& kernel);

}  // namespace assay::warp
