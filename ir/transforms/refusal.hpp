// What the adjoint pass refuses, one label each: an error with the source line, never a silent zero.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::transforms {

enum class Rejection : std::uint8_t {
  kLocalArray,
  kUnorderedAtomic,
  kExtremumAtomic,
  kAtomicResult,
  kReadOfAtomic,
  kOverwrittenInLoop,
  kTooLarge,
  kReplayOnly,
  kCustomMemory,
  kNonlinearGradient,
  kTileControl,
  kTilePart,
  kTileCustom,
};

struct RejectionRow {
  Rejection rejection;
  std::string_view label;
  std::string_view text;  ///< what is wrong and what to do
};

inline constexpr std::array<RejectionRow, 13> kRejections = {{
    {Rejection::kLocalArray, "A01-local-array", "a local array has no adjoint yet; use scalars or a vector"},
    {Rejection::kUnorderedAtomic, "A04-unordered-atomic",
     "which thread's value remains depends on the order of threads, so there is no derivative"},
    {Rejection::kExtremumAtomic, "A05-extremum-atomic",
     "atomics take the minimum or maximum of an array that the kernel also changes in another way, so its final "
     "content "
     "does not tell which thread won"},
    {Rejection::kAtomicResult, "A06-atomic-result",
     "the previous content returned by an atomic depends on the order of threads; a derivative that needs it does "
     "not exist"},
    {Rejection::kReadOfAtomic, "A07-read-of-atomic",
     "the kernel reads an array that it also updates atomically, so it may read what another thread wrote"},
    {Rejection::kOverwrittenInLoop, "A08-overwritten-in-loop",
     "a loop reads values that the backward pass needs from an array that the kernel overwrites in or after that "
     "loop; keep the value in a variable, or read from another array"},
    {Rejection::kTooLarge, "A09-too-large",
     "the kernel is too large once its functions are inlined, as the adjoint needs; shorten the chain of calls"},
    {Rejection::kReplayOnly, "A10-replay-only",
     "a function with a replay gives a float that the derivative needs; give it a gradient too (func_grad)"},
    {Rejection::kCustomMemory, "A11-custom-memory",
     "a gradient or replay reads an array that the backward pass changes, so that what it reads depends on the order "
     "of "
     "the sweeps"},
    {Rejection::kNonlinearGradient, "A12-nonlinear-gradient",
     "the gradient of a function is not linear in the adjoints that it is given, so it is no derivative; scale them by "
     "what does not depend on them"},
    {Rejection::kTileControl, "A13-tile-control",
     "a function that is applied to a tile repeats a while loop until its element says so, or ranges over it; give the "
     "loop a number of trips that is the same for all elements"},
    {Rejection::kTilePart, "A14-tile-part",
     "a function that is applied to a tile makes a vector, matrix or struct of its elements; compute with scalars"},
    {Rejection::kTileCustom, "A15-tile-custom",
     "a function with a gradient or replay of its own is applied to a tile; apply it to scalars"},
}};

constexpr const RejectionRow& row(Rejection rejection) { return kRejections[static_cast<std::size_t>(rejection)]; }

/// The error of a refusal: "A01-local-array: ...", at file:line:column.
Error reject(Rejection rejection, const ir::Module& module, ir::Loc loc, const std::string& subject = {});

}  // namespace assay::transforms
