// Judges many candidates, each in a process of its own: one table for a leaderboard or a training loop.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/records/outcome.hpp"
#include "harness/records/record.hpp"
#include "support/result.hpp"

namespace assay::harness {

/// The name of the file that lists the candidates of a folder.
inline constexpr std::string_view kCandidateListFileName = "candidates.csv";

/// A row of the list. Paths are relative to the folder of the list.
struct ListedCandidate {
  std::string candidate_path;      ///< path of the candidate
  std::string specification_path;  ///< path of the specification, with `:KERNEL` if the file has several kernels
};

/// The rows of FOLDER/candidates.csv, which has the columns `candidate_path` and `specification_path`; other columns
/// are ignored. Fails if the file is missing or malformed, if a file does not exist, or if a candidate is listed twice;
/// the error's location is the line.
Result<std::vector<ListedCandidate>> read_candidate_list(const std::filesystem::path& folder);

/// The verdict on one candidate.
struct CandidateVerdict {
  ListedCandidate listed_candidate;           ///< the candidate and its specification
  Outcome outcome = Outcome::internal_error;  ///< the worst outcome of its cases
  /// Kind of the outcome: the failed check ("mismatch") or the faulty access ("read_write_race"); often empty.
  std::string outcome_detail;
  std::string message;  ///< what was found; empty for a pass
  /// Whether the results of all passes are within each tolerance; one element for each tolerance, empty if nothing was
  /// compared.
  std::vector<ToleranceComparison> tolerance_comparisons;
  /// Greatest error of a value without rounding, as a share of the allowed error; nullopt: not judged.
  std::optional<double> algorithm_error;
  /// Greatest error of a computed value, as a share of the allowed error; nullopt: nothing was compared.
  std::optional<double> result_error;
  std::filesystem::path report_folder;  ///< folder of the reports
  double seconds = 0;                   ///< wall time of the judging process; 0 if an earlier verdict was reused
  bool is_reused = false;               ///< whether the verdict is from an earlier run with the same files and options

  /// The outcome with its kind: "pass", "fail(mismatch)".
  [[nodiscard]] std::string outcome_text() const;
  /// Both errors in one line for people; empty if one of them is unknown.
  [[nodiscard]] std::string errors_text() const;
  /// One line of JSON without a line break: an element of `candidates` in schemas/candidate_verdicts.schema.json.
  [[nodiscard]] std::string json_text() const;
};

/// The verdict of a finished `assay judge` whose records are in `report_folder`: the worst outcome counts. Fails if the
/// records are incomplete.
Result<CandidateVerdict> read_verdict(const ListedCandidate& candidate, const std::filesystem::path& report_folder);

/// The candidates, and how they are judged.
struct CandidateSuiteOptions {
  std::filesystem::path program;             ///< the program `assay`
  std::filesystem::path candidate_folder;    ///< folder with candidates.csv
  std::filesystem::path output;              ///< receives a folder of reports for each candidate, and candidates.json
  unsigned jobs = 1;                         ///< number of candidates judged at the same time
  std::vector<std::string> judge_arguments;  ///< further options of `assay judge`: "--quick"
  /// Called after each candidate, by one thread at a time.
  std::function<void(const CandidateVerdict&)> on_verdict = nullptr;
};

/// Judges the candidates of the list that have no verdict for the same files, options and program in `output`, and
/// writes `output`/candidates.json. Returns the verdicts in the order of the list. Fails if the list or the output
/// folder is not usable.
Result<std::vector<CandidateVerdict>> judge_candidates(const CandidateSuiteOptions& options);

/// For each tolerance a line: how many of the candidates that are not correct it would accept. Empty if no candidate
/// was compared with a tolerance.
std::vector<std::string> tolerance_lines(const std::vector<CandidateVerdict>& verdicts);

/// The number of candidates by outcome_text().
std::map<std::string, std::size_t> count_verdicts(const std::vector<CandidateVerdict>& verdicts);

}  // namespace assay::harness
