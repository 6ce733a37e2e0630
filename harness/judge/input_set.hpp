// One input set: a launch, its cotangents and initial gradients, and the oracle's results in both precisions.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
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
/// Both precision variants.
inline constexpr std::array<Precision, 2> kBothPrecisions = {Precision::kNative, Precision::kPromoted};
constexpr backends::Precision to_backend_precision(Precision precision) {
  return precision == Precision::kNative ? backends::Precision::kNative : backends::Precision::kPromoted;
}

/// The kernel that a set belongs to, in both precisions. The referenced objects must outlive the sets.
struct KernelUnderTest {
  const ir::Module& module;                            ///< the module with the kernel's own types
  const ir::Function& kernel;                          ///< the kernel in `module`
  const ir::Module& promoted;                          ///< the same module with f64 for every float type
  const transforms::AdjointModule* adjoint = nullptr;  ///< the backward kernel; null: no backward pass
  const reference::Oracle& oracle;                     ///< the oracle for `module`
  const reference::Oracle& promoted_oracle;            ///< the oracle for `promoted`

  bool writes(std::size_t parameter) const;
  const ir::Module& module_in(Precision precision) const { return precision == Precision::kNative ? module : promoted; }
};

/// Whether the kernel or a function of its module has values of the scalar type.
bool computes_in(const KernelUnderTest& subject, ir::Scalar scalar);
/// Whether any operation of the kernel, other than a conversion, has operands of half precision (f16, bf16).
bool computes_in_half_precision(const KernelUnderTest& subject);
/// Whether a kernel with these parameter uses updates any array atomically.
bool has_atomics(const ir::ParameterUses& uses);

/// The inputs of one launch, and the oracle's results for them.
struct InputSet {
  DrawRequest request;  ///< the request that the inputs were drawn for
  /// Whether the inputs are drawn evenly from the domain. Such sets count for kMinConclusiveSetShare.
  bool is_uniform = false;
  std::array<ir::Launch, 2> launch_by_precision;  ///< the launch, by precision
  reference::ComponentValues cotangents;          ///< cotangents of the arrays that the kernel writes
  reference::ComponentValues initial_gradients;   ///< initial gradients of all other float parameters
  reference::ReferenceResult reference;           ///< the oracle's results for both precisions
  double input_mean = 0;                          ///< mean of all float inputs
  double informative_bound_factor = 1;            ///< the result of informative_bound_factor_of for the kernel

  /// By precision: the oracle's results along the other paths that the bounds allow, if few decisions are uncertain.
  std::array<std::vector<reference::ReferenceResult>, 2> alternative_path_results;

  /// The results that a correct implementation may compute. Empty if they are unknown.
  std::vector<const reference::ReferenceResult*> references(Precision precision) const;
  bool is_conclusive(Precision precision) const { return !references(precision).empty(); }
  /// Whether the gradient is known and exists. False for inputs that are not for the backward pass.
  bool has_conclusive_gradient(Precision precision) const;
};

/// Factor by which a gradient's native bound may exceed 2^-10 of its scale and still be informative: 2^8 for kernels
/// that compute in f16 or bf16, where a few operations lose that much accuracy. With f64 promotion the limit stays
/// 2^-10.
double informative_bound_factor_of(const KernelUnderTest& subject);

/// Number of scalar components of an array or value.
std::size_t component_count(const KernelUnderTest& subject, const ir::Argument& argument);

/// A scalar component of a parameter, such as "x[3, 1]", with ".2" for a component of a vector, a matrix or a struct.
std::string component_notation(const ir::Module& module, const ir::Function& kernel, std::size_t parameter,
                               const ir::Argument& argument, std::size_t component);

/// The scale against which the bound of an informative gradient must be narrow: the gradient or its contributions, or
/// the sum of all path contributions if they cancel (total - total).
double scale_of(const reference::GradientElement& element, Precision precision);

/// A dense cotangent or initial gradient, exact in every float type: plus or minus (0.5 + j / 1024), with j distinct
/// over 512 neighbors.
double dense_value(std::size_t position, std::uint64_t salt);

/// Expected content of an array that the kernel writes, after a forward run. For a reference of accessed elements only
/// (reference::OutputArray), it contains only these, in order.
struct ExpectedArray {
  std::vector<ExpectedScalar> scalars;  ///< scalars of the array, in the order of read_scalars
  std::vector<bool> is_written;         ///< by scalar: whether a thread writes it
};
/// By parameter; empty for parameters that the kernel does not write.
std::vector<std::optional<ExpectedArray>> expected_outputs(const reference::ReferenceResult& reference,
                                                           Precision precision);

/// Initial content of gradient buffers.
enum class InitialGradient : std::uint8_t { kNonZero, kZero };

/// The gradient buffers of a backward run, by gradient parameter: cotangents, times `cotangent_factor`, for arrays that
/// the kernel writes; otherwise the initial gradient or zero.
std::vector<ir::Argument> make_gradient_arguments(const KernelUnderTest& subject, const InputSet& set,
                                                  Precision precision, InitialGradient start, double cotangent_factor);
/// Expected content of the buffers after the backward run, by gradient parameter, with cotangent_factor 1.
std::vector<std::vector<ExpectedScalar>> expected_gradients(const KernelUnderTest& subject, const InputSet& set,
                                                            const reference::ReferenceResult& reference,
                                                            Precision precision, InitialGradient start);
/// For a reference made with OracleRun::reports_only_accessed_elements: by gradient, the scalars of its buffer that the
/// reference contains. All others stay zero.
std::vector<std::map<std::size_t, ExpectedScalar>> expected_accessed_gradients(
    const KernelUnderTest& subject, const InputSet& set, const reference::ReferenceResult& reference,
    Precision precision, InitialGradient start);
/// The derivative of <w, f> along the first direction of the tangents of f, where w are the set's cotangents.
long double derivative_of_weighted_outputs(const InputSet& set, const reference::Tangents& tangents);
/// By scalar of a gradient's buffer: the index of its scalar component in the primal parameter.
std::vector<std::size_t> gradient_components(const KernelUnderTest& subject, const InputSet& set, std::size_t gradient);
/// By gradient parameter: whether the buffer also holds the cotangent, because the kernel writes the array.
std::vector<bool> carries_cotangent(const KernelUnderTest& subject);

/// The share of the written floats and of the gradients whose native bound is infinite; 0 if there are none.
[[nodiscard]] double unbounded_share(const reference::ReferenceResult& reference);

}  // namespace assay::harness
