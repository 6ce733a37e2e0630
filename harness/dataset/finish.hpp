// From rows to a dataset: drops exact duplicates, keeps near duplicates in one split, writes all files.
#pragma once

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
#include "support/result.hpp"

namespace assay::dataset {

inline constexpr std::string_view kSplits[] = {"train", "validation", "test"};

/// Shares of the rows that validation and test get, each.
inline constexpr double kHeldOutShare = 0.05;

/// For each row its split: whole clusters, in an order that the ids and the seed decide, go to test and validation
/// until these have their share. `clusters` is what clusters_of gave.
std::vector<std::string_view> splits_of(std::span<const std::string_view> ids, std::span<const std::uint32_t> clusters,
                                        std::uint64_t seed);

/// data/train-00000-of-00003.jsonl.zst
std::string data_file(std::string_view split, std::uint64_t number, std::uint64_t of);
/// Rows in a data file; the last one of a split has what is left.
inline constexpr std::uint64_t kRowsPerFile = 4096;

/// What goes into a dataset; the rows' lines lie in the blocks of partial/.
struct Material {
  std::filesystem::path dir;
  Plan plan;
  std::vector<Accepted> rows;       ///< by slot; those whose `line` is empty have it in their block
  std::vector<RowMemories> memory;  ///< of the rows
  std::vector<Rejected> rejected;
  Timing timing;
};

struct Finished {
  std::uint64_t rows = 0;
  std::uint64_t wanted = 0;
  std::uint64_t rejected = 0;
  std::uint64_t duplicates = 0;
  std::map<std::string, std::uint64_t> rejected_kinds;
  Timing timing;
  bool was_complete = false;  ///< nothing was left to do
};

/// Writes the dataset and removes partial/. `producer` makes rows in place of duplicates.
Result<Finished> finish(Material material, const Producer& producer);

}  // namespace assay::dataset
