#include "harness/candidates/candidate_suite.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "backends/cpu/process.hpp"
#include "harness/records/record_json.hpp"
#include "harness/records/record_lines.hpp"
#include "support/csv.hpp"
#include "support/files.hpp"
#include "support/hash.hpp"
#include "support/parallel.hpp"
#include "support/referenced_files.hpp"
#include "support/version/version.hpp"

namespace assay::harness {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::chrono::minutes kTimeLimit{20};
/// The file in the folder of a candidate's reports that identifies what was judged.
constexpr std::string_view kIdentityFile = "judged.txt";

/// The path without `:KERNEL`.
fs::path specification_file(const std::string& specification) {
  const std::size_t colon = specification.rfind(':');
  return colon == std::string::npos ? specification : specification.substr(0, colon);
}

std::optional<std::size_t> column(const CsvRow& head, std::string_view name) {
  const auto found = std::ranges::find(head.fields, name);
  if (found == head.fields.end()) return std::nullopt;
  return static_cast<std::size_t>(found - head.fields.begin());
}

/// The name of the folder of a candidate's reports: its path without characters that separate folders.
std::string folder_name(const std::string& candidate) {
  std::string name = candidate;
  std::ranges::replace(name, '/', '.');
  return name;
}

/// Everything that a verdict depends on. `program`: the hash of the program that judges.
Result<std::string> identity_of(const ListedCandidate& listed, const CandidateSuiteOptions& options,
                                const Result<std::string>& program) {
  if (!program.ok()) return program.error();
  std::string identity =
      fmt::format("{}\n{}\n{}\n", *program, listed.specification_path, fmt::join(options.judge_arguments, " "));
  const fs::path candidate = options.candidate_folder / listed.candidate_path;
  const fs::path specification = options.candidate_folder / specification_file(listed.specification_path);
  std::vector<fs::path> files{candidate, specification};
  fs::path contract = candidate;
  contract.replace_extension(".assay.json");
  std::error_code error;
  if (fs::exists(contract, error)) files.push_back(std::move(contract));
  for (const std::vector<fs::path>& read :
       {included_files(candidate), imported_files(specification),
        candidate.extension() == ".py" ? imported_files(candidate) : std::vector<fs::path>()})
    files.insert(files.end(), read.begin(), read.end());
  for (const fs::path& file : files) {
    const Result<std::string> hash = sha256_of_file(file);
    if (!hash.ok()) return hash.error();
    identity += fmt::format("{} {}\n", *hash, file.string());
  }
  return identity;
}

class SuiteRun {
 public:
  explicit SuiteRun(const CandidateSuiteOptions& options)
      : options_(options), program_hash_(sha256_of_file(options.program)) {}

  CandidateVerdict judge(const ListedCandidate& listed) {
    CandidateVerdict verdict{.listed_candidate = listed,
                             .report_folder = options_.output / folder_name(listed.candidate_path)};
    const Result<std::string> identity = identity_of(listed, options_, program_hash_);
    if (!identity.ok()) return failed(std::move(verdict), identity.error().text());
    const fs::path identity_file = verdict.report_folder / kIdentityFile;
    if (const Result<std::string> known = read_file_text(identity_file); known.ok() && *known == *identity) {
      if (Result<CandidateVerdict> earlier = read_verdict(listed, verdict.report_folder); earlier.ok()) {
        earlier->is_reused = true;
        return earlier.take();
      }
    }
    std::error_code error;
    fs::remove_all(verdict.report_folder, error);
    fs::create_directories(verdict.report_folder, error);
    std::vector<std::string> arguments{"judge",     (options_.candidate_folder / listed.candidate_path).string(),
                                       "--against", (options_.candidate_folder / listed.specification_path).string(),
                                       "--output",  verdict.report_folder.string()};
    arguments.insert(arguments.end(), options_.judge_arguments.begin(), options_.judge_arguments.end());
    const auto start = std::chrono::steady_clock::now();
    const cpu::ProcessResult process = cpu::run_process(options_.program, arguments, kTimeLimit);
    verdict.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (process.end_reason == cpu::ProcessResult::EndReason::kTimedOut) {
      verdict.outcome = Outcome::timed_out;
      verdict.message = fmt::format("the candidate was not judged within {} minutes", kTimeLimit.count());
      return verdict;
    }
    Result<CandidateVerdict> read = read_verdict(listed, verdict.report_folder);
    const bool is_invalid_input = process.end_reason == cpu::ProcessResult::EndReason::kExited &&
                                  process.status_or_signal == static_cast<int>(ExitStatus::usage);
    if (!read.ok() && is_invalid_input) {
      // Its contract, for example: nothing is known about the candidate, and Assay is not at fault.
      verdict.outcome = Outcome::not_run;
      verdict.outcome_detail = "invalid_input";
      verdict.message = process.output;
      return verdict;
    }
    if (!read.ok()) return failed(std::move(verdict), process.output);
    read->seconds = verdict.seconds;
    if (const Result<void> put = put_file(identity_file, *identity); !put.ok())
      return failed(std::move(verdict), put.error().text());
    return read.take();
  }

 private:
  static CandidateVerdict failed(CandidateVerdict verdict, std::string message) {
    verdict.outcome = Outcome::internal_error;
    verdict.message = std::move(message);
    return verdict;
  }

  const CandidateSuiteOptions& options_;
  Result<std::string> program_hash_;  ///< SHA-256 of the program's file
};

json json_of(const CandidateVerdict& verdict) {
  json line = {{"candidate", verdict.listed_candidate.candidate_path},
               {"specification", verdict.listed_candidate.specification_path},
               {"outcome", to_text(verdict.outcome)},
               {"kind", verdict.outcome_detail},
               {"message", verdict.message},
               {"reports", verdict.report_folder.filename().string()},
               {"seconds", verdict.seconds},
               {"reused", verdict.is_reused}};
  if (verdict.algorithm_error) line["algorithm_error"] = *verdict.algorithm_error;
  if (verdict.result_error) line["result_error"] = *verdict.result_error;
  for (const ToleranceComparison& comparison : verdict.tolerance_comparisons)
    line["tolerances"].push_back(to_json(comparison));
  return line;
}

/// Raises an error to that of a check in a record, if it is a finite number.
void add_error(std::optional<double>& error, const json& record, const char* check) {
  const json& rho = record.value("tiers", json::object()).value(check, json::object()).value("rho_max", json());
  if (rho.is_number()) error = std::max(error.value_or(0), rho.get<double>());
}

/// Adds what one pass says about a tolerance.
void merge(std::vector<ToleranceComparison>& all, const ToleranceComparison& comparison) {
  const auto same = std::ranges::find(all, comparison.tolerance, &ToleranceComparison::tolerance);
  if (same == all.end()) {
    all.push_back(comparison);
    return;
  }
  same->input_sets += comparison.input_sets;
  same->accepts_all_results = same->accepts_all_results && comparison.accepts_all_results;
}

bool is_rejected(const CandidateVerdict& verdict) {
  return verdict.outcome != Outcome::pass && verdict.outcome != Outcome::inconclusive &&
         verdict.outcome != Outcome::unsupported;
}

}  // namespace

std::string CandidateVerdict::outcome_text() const {
  return outcome_detail.empty() ? std::string(to_text(outcome))
                                : fmt::format("{}({})", to_text(outcome), outcome_detail);
}

std::string CandidateVerdict::errors_text() const {
  if (!algorithm_error || !result_error) return "";
  return fmt::format("greatest errors, as shares of the allowed error: algorithm {:.2g}, rounded results {:.2g}",
                     *algorithm_error, *result_error);
}

std::string CandidateVerdict::json_text() const {
  return json_of(*this).dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<CandidateVerdict> read_verdict(const ListedCandidate& candidate, const fs::path& report_folder) {
  const Result<RecordLines> records = read_record_lines(report_folder, Damage::listed);
  if (!records.ok()) return records.error();
  if (!records->complete() || records->cases.empty()) return Error{"the records of the candidate's run are incomplete"};
  CandidateVerdict verdict{
      .listed_candidate = candidate, .outcome = Outcome::pass, .message = "", .report_folder = report_folder};
  for (const json& record : records->cases) {
    for (const json& comparison : record.value("tolerances", json::array()))
      merge(verdict.tolerance_comparisons, tolerance_comparison_from(comparison));
    add_error(verdict.algorithm_error, record, "t1");
    add_error(verdict.result_error, record, "t3");
    const auto outcome = outcome_from_text(record.at("outcome").get<std::string>());
    if (!outcome || *outcome <= verdict.outcome) continue;
    verdict.outcome = *outcome;
    verdict.outcome_detail = record.value("kind", "");
    verdict.message = record.value("message", "");
  }
  return verdict;
}

Result<std::vector<ListedCandidate>> read_candidate_list(const fs::path& folder) {
  const fs::path file = folder / kCandidateListFileName;
  const Result<std::string> text = read_file_text(file);
  if (!text.ok())
    return Error{"the folder has no list of candidates; write a file with the columns candidate,specification",
                 file.string()};
  const Result<std::vector<CsvRow>> rows = read_csv(*text);
  if (!rows.ok()) return Error{rows.error().message, fmt::format("{}:{}", file.string(), rows.error().where)};
  const auto fail = [&](int line, const std::string& message) {
    return Error{message, fmt::format("{}:{}", file.string(), line)};
  };
  if (rows->empty()) return fail(1, "the list is empty; its first line must be candidate,specification");
  const std::optional<std::size_t> candidate = column(rows->front(), "candidate");
  const std::optional<std::size_t> specification = column(rows->front(), "specification");
  if (!candidate || !specification)
    return fail(1, "the first line must contain the columns candidate and specification");
  std::vector<ListedCandidate> listed;
  std::set<std::string> known;
  for (const CsvRow& row : std::span(*rows).subspan(1)) {
    if (row.fields.size() <= std::max(*candidate, *specification)) return fail(row.line, "the row has too few fields");
    const ListedCandidate& one = listed.emplace_back(
        ListedCandidate{.candidate_path = row.fields[*candidate], .specification_path = row.fields[*specification]});
    std::error_code error;
    if (!fs::is_regular_file(folder / one.candidate_path, error))
      return fail(row.line, fmt::format("the candidate '{}' does not exist", one.candidate_path));
    if (!fs::is_regular_file(folder / specification_file(one.specification_path), error))
      return fail(row.line, fmt::format("the specification '{}' does not exist", one.specification_path));
    if (!known.insert(folder_name(one.candidate_path)).second)
      return fail(row.line, fmt::format("the candidate '{}' is listed twice", one.candidate_path));
  }
  if (listed.empty()) return fail(1, "the list has no candidates");
  return listed;
}

Result<std::vector<CandidateVerdict>> judge_candidates(const CandidateSuiteOptions& options) {
  const Result<std::vector<ListedCandidate>> listed = read_candidate_list(options.candidate_folder);
  if (!listed.ok()) return listed.error();
  std::error_code error;
  fs::create_directories(options.output, error);
  if (!fs::is_directory(options.output, error))
    return Error{"cannot create the output folder", options.output.string()};
  std::vector<CandidateVerdict> verdicts(listed->size());
  std::mutex mutex;
  for_each_index_in_parallel(listed->size(), options.jobs, [&](std::size_t i) {
    verdicts[i] = SuiteRun(options).judge((*listed)[i]);
    const std::lock_guard lock(mutex);
    if (options.on_verdict) options.on_verdict(verdicts[i]);
  });
  json rows = json::array();
  for (const CandidateVerdict& verdict : verdicts)
    rows.push_back(json_of(verdict));
  const json document{{"schema_version", "1.2.0"}, {"assay", version_text()}, {"candidates", std::move(rows)}};
  const std::string text = document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  if (const Result<void> put = put_file(options.output / "candidates.json", text); !put.ok()) return put.error();
  return verdicts;
}

std::vector<std::string> tolerance_lines(const std::vector<CandidateVerdict>& verdicts) {
  struct Count {
    std::size_t compared = 0;
    std::size_t accepted = 0;
  };
  std::map<double, Count, std::greater<>> counts;
  for (const CandidateVerdict& verdict : verdicts) {
    if (!is_rejected(verdict)) continue;
    for (const ToleranceComparison& comparison : verdict.tolerance_comparisons) {
      Count& count = counts[comparison.tolerance];
      ++count.compared;
      if (comparison.accepts_all_results) ++count.accepted;
    }
  }
  std::vector<std::string> lines;
  for (const auto& [tolerance, count] : counts) {
    lines.push_back(
        fmt::format("a comparison with tolerance {} accepts {} of the {} rejected candidates that returned results",
                    tolerance, count.accepted, count.compared));
  }
  return lines;
}

std::map<std::string, std::size_t> count_verdicts(const std::vector<CandidateVerdict>& verdicts) {
  std::map<std::string, std::size_t> counts;
  for (const CandidateVerdict& verdict : verdicts)
    ++counts[verdict.outcome_text()];
  return counts;
}

}  // namespace assay::harness
