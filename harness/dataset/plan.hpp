// What a dataset is to hold: its plan, made of the command and the seed alone, so that every machine that has them
// knows which kernel stands where.
//
// A dataset of n rows has n slots. A slot belongs to a family and has candidates, attempt 0, 1, ...: its row is the
// first that passes every check and is no duplicate of an earlier slot's row. Slots go through in blocks; a shard makes
// every n-th block.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "harness/dataset/row.hpp"
#include "support/result.hpp"

namespace assay::dataset {

/// A family's part of the dataset.
struct Share {
  std::string family;
  double weight = 1;
  std::uint64_t rows = 0;  ///< filled in by make_plan
  friend bool operator==(const Share&, const Share&) = default;
};

/// One of `of` parts of the work.
struct Shard {
  std::uint32_t index = 0;  ///< from 0
  std::uint32_t of = 1;
  friend bool operator==(const Shard&, const Shard&) = default;
};

/// A kernel of a user's file that becomes a slot of its own.
struct UserKernel {
  std::string name;    ///< "user/wave.step"
  std::string python;  ///< its text, alone
  friend bool operator==(const UserKernel&, const UserKernel&) = default;
};

struct Plan {
  std::string generator_version;
  int kernels_version = 0;
  std::uint64_t count = 0;  ///< rows of the whole dataset
  std::uint64_t seed = 1;
  std::vector<Share> shares;        ///< in the order of the families; of user kernels the one family "user"
  std::vector<UserKernel> kernels;  ///< instead of random ones: the slots, in order
  bool verify = true;
  std::string effort = "standard";
  std::vector<std::string> devices;  ///< that prove each row
  std::vector<std::string> flags;    ///< "cpu/strict"
  std::vector<Tool> toolchain;
  std::string licence = "unknown";
  std::uint32_t block_rows = 32;
  Shard shard;
  friend bool operator==(const Plan&, const Plan&) = default;

  [[nodiscard]] std::uint64_t blocks() const { return (count + block_rows - 1) / block_rows; }
};

/// Rows for each family by its weight, the greatest remainders first, so that no family is off by a whole row.
/// Fails for weights that are not positive, and for no family.
Result<void> share_out(Plan& plan);

/// A place in the dataset.
struct Slot {
  std::uint64_t number = 0;     ///< in the dataset
  std::uint32_t family = 0;     ///< in Plan::shares
  std::uint64_t of_family = 0;  ///< number among the family's slots
};

/// All slots in order, families interleaved so that each stretch of the dataset is as balanced as the whole.
std::vector<Slot> slots_of(const Plan& plan);
/// Those of a block.
std::span<const Slot> slots_of_block(const Plan& plan, std::span<const Slot> slots, std::uint64_t block);

/// The blocks of the plan's shard, ascending.
std::vector<std::uint64_t> blocks_of_shard(const Plan& plan);

/// "loop/r1_42" for the candidate of a slot; nothing where there is none: a user's kernel has one attempt.
std::optional<std::string> candidate_name(const Plan& plan, const Slot& slot, std::uint32_t attempt);

/// The plan as the first line of the journal.
nlohmann::ordered_json to_json(const Plan& plan);
Plan plan_from(const nlohmann::json& line);

/// What two plans differ in, "seed"; empty where it is nothing but the shard.
std::string difference(const Plan& a, const Plan& b);

}  // namespace assay::dataset
