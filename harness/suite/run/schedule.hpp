// Decides which kernels are built together, and the order of the batches. Private to run.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "harness/suite/run/run.hpp"

namespace assay::harness {

/// Relative cost of judging a kernel: the number of scalars that its code and its functions compute, which determines
/// compile time and is multiplied by the optimization level; a twelfth of a scalar for each constant loop trip; and 70
/// scalars for everything else.
double expected_cost(const KernelSource& source, const RunOptions& options);

/// Sorts by family, the most expensive first, so that long work is not left to the end. Families stay together because
/// their kernels share template instantiations.
void sort_by_descending_cost(KernelGroup& group);

/// Sources that are built together, and how they are judged.
struct Batch {
  std::span<const KernelSource> sources;  ///< the kernels, which must outlive the batch
  const RunOptions* options;              ///< options of their group
  backends::Device* device;               ///< device of their group
};

/// Splits the groups into batches of at most RunOptions::batch_size kernels and at most a share of their group. Batches
/// are smaller toward the end, so that no core waits long for the last one, and for expensive kernels. Optimized
/// groups come first. If groups have different devices, the batches of the same kernels follow each other, so that they
/// share test plans. Deterministic, because the build cache stores batches as a whole.
std::vector<Batch> batches_of(const std::vector<KernelGroup>& groups, std::size_t jobs);

}  // namespace assay::harness
