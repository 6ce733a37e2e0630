// Builds kernels in batches and isolates the kernels that fail, so that the rest of a batch still builds.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <variant>
#include <vector>

#include "backends/device/backend.hpp"

namespace assay::cpu {

/// A batch that was built as one unit.
struct BuiltUnit {
  std::shared_ptr<const backends::Artifact> library;
  std::vector<std::vector<backends::BuiltEntry>> entries;  ///< for each kernel
  std::string log;
  bool from_cache = false;
};

/// A batch that failed, and the positions of the kernels that the log blames, if any.
struct FailedUnit {
  backends::BuildFailed failure;
  std::set<std::size_t> faulty_kernels;
};

using UnitOutcome = std::variant<BuiltUnit, FailedUnit>;
using UnitBuilder = std::function<UnitOutcome(std::span<const backends::EmittedKernel* const>)>;

/// Builds all kernels in as few units as possible. After a failure, the faulty kernels are built one by one and the
/// others together; if none or all are faulty, the batch is halved. A kernel is therefore reported as failed only if it
/// failed when built alone. A resource failure is not bisected: it becomes the outcome of every kernel.
[[nodiscard]] std::vector<backends::BuildOutcome> build_isolating_failures(
    std::span<const backends::EmittedKernel* const> kernels, const UnitBuilder& build_unit);

}  // namespace assay::cpu
