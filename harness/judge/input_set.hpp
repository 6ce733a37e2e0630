// One input set: a launch, its seeds and prefills, and what the oracle says of it in both lanes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "backends/device/emitted_kernel.hpp"
#include "harness/judge/compare/comparator.hpp"
#include "harness/judge/inputs/input_space.hpp"
#include "ir/analysis.hpp"
#include "ir/launch.hpp"
#include "ir/transforms/adjoint.hpp"
#include "reference/cpu/reference.hpp"

namespace assay::harness {

using Precision = reference::Precision;
inline constexpr std::array<Precision, 2> kBothPrecisions = {Precision::kNative, Precision::kPromoted};
constexpr backends::Precision device_precision(Precision precision) {
  return precision == Precision::kNative ? backends::Precision::kNative : backends::Precision::kPromoted;
}

/// The kernel that a set belongs to, in both lanes. Plain references: the owner outlives the sets.
struct Subject {
  const ir::Module& module;
  const ir::Function& kernel;
  const ir::Module& promoted;                    ///< the same module with every float as f64
  const transforms::Adjoint* adjoint = nullptr;  ///< null: no backward pass
  const reference::Oracle& oracle;
  const reference::Oracle& promoted_oracle;  ///< of the lifted module

  bool writes(std::size_t parameter) const;
  const ir::Module& module_in(Precision precision) const { return precision == Precision::kNative ? module : promoted; }
};

/// Whether the kernel, or a function beside it, has values of the scalar type.
bool computes_in(const Subject& subject, ir::Scalar scalar);
/// Whether the kernel, of whose parameters these are the uses, updates any array atomically.
bool has_atomics(const ir::ParameterUses& uses);

struct InputSet {
  DrawRequest request;
  bool generic = false;
  std::array<ir::Launch, 2> launch;              ///< by lane
  reference::ComponentValues seeds;              ///< for arrays that the kernel writes
  reference::ComponentValues initial_gradients;  ///< for other gradients
  reference::Reference reference;
  double input_mean = 0;    ///< over all float inputs
  double native_width = 1;  ///< native_width_of the subject

  /// By lane: where decisions are uncertain but few, what the oracle says along the other paths that the bounds allow.
  std::array<std::vector<reference::Reference>, 2> other_paths;

  /// What a right implementation may compute, of which it must compute one; empty where that is not known.
  std::vector<const reference::Reference*> references(Precision precision) const;
  bool conclusive(Precision precision) const { return !references(precision).empty(); }
  bool conclusive_gradient(Precision precision) const;
};

/// By how much wider than 2^-10 of a gradient's scale its native bound may be and still mean something. 2^8 where the
/// kernel computes in f16 or bf16, of which a few operations leave no more; the double lift is held to 2^-10 as ever.
double native_width_of(const Subject& subject);

/// Number of float and other leaves of an array or value.
std::size_t component_count(const Subject& subject, const ir::Argument& argument);

/// What the bound of a gradient must be narrow against to be informative: the gradient or its contributions, or where
/// its paths cancel (total - total) all that went along them.
double scale_of(const reference::GradientElement& element, Precision precision);

/// A dense cotangent or prefill, exact in every float type: plus or minus (0.5 + j / 1024), j distinct over 512
/// neighbours.
double dense_value(std::size_t position, std::uint64_t salt);

/// What the arrays that the kernel writes must hold after a forward run, by parameter; empty for other parameters.
/// Cells that nobody writes are left out of `written`. Of a reference of touched cells only (reference::OutputArray):
/// these in turn.
struct ExpectedArray {
  std::vector<Expected> scalars;
  std::vector<bool> written;
};
std::vector<std::optional<ExpectedArray>> expected_outputs(const reference::Reference& reference, Precision precision);

/// How gradient buffers start.
enum class Start : std::uint8_t { kNonZero, kZero };

/// The gradient buffers of a backward run, by gradient parameter: seeds, times `seed_factor`, for arrays that the
/// kernel writes; otherwise the prefill or zero.
std::vector<ir::Argument> gradient_arguments(const Subject& subject, const InputSet& set, Precision precision,
                                             Start start, double seed_factor);
/// What they must hold afterwards, by gradient parameter, with seed_factor 1.
std::vector<std::vector<Expected>> expected_gradients(const Subject& subject, const InputSet& set,
                                                      const reference::Reference& reference, Precision precision,
                                                      Start start);
/// Of a reference of touched cells only, with Run::touched_only: by gradient, the scalars of its buffer that the
/// reference tells of. All others stay zero.
std::vector<std::map<std::size_t, Expected>> touched_gradients(const Subject& subject, const InputSet& set,
                                                               const reference::Reference& reference,
                                                               Precision precision, Start start);
/// By scalar of a gradient's buffer: the number of the leaf that it belongs to among those of the primal parameter.
std::vector<std::size_t> gradient_leaves(const Subject& subject, const InputSet& set, std::size_t gradient);
/// By gradient parameter: whether the buffer also carries the seed, because the kernel writes the array.
std::vector<bool> carries_seed(const Subject& subject);

}  // namespace assay::harness
