// DIR/mutants.jsonl: what was asked for, then a line for each mutant that was judged, as it came.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/mutation/mutation_testing.hpp"
#include "harness/records/appended_lines.hpp"
#include "support/result.hpp"

namespace assay::mutation {

inline constexpr std::string_view kLedgerFile = "mutants.jsonl";

/// What a campaign was made with: another one cannot be gone on with.
struct LedgerHead {
  std::string device;
  std::string commit;  ///< of Assay
  std::uint64_t seed = 0;
  std::size_t planned = 0;  ///< mutants
  std::string plan;         ///< a hash of their names
  friend bool operator==(const LedgerHead&, const LedgerHead&) = default;
};

struct Ledger {
  LedgerHead head;
  std::vector<MutantRecord> mutants;
  std::int64_t whole_bytes = 0;  ///< of the file up to its last whole line
};

std::string to_line(const MutantRecord& mutant);

/// Reads a ledger; nothing where the folder has none. A last line that was cut short is left out. Fails on a file that
/// is none, naming the line.
Result<std::optional<Ledger>> read_ledger(const std::filesystem::path& dir);

/// Starts a ledger, which replaces an older one.
Result<harness::AppendedLines> start_ledger(const std::filesystem::path& dir, const LedgerHead& head);

}  // namespace assay::mutation
