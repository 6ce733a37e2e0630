// Causes of differences between Warp's gradients and the derivative, inferred from the text of the kernel, and which of
// them Warp documents.
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
  /// The section of Warp's user guide "Differentiability" that documents the behaviour; empty: not documented.
  std::string_view documented = {};
};
/// All causes, in the order of Cause.
std::span<const CauseRow> causes();
const CauseRow& row_of(Cause cause);

/// The cause for a kernel, including the functions that it calls.
Cause cause_of(const ir::Module& module, const ir::Function& kernel);

}  // namespace assay::warp
