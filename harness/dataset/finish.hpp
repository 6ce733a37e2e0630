// Makes a dataset from rows: replaces duplicates and near duplicates, keeps near duplicates of users' kernels and of
// shards in one split, writes all files.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/dataset/journal.hpp"
#include "harness/dataset/plan.hpp"
#include "harness/dataset/producer.hpp"
#include "harness/dataset/stats.hpp"
#include "support/result.hpp"

namespace assay::dataset {

inline constexpr std::string_view kSplits[] = {"train", "validation", "test"};

/// The share of the rows in the validation split, and in the test split.
inline constexpr double kHeldOutShare = 0.05;

/// The split of each row. Whole clusters go to test and validation, in an order determined by the ids and the seed,
/// until these splits have their share. `clusters` is the result of clusters_of.
std::vector<std::string_view> assign_splits(std::span<const std::string_view> ids,
                                            std::span<const std::uint32_t> clusters, std::uint64_t seed);

/// Name of a data file: data/train-00000-of-00003.jsonl.gz.
std::string data_file(std::string_view split, std::uint64_t number, std::uint64_t of, Compression compression);
/// Rows in a data file; the last file of a split has the remainder.
inline constexpr std::uint64_t kRowsPerFile = 4096;

/// The content of a dataset to finish; the lines of the rows are in the blocks of partial/.
struct UnfinishedDataset {
  std::filesystem::path dir;      ///< folder of the dataset
  DatasetPlan plan;               ///< the plan that the dataset follows
  std::vector<AcceptedRow> rows;  ///< ordered by slot; if a row's `line` is empty, its line is in the block of partial/
  std::vector<RowArenas> memory;  ///< owns the texts that `rows` refers to
  std::vector<RejectedCandidate> rejected;                                         ///< candidates that failed a check
  Timing timing;                                                                   ///< time spent so far
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();  ///< when the run started
  int jobs = 1;                                                                    ///< number of threads
  /// Called with the number of near duplicates that are being replaced, and then with 0 when the files are written; may
  /// be null.
  std::function<void(std::uint64_t replaced)> on_finishing = nullptr;
};

/// The counts of a finished dataset.
struct FinishedDataset {
  std::uint64_t rows = 0;            ///< number of rows in the dataset
  std::uint64_t requested_rows = 0;  ///< number of rows that the plan's shard asks for
  std::uint64_t rejected = 0;        ///< number of candidates that failed a check
  /// Number of rows that were replaced because they duplicated another row, or nearly so.
  std::uint64_t duplicate_count = 0;
  std::map<std::string, std::uint64_t> rejected_counts_by_verdict;  ///< number of rejected candidates, by verdict
  PassedRows passed_rows;                                           ///< numbers of rows that passed
  Timing timing;                                                    ///< time of making the dataset
  bool was_already_complete = false;  ///< whether the folder already held the finished dataset; all else is then empty
};

/// The name of each row's kernel: the first of its names that no earlier row has; if all are taken, the first one with
/// a number. A row without names keeps its kernel's name.
std::vector<std::string> assign_names(std::span<const AcceptedRow> rows);

/// Writes the dataset and removes partial/. `producer` makes rows that replace duplicates, and gives kernels names that
/// differ from those of all other rows.
Result<FinishedDataset> finish(UnfinishedDataset dataset, const RowProducer& producer);

}  // namespace assay::dataset
