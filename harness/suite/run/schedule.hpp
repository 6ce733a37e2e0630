// Which kernels are built together, and in which order the batches are taken. Private to run.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "harness/suite/run/run.hpp"

namespace assay::harness {

/// What judging a kernel costs against others: the scalars that its code and its functions' compute, with which
/// compiling goes and which the optimiser multiplies; the trips of loops that the source gives as numbers, of which one
/// costs a twelfth of a scalar; and as much as 70 scalars for all else.
double expected_cost(const KernelSource& source, const RunOptions& options);

/// By families, those first whose kernels cost most: what takes long must not come last. Families stay together, for
/// their kernels share what the compiler instantiates.
void put_costliest_first(Group& group);

/// Sources that are built together, and how they are judged.
struct Batch {
  std::span<const KernelSource> sources;
  const RunOptions* options;
};

/// Batches of at most RunOptions::batch, and of no more than a share of their group; smaller towards the end, so that
/// no core waits long for another's last one, and where kernels are costly. Groups of the optimiser come first. The
/// same for every run of the same sources: what is built together is found in the cache together.
std::vector<Batch> batches_of(const std::vector<Group>& groups, std::size_t jobs);

}  // namespace assay::harness
