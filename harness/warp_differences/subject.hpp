// The kernels to run in Warp, each with its inputs and its oracle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/judge/input_set.hpp"
#include "harness/judge/inputs/input_space.hpp"
#include "harness/suite/run/run.hpp"
#include "ir/module.hpp"
#include "reference/cpu/reference.hpp"
#include "support/result.hpp"

namespace assay::warp {

/// The launches of a kernel for which gradients are compared.
enum class GradientLaunches : std::uint8_t {
  kNone,                   ///< no launch
  kFirstLaunch,            ///< only the first launch
  kFirstAndRoundedLaunch,  ///< also a launch with float inputs rounded to multiples of 0.5, so that values tie exactly
};

/// A kernel that Warp and the oracle run on the same launches.
class ComparedKernel {
 public:
  /// Draws `launches` input sets; repeats a draw if the oracle finds a decision uncertain in the kernel's own types.
  /// Fails if the kernel could not be parsed, or if no such inputs were found.
  static Result<ComparedKernel> make(harness::KernelSource source, GradientLaunches gradients, int launches);

  /// With one given launch, forward only. Fails if the kernel could not be parsed, or if the oracle does not support it
  /// or reports a finding.
  static Result<ComparedKernel> with_launch(harness::KernelSource source, ir::Launch launch);

  /// Family and name of the kernel: "loop/dynamic_product"; for an example "examples/nbody.accelerate".
  std::string name() const { return source_.family + "/" + source_.kernel; }
  const std::string& python() const { return source_.python; }
  const ir::Module& module() const { return *source_.module; }
  const ir::Function& kernel() const { return module().kernels[source_.kernel_index]; }
  const reference::Oracle& oracle() const { return *oracle_; }
  const ir::ParameterUses& uses() const { return parameter_uses_; }
  const std::vector<bool>& uninitialized() const { return parameter_is_never_read_; }
  const std::vector<harness::InputSet>& sets() const { return input_sets_; }
  /// Whether the gradients of this launch are compared.
  bool has_gradient(std::size_t launch) const {
    return (gradient_launches_ != GradientLaunches::kNone && launch == 0) || is_on_grid(launch);
  }
  /// Whether the float inputs of this launch are rounded to multiples of 0.5.
  bool is_on_grid(std::size_t launch) const { return has_rounded_input_set_ && launch + 1 == input_sets_.size(); }

  /// Evaluates the oracle on a set, with its cotangents.
  reference::OracleRun run(const harness::InputSet& set) const;
  /// The kernel for the harness. Warp runs only native precision: the promoted module is the module itself.
  harness::KernelUnderTest kernel_under_test() const;

 private:
  ComparedKernel() = default;
  /// With an oracle and without input sets.
  static Result<ComparedKernel> with_oracle(harness::KernelSource source);
  void add_grid_set(const harness::InputSet& drawn, const harness::Preconditions& preconditions);

  harness::KernelSource source_;                                  ///< the kernel
  GradientLaunches gradient_launches_ = GradientLaunches::kNone;  ///< launches for which gradients are compared
  std::unique_ptr<const reference::Oracle> oracle_;               ///< the oracle for the kernel
  ir::ParameterUses parameter_uses_;                              ///< how the kernel uses its parameters
  std::vector<bool> parameter_is_never_read_;  ///< by parameter: whether it is an array that the kernel never reads
  std::vector<harness::InputSet> input_sets_;  ///< one for each launch
  bool has_rounded_input_set_ = false;  ///< whether the float inputs of the last set are rounded to multiples of 0.5
};

/// The kernels of all curated cases, of the files in `root`/examples, and `count` random kernels with alternating
/// families. Includes kernels that cannot be parsed, with the reason.
Result<std::vector<harness::KernelSource>> curated_sources();
Result<std::vector<harness::KernelSource>> example_sources(const std::filesystem::path& root);
Result<std::vector<harness::KernelSource>> random_sources(int count);

/// The kernels that can be compared, and messages about the others.
struct ComparedKernels {
  std::vector<ComparedKernel> kernels;                ///< the kernels that can be compared
  std::vector<std::string> excluded_kernel_messages;  ///< a line for each other kernel, with the reason
  std::vector<std::string> excluded_case_messages;    ///< of these lines, those about kernels of curated cases
};
/// Curated cases, examples and 500 random kernels; with gradients for the first two and for 100 random kernels. If the
/// environment variable ASSAY_WARP_CASES is set, only the kernels whose names begin with one of its words.
Result<ComparedKernels> all_subjects(const std::filesystem::path& root);

}  // namespace assay::warp
