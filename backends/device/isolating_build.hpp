// Builds kernels in batches and isolates the kernels that fail, so that the rest of a batch still builds.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <variant>
#include <vector>

#include "backends/device/backend.hpp"

namespace assay::backends {

/// A batch of kernels that was built as one unit.
struct BuiltBatch {
  std::vector<BuiltKernel> kernels;  ///< built kernels, in the order of the batch
};

/// A batch that could not be built, and which of its kernels caused that, if known.
struct FailedBatch {
  BuildFailed failure;  ///< why the batch failed
  std::set<std::size_t>
      faulty_kernel_positions;  ///< positions in the batch of the kernels that the log blames; may be empty
};

using BatchOutcome = std::variant<BuiltBatch, FailedBatch>;
using BatchBuilder = std::function<BatchOutcome(std::span<const EmittedKernel* const>)>;

/// Builds all kernels in as few units as possible. After a failure, the faulty kernels are built one by one and the
/// others together; if none or all are faulty, the batch is halved. A kernel is therefore reported as failed only if it
/// failed when built alone. A resource failure is not bisected: it becomes the outcome of every kernel.
[[nodiscard]] std::vector<BuildOutcome> build_isolating_failures(std::span<const EmittedKernel* const> kernels,
                                                                 const BatchBuilder& build_batch);

}  // namespace assay::backends
