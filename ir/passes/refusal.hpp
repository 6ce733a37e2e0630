// What the adjoint pass refuses, one label each: an error with the source line, never a silent zero.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "ir/module.hpp"
#include "ir/support/result.hpp"

namespace assay::passes {

enum class Refusal : std::uint8_t {
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

struct RefusalRow {
  Refusal refusal;
  std::string_view label;
  std::string_view text;  ///< what is wrong and what to do
};

inline constexpr std::array<RefusalRow, 13> kRefusals = {{
    {Refusal::kLocalArray, "A01-local-array", "a local array has no adjoint yet; use scalars or a vector"},
    {Refusal::kUnorderedAtomic, "A04-unordered-atomic",
     "which thread's value remains depends on the order of threads, so there is no derivative"},
    {Refusal::kExtremumAtomic, "A05-extremum-atomic",
     "atomics take the minimum or maximum of an array that the kernel also changes in another way, so its final "
     "content "
     "does not tell which thread won"},
    {Refusal::kAtomicResult, "A06-atomic-result",
     "the previous content returned by an atomic depends on the order of threads; a derivative that needs it does "
     "not exist"},
    {Refusal::kReadOfAtomic, "A07-read-of-atomic",
     "the kernel reads an array that it also updates atomically, so it may read what another thread wrote"},
    {Refusal::kOverwrittenInLoop, "A08-overwritten-in-loop",
     "a loop reads values that the backward pass needs from an array that the kernel overwrites in or after that "
     "loop; keep the value in a variable, or read from another array"},
    {Refusal::kTooLarge, "A09-too-large",
     "the kernel is too large once its functions are inlined, as the adjoint needs; shorten the chain of calls"},
    {Refusal::kReplayOnly, "A10-replay-only",
     "a function with a replay gives a float that the derivative needs; give it a gradient too (func_grad)"},
    {Refusal::kCustomMemory, "A11-custom-memory",
     "a gradient or replay reads an array that the backward pass changes, so that what it reads depends on the order "
     "of "
     "the sweeps"},
    {Refusal::kNonlinearGradient, "A12-nonlinear-gradient",
     "the gradient of a function is not linear in the adjoints that it is given, so it is no derivative; scale them by "
     "what does not depend on them"},
    {Refusal::kTileControl, "A13-tile-control",
     "a function that is applied to a tile repeats a while loop until its element says so, or ranges over it; give the "
     "loop a number of trips that is the same for all elements"},
    {Refusal::kTilePart, "A14-tile-part",
     "a function that is applied to a tile makes a vector, matrix or struct of its elements; compute with scalars"},
    {Refusal::kTileCustom, "A15-tile-custom",
     "a function with a gradient or replay of its own is applied to a tile; apply it to scalars"},
}};

constexpr const RefusalRow& row(Refusal refusal) { return kRefusals[static_cast<std::size_t>(refusal)]; }

/// The error of a refusal: "A01-local-array: ...", at file:line:column.
Error refuse(Refusal refusal, const ir::Module& module, ir::Loc loc, const std::string& subject = {});

}  // namespace assay::passes
