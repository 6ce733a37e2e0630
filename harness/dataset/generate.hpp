// Makes a dataset: blocks of rows by several threads, each on the disk before it counts, and in the end the folder that
// docs/guide/make_a_dataset.md describes. A run that was killed at any moment goes on with `resume` and ends in the
// same bytes.
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

/// Called as rows come, from any thread but never two at once.
using RowsDone = std::function<void(std::uint64_t rows, std::uint64_t rejected)>;

struct GenerateOptions {
  std::filesystem::path output;
  bool resume = false;  ///< go on with what the folder holds
  int jobs = 1;         ///< blocks at once
  RowsDone progress = nullptr;
};

/// Fails where the folder holds a dataset and `resume` is not asked for, or that of another plan, and where something
/// cannot be written: what was flushed then stays, for --resume.
Result<Finished> generate(const Plan& plan, const Producer& producer, const GenerateOptions& options);

/// Joins datasets that are the shards of one: all of them, in any order. Rows that two shards share are made anew by
/// the producer.
Result<Finished> merge(const std::vector<std::filesystem::path>& shards, const Producer& producer,
                       const GenerateOptions& options);

/// The plan of the whole whose shards these are. Fails where they differ in more than the shard, where one is missing,
/// comes twice or is not finished.
Result<Plan> whole_of(const std::vector<std::filesystem::path>& shards);

}  // namespace assay::dataset
