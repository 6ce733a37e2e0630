// DIR/mutants.jsonl: a line that describes the campaign, then a line for each judged mutant in order of completion.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/mutation/mutation_testing.hpp"
#include "harness/records/appended_lines.hpp"
#include "support/result.hpp"

namespace assay::mutation {

inline constexpr std::string_view kLedgerFileName = "mutants.jsonl";  ///< name of the ledger in the output folder

/// The parameters of a campaign. A ledger can only be resumed with the same parameters.
struct MutantLedgerHeader {
  std::string device;               ///< device that judges the mutants
  std::string commit;               ///< commit of Assay
  std::uint64_t seed = 0;           ///< seed of the choice of mutants and of the inputs
  std::size_t planned_mutants = 0;  ///< number of planned mutants
  std::string plan_hash;            ///< hash of the names of the planned mutants
  friend bool operator==(const MutantLedgerHeader&, const MutantLedgerHeader&) = default;
};

/// The content of a ledger.
struct MutantLedger {
  MutantLedgerHeader header;          ///< the first line
  std::vector<MutantRecord> mutants;  ///< judged mutants, in the order of the file
  std::int64_t complete_bytes = 0;    ///< size of the file up to the end of its last complete line
};

std::string to_line(const MutantRecord& mutant);

/// Reads a ledger; returns nothing if the folder has none. Ignores a truncated last line. Fails on an invalid line,
/// with its number.
Result<std::optional<MutantLedger>> read_ledger(const std::filesystem::path& dir);

/// Starts a new ledger, replacing an existing one.
Result<harness::LineAppender> start_ledger(const std::filesystem::path& dir, const MutantLedgerHeader& head);

}  // namespace assay::mutation
