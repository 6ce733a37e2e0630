// Makes a dataset: several threads write blocks of rows, each flushed to disk before the journal counts it; the result
// is the folder described in docs/guide/make_a_dataset.md. A run killed at any point can be continued with `resume` and
// gives the same bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "harness/dataset/finish.hpp"
#include "harness/dataset/plan.hpp"
#include "harness/dataset/producer.hpp"
#include "support/result.hpp"

namespace assay::dataset {

/// Called with the numbers of rows and rejected candidates made so far, from any thread but never concurrently.
using RowsDone = std::function<void(std::uint64_t rows, std::uint64_t rejected)>;

/// Where and how a dataset is made.
struct DatasetGenerationOptions {
  std::filesystem::path output;    ///< folder of the dataset
  bool resume = false;             ///< continue the unfinished dataset in `output`
  int jobs = 1;                    ///< number of blocks made concurrently
  RowsDone on_progress = nullptr;  ///< may be null
  /// See UnfinishedDataset::on_finishing; may be null.
  std::function<void(std::uint64_t replaced)> on_finishing = nullptr;
};

/// Fails if the folder contains a dataset and `resume` is not set, if it contains a dataset of another plan, or if a
/// file cannot be written; flushed blocks then remain for --resume.
Result<FinishedDataset> generate(const DatasetPlan& plan, const RowProducer& producer,
                                 const DatasetGenerationOptions& options);

/// Merges all shards of a dataset, given in any order. The producer replaces duplicates and near duplicates of rows in
/// other shards.
Result<FinishedDataset> merge_shards(const std::vector<std::filesystem::path>& shards, const RowProducer& producer,
                                     const DatasetGenerationOptions& options);

/// The plan of the whole dataset of these shards. Fails if they differ in more than the shard, or if one is missing,
/// given twice or not finished.
Result<DatasetPlan> whole_plan(const std::vector<std::filesystem::path>& shards);

}  // namespace assay::dataset
