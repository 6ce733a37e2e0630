// journal.jsonl: the plan and the completed blocks, so that a killed run can be resumed.
//
// The first line is the plan. A line follows for each block whose rows are in partial/, in order of completion; each
// line is flushed to disk before the next step. A finished dataset has the blocks in order and a last line `end`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/dataset/plan.hpp"
#include "harness/dataset/producer.hpp"
#include "harness/records/appended_lines.hpp"
#include "support/result.hpp"

namespace assay::dataset {

inline constexpr std::string_view kJournalFileName = "journal.jsonl";  ///< path of the journal in the dataset
inline constexpr std::string_view kPartialFolder = "partial";          ///< folder of the flushed blocks
inline constexpr std::string_view kDataFolder = "data";                ///< folder of the data files
inline constexpr std::string_view kQuarantineFileName = "quarantine/quarantine.jsonl";  ///< rejected candidates

/// An accepted row, as its block in the journal lists it.
struct JournalRow {
  std::uint64_t slot = 0;     ///< number of the slot, from 0
  std::uint32_t attempt = 0;  ///< number of the candidate that became the row, from 0
  std::string id;             ///< id of the row
};

/// A completed block: one line of the journal.
struct JournalBlock {
  std::uint64_t block_number = 0;           ///< number of the block, from 0
  std::vector<JournalRow> rows;             ///< rows of the block, ordered by slot
  std::vector<RejectedCandidate> rejected;  ///< rejected candidates; in a finished dataset without their texts
};

/// The content of a journal.
struct Journal {
  DatasetPlan plan;                  ///< the plan, from the first line
  std::vector<JournalBlock> blocks;  ///< completed blocks, in the order of the file
  bool has_ended = false;            ///< whether the last line is `end`: the dataset is finished
};

/// Path of a block's file: DIR/partial/block-00000012.jsonl.zst.
std::filesystem::path block_file(const std::filesystem::path& dir, std::uint64_t block);

std::string to_line(const JournalBlock& block);

/// The journal of a folder, or nothing if it has none. A truncated last line is ignored.
Result<std::optional<Journal>> read_journal(const std::filesystem::path& dir);

/// Appends lines; each is flushed to disk before the call returns.
class JournalWriter {
 public:
  /// Writes a new journal with the plan and the blocks, replacing an existing one.
  static Result<JournalWriter> create(const std::filesystem::path& dir, const Journal& journal);

  Result<void> append(const JournalBlock& block);

 private:
  explicit JournalWriter(harness::LineAppender lines) : journal_file_(std::move(lines)) {}

  harness::LineAppender journal_file_;  ///< the open file
};

/// The whole journal as text; with the line `end` if it has ended.
std::string to_text(const Journal& journal);

}  // namespace assay::dataset
