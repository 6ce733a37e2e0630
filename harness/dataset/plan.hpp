// The plan of a dataset. It depends only on the command and the seed, so that every machine computes the same kernel
// for the same position.
//
// A dataset of n rows has n slots. A slot belongs to a family and has candidates (attempt 0, 1, ...). Its row is the
// first candidate that passes every check and does not duplicate the row of an earlier slot. Slots are processed in
// blocks; a shard makes every n-th block.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "harness/dataset/row.hpp"
#include "support/files.hpp"
#include "support/result.hpp"

namespace assay::dataset {

/// License of rows whose license nobody stated.
inline constexpr std::string_view kUnknownLicense = "unknown";
/// License of rows of random kernels, unless the user chooses another.
inline constexpr std::string_view kDefaultLicense = "CC-BY-4.0";

/// License of a dataset whose rows have different licenses: each row states its own.
inline constexpr std::string_view kLicensePerRow = "LicenseRef-per-row";

/// A family's part of the dataset.
struct FamilyShare {
  std::string family;           ///< name of the family
  double weight = 1;            ///< relative share of the rows, from 0.001 to 1e6
  std::uint64_t row_count = 0;  ///< number of rows of the family, computed by distribute_rows
  friend bool operator==(const FamilyShare&, const FamilyShare&) = default;
};

/// Part `shard_index` of `shard_count` parts of the dataset.
struct DatasetShard {
  std::uint32_t shard_index = 0;  ///< number of the part, from 0
  std::uint32_t shard_count = 1;  ///< number of parts of the dataset
  friend bool operator==(const DatasetShard&, const DatasetShard&) = default;
};

/// A kernel from a user's file or from a Python package.
struct UserKernel {
  std::string name;           ///< name in the dataset: "user/wave.step"
  std::string python_source;  ///< source text with only this kernel; empty if it could not be exported
  std::optional<live::KernelOrigin> origin = {};  ///< for a kernel of a package: where it comes from
  std::string export_error = {};                  ///< why `python_source` is empty
  /// Why the kernel of a file is not supported; `python_source` is then the text of the file. Empty if it is supported.
  std::string parse_error = {};
  friend bool operator==(const UserKernel&, const UserKernel&) = default;
};

/// The compiler that makes the PTX of the rows.
struct PtxCompiler {
  std::string architecture;  ///< architecture, such as "compute_75"; empty: the rows have no PTX
  std::string version;       ///< name and version of the compiler: "NVRTC 13.0.88"
  friend bool operator==(const PtxCompiler&, const PtxCompiler&) = default;
};

/// Everything that determines the rows of a dataset.
struct DatasetPlan {
  std::string generator_version;           ///< version of Assay
  std::string emitter = "assay";           ///< code generator of the C++ and CUDA C++: "assay" or "warp"
  std::string emitter_version;             ///< version of the emitter
  int kernel_generators_version = 0;       ///< version of the random kernel generators
  std::uint64_t row_count = 0;             ///< number of rows of the whole dataset
  std::uint64_t seed = 1;                  ///< seed of the kernels, their inputs and the splits
  std::vector<FamilyShare> family_shares;  ///< one for each family, in order; for user kernels the single family "user"
  /// Kernels of a user's files or of packages, which replace random ones; one slot each, in order.
  std::vector<UserKernel> user_kernels;
  /// Kernels, such as the tasks of a benchmark. Candidates that are near duplicates of them are rejected.
  std::vector<UserKernel> excluded_kernels;
  bool verifies_rows = true;  ///< whether the rows are judged
  std::string judging_effort =
      "standard";                    ///< how thoroughly rows are judged: "quick", "standard", "thorough" or "none"
  std::vector<std::string> devices;  ///< names of the devices that verify each row
  std::vector<std::string> numeric_modes;              ///< numeric modes of the devices: "cpu/strict"
  std::vector<DeviceCompiler> toolchain;               ///< the compilers of `devices`
  PtxCompiler ptx;                                     ///< makes the PTX of the rows
  std::string license = std::string(kUnknownLicense);  ///< license of the rows, for the card and the rows
  Compression compression = Compression::kGzip;        ///< format of the data files
  std::uint32_t slots_per_block = 32;                  ///< number of slots in a block
  DatasetShard shard;                                  ///< the part of the dataset that this run makes
  friend bool operator==(const DatasetPlan&, const DatasetPlan&) = default;

  [[nodiscard]] std::uint64_t blocks() const { return (row_count + slots_per_block - 1) / slots_per_block; }
};

/// The metadata of the plan's rows, without the name and the family of the kernel. `origin`: that of the row.
RowMetadata metadata_of(const DatasetPlan& plan, const std::optional<live::KernelOrigin>& origin);

/// Distributes the rows over the families by weight (largest remainder method), so that no family is off by a whole
/// row. Fails if a weight is not positive or no family is given.
Result<void> distribute_rows(DatasetPlan& plan);

/// A position in the dataset.
struct DatasetSlot {
  std::uint64_t number = 0;           ///< number of the slot in the dataset, from 0
  std::uint32_t family = 0;           ///< index of the family in DatasetPlan::family_shares
  std::uint64_t index_in_family = 0;  ///< number of the slot among the slots of its family, from 0
};

/// All slots in order, with families interleaved so that every part of the dataset is balanced.
std::vector<DatasetSlot> slots_of(const DatasetPlan& plan);
/// The slots of a block.
std::span<const DatasetSlot> slots_of_block(const DatasetPlan& plan, std::span<const DatasetSlot> slots,
                                            std::uint64_t block);

/// The blocks of the plan's shard, ascending.
std::vector<std::uint64_t> blocks_of_shard(const DatasetPlan& plan);

/// Name of a slot's candidate, such as "loop/r2_42"; nothing after the last attempt (user kernels have one).
std::optional<std::string> candidate_name(const DatasetPlan& plan, const DatasetSlot& slot, std::uint32_t attempt);

/// The plan as the first line of the journal.
nlohmann::ordered_json to_json(const DatasetPlan& plan);
DatasetPlan plan_from(const nlohmann::json& line);

/// The first member in which two plans differ, such as "seed"; ignores the shard. Empty if they are equal.
std::string difference(const DatasetPlan& a, const DatasetPlan& b);

}  // namespace assay::dataset
