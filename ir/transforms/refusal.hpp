// The reasons for which the adjoint pass rejects a kernel. Each has a label and is reported as an error with the source
// line; a derivative that does not exist never silently becomes zero.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::transforms {

/// Why the adjoint pass rejects a kernel. kRejections has the explanations.
enum class AdjointRejection : std::uint8_t {
  kUnsupportedLocalArray,         ///< a local array whose size or element type is not supported
  kUnorderedAtomic,               ///< an atomic whose final value depends on the order of threads
  kOverwrittenAtomicExtremum,     ///< an atomic minimum or maximum on an array that is also changed in another way
  kUseOfAtomicResult,             ///< a derivative that depends on the previous value returned by an atomic
  kReadOfAtomicallyUpdatedArray,  ///< a read of an array that the kernel also updates atomically
  kValueOverwrittenInLoop,        ///< a loop that reads values from an array that is overwritten in or after the loop
  kKernelTooLarge,                ///< too much code after function inlining
  kReplayWithoutGradient,         ///< a derivative that depends on a function with a replay but no gradient
  kCustomFunctionReadsChangedArray,  ///< a gradient or replay that reads an array which the backward pass changes
  kNonlinearCustomGradient,          ///< a gradient that is not linear in the adjoints that it receives
  kElementDependentTripCount,  ///< a function applied to a tile whose loop has a different trip count for each element
  kAggregateOfTileElement,     ///< a function applied to a tile that builds a vector, matrix or struct from an element
  kTileCustomDerivative,       ///< a function with a custom gradient or replay, applied to a tile
};

/// The label and the explanation of one reason.
struct RejectionEntry {
  AdjointRejection rejection;    ///< the reason
  std::string_view label;        ///< label in messages: "A01-local-array"
  std::string_view explanation;  ///< what is unsupported, why, and what to do
};

inline constexpr std::array<RejectionEntry, 13> kRejections = {{
    {AdjointRejection::kUnsupportedLocalArray, "A01-local-array",
     "local arrays of this size or element type are not supported; use scalars or a vector"},
    {AdjointRejection::kUnorderedAtomic, "A04-unordered-atomic",
     "the final value depends on the order of threads, so the derivative does not exist"},
    {AdjointRejection::kOverwrittenAtomicExtremum, "A05-extremum-atomic",
     "the array is updated by an atomic minimum or maximum and also changed in another way, so its final content does "
     "not identify the thread whose value was kept"},
    {AdjointRejection::kUseOfAtomicResult, "A06-atomic-result",
     "the previous value returned by an atomic depends on the order of threads, so a derivative that needs it does not "
     "exist"},
    {AdjointRejection::kReadOfAtomicallyUpdatedArray, "A07-read-of-atomic",
     "the kernel reads an array that it also updates atomically, so it may read a value written by another thread"},
    {AdjointRejection::kValueOverwrittenInLoop, "A08-overwritten-in-loop",
     "a loop reads values that the backward pass needs from an array that the kernel overwrites in or after the loop; "
     "keep the value in a variable, or read from another array"},
    {AdjointRejection::kKernelTooLarge, "A09-too-large",
     "the kernel is too large after function inlining; shorten the chain of calls"},
    {AdjointRejection::kReplayWithoutGradient, "A10-replay-only",
     "the derivative depends on a float returned by a function that has a replay but no gradient; define a gradient "
     "(func_grad)"},
    {AdjointRejection::kCustomFunctionReadsChangedArray, "A11-custom-memory",
     "a gradient or replay function reads an array that the backward pass changes, so the values that the function "
     "reads depend on when it runs"},
    {AdjointRejection::kNonlinearCustomGradient, "A12-nonlinear-gradient",
     "a gradient function must be linear in the adjoints it receives; multiply adjoints only by values that do not "
     "depend on adjoints"},
    {AdjointRejection::kElementDependentTripCount, "A13-tile-control",
     "a function applied to a tile has a loop whose trip count depends on the element; use the same trip count for all "
     "elements"},
    {AdjointRejection::kAggregateOfTileElement, "A14-tile-part",
     "a function applied to a tile builds a vector, matrix or struct from the element; compute with scalars"},
    {AdjointRejection::kTileCustomDerivative, "A15-tile-custom",
     "a function with a custom gradient or replay cannot be applied to a tile; apply it to scalars"},
}};

/// Returns the label and the explanation of the reason.
constexpr const RejectionEntry& row(AdjointRejection rejection) {
  return kRejections[static_cast<std::size_t>(rejection)];
}

/// The error for a rejection: "A01-local-array: ...", at file:line:column.
Error reject(AdjointRejection rejection, const ir::Module& module, ir::Loc loc, const std::string& subject = {});

}  // namespace assay::transforms
