// Runs kernels in Warp: writes a folder with sources, inputs and a plan, runs harness/warp_differences/run_warp.py on
// it, and reads the results.
//
// In the folder, plan.json lists for each case its source file, which cases with equal text share, and its kernel, and
// for each launch its extents, its parameters (shape, bytes, whether differentiable and with a cotangent) and a data
// file. The data file contains the memory of each parameter, followed by its cotangent, if any, in the same layout. The
// memory layout is that of ir/launch.hpp, which is also Warp's.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/warp_differences/signatures.hpp"
#include "harness/warp_differences/subject.hpp"
#include "support/result.hpp"

namespace assay::warp {

/// How a pass ended in Warp.
enum class WarpPassStatus : std::uint8_t {
  kDone,      ///< Warp completed the pass
  kRejected,  ///< Warp raised an exception, for example because it cannot compile the kernel
  kCrashed,   ///< Warp's process died
  kTimedOut,  ///< Warp exceeded the time limit of the pass
  kNoAnswer,  ///< the pass was not run, or no result of it was found
};
std::string_view to_text(WarpPassStatus status);

/// Warp's result for one pass of one launch.
struct WarpPassResult {
  WarpPassStatus status = WarpPassStatus::kNoAnswer;  ///< how the pass ended
  std::string message = {};                           ///< the exception or other reason; empty if kDone
  /// If kDone, by parameter: the memory of the array or of its gradient; empty for values.
  std::vector<std::vector<std::byte>> array_contents = {};
};

/// Warp's results for one launch.
struct WarpLaunchResult {
  WarpPassResult forward;   ///< result of the forward pass
  WarpPassResult backward;  ///< result of the backward pass; kNoAnswer if not requested
};

/// Warp's results for all kernels, and the software that computed them.
struct WarpResults {
  /// Versions of Warp, NumPy and Python, and the architecture of the processor.
  std::string warp, numpy, python, processor_architecture;
  std::vector<std::vector<WarpLaunchResult>> launch_results;  ///< by kernel and launch
};

/// Limits on running kernels in Warp.
struct WarpRunLimits {
  int jobs = 2;                                  ///< number of Warp processes at once
  std::chrono::seconds time_limit_per_pass{60};  ///< limit on one pass of one launch
  std::chrono::seconds total_time_limit{1500};   ///< limit on all kernels together
};

/// Runs the kernels in Warp. `cache` stores Warp's compiled kernels for the next run. Fails with Warp's last output if
/// Warp did not finish the plan; failures of single passes are in their results.
Result<WarpResults> run_in_warp(const WarpInterpreter& interpreter, const std::filesystem::path& root,
                                const std::filesystem::path& cache, const std::vector<ComparedKernel>& subjects,
                                const WarpRunLimits& limits = {});

}  // namespace assay::warp
