// Reduces a kernel to a minimal one that still fails in the same way. Start here.
//
//     Result<Reduction> reduced = reduce(module, [&](std::span<const ir::Module> candidates) {
//       return ...;                                      // which of them still fail in the same way
//     }, {.time_limit = std::chrono::seconds(60)});
//
// Delta debugging (Zeller and Hildebrandt, 2002) with the steps of step.hpp: each step is tried at all of its places at
// once, then at halves of them, and so on. Candidates that still fail in the same way are accepted; steps are repeated
// until none helps. A candidate is always valid and smaller (size.hpp). The reducer is independent of devices: the
// judge decides. It is deterministic for the same judgments, except for the time limit.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "harness/reduce/size.hpp"
#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::reduce {

/// Returns for each candidate whether it still fails in the same way. Candidates are valid, have one kernel, and come
/// in batches so that they can be built together and judged concurrently. A candidate is accepted only if it also fails
/// in the same way when it is judged alone, because in a batch it may use definitions of other sources.
using Judge = std::function<std::vector<bool>(std::span<const ir::Module>)>;

/// The limits of a reduction.
struct ReductionBudget {
  /// Limit on the wall time; a batch in progress at its end is completed.
  std::chrono::milliseconds time_limit{60'000};
  std::int64_t max_candidates = 10'000;  ///< maximum number of candidates to judge
};

/// Progress of a reduction, reported each time the kernel becomes smaller.
struct ReductionProgress {
  std::string_view step_name;        ///< name of the step that made the kernel smaller
  KernelSize size;                   ///< size of the smallest kernel so far
  std::int64_t candidate_count = 0;  ///< number of candidates judged so far
};
using ProgressCallback = std::function<void(const ReductionProgress&)>;

/// The result of a reduction.
struct Reduction {
  ir::Module module;                         ///< the reduced module
  KernelSize original_size;                  ///< size of the original kernel
  KernelSize reduced_size;                   ///< size of the reduced kernel
  std::int64_t candidate_count = 0;          ///< number of candidates that were judged
  std::chrono::milliseconds elapsed_time{};  ///< wall time of the reduction
  bool is_minimal = false;  ///< whether no step makes the kernel smaller; false if the budget ended the reduction
};

/// A module with only this kernel and the definitions that it uses, without source text.
ir::Module alone(const ir::Module& module, std::size_t kernel);

/// Reduces the only kernel of a valid module. Fails if the judge rejects the module itself.
Result<Reduction> reduce(const ir::Module& module, const Judge& judge, ReductionBudget budget = {},
                         const ProgressCallback& on_progress = nullptr);

}  // namespace assay::reduce
