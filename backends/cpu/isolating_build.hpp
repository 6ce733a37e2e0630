// Builds kernels in batches, and keeps one that does not build from taking its batch with it.
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

/// A batch that was built as one.
struct UnitBuilt {
  std::shared_ptr<const backends::Artifact> library;
  std::vector<std::vector<backends::BuiltEntry>> entries;  ///< of each kernel
  std::string log;
  bool from_cache = false;
};

/// A batch that was not, and the positions of the kernels that seem to be the reason; may be empty.
struct UnitFailed {
  backends::BuildFailed failure;
  std::set<std::size_t> blamed;
};

using UnitOutcome = std::variant<UnitBuilt, UnitFailed>;
using UnitBuilder = std::function<UnitOutcome(std::span<const backends::EmittedKernel* const>)>;

/// Builds all kernels with as few units as possible: after a failure the blamed kernels are built one by one and the
/// others together, or, when none or all are blamed, each half by itself. So a kernel has failed only if it failed
/// alone. A lack of resources is not searched for: it is everyone's outcome.
[[nodiscard]] std::vector<backends::BuildOutcome> build_isolating(
    std::span<const backends::EmittedKernel* const> kernels, const UnitBuilder& build_unit);

}  // namespace assay::cpu
