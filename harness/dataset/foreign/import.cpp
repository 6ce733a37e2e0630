#include "harness/dataset/foreign/import.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backends/python/python_process.hpp"
#include "harness/dataset/foreign/block_lines.hpp"
#include "harness/dataset/foreign/foreign_rows.hpp"
#include "harness/dataset/foreign/regeneration.hpp"
#include "harness/records/appended_lines.hpp"
#include "support/files.hpp"
#include "support/version/version.hpp"

namespace assay::foreign {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Json = nlohmann::ordered_json;

constexpr const char* kJournal = "journal.jsonl";
constexpr const char* kPartial = "partial";
/// Starting Python and Warp costs a block about three seconds of processor time, in four processes. Small datasets are
/// divided nevertheless, so that all cores take part and an interrupted import can be resumed.
constexpr std::uint64_t kMostBlockRows = 128;
constexpr std::uint64_t kLeastBlockRows = 16;
constexpr std::uint64_t kBlocks = 8;  ///< the number of blocks, unless it makes them too small or too large

std::uint64_t slots_per_block(std::uint64_t rows) {
  return std::clamp((rows + kBlocks - 1) / kBlocks, kLeastBlockRows, kMostBlockRows);
}
constexpr int kBlockLevel = -3;
constexpr int kFinalLevel = 3;
constexpr std::size_t kExamples = 3;

struct Block {
  std::uint64_t number = 0;
  std::vector<ForeignRow> rows;
};

fs::path block_path(const fs::path& output, std::uint64_t number) {
  return output / kPartial / fmt::format("block-{:08}.jsonl.zst", number);
}

/// The journal's first line: everything that determines the result.
Json plan_of(const ImportOptions& options, const std::vector<DatasetInputFile>& files) {
  Json inputs = Json::array();
  for (const DatasetInputFile& file : files)
    inputs.push_back({{"name", file.name}, {"sha256", file.sha256}});
  return {{"record", "plan"},
          {"assay_version", kVersion},
          {"warp_version", options.warp_version},
          {"devices", options.judge_options.devices},
          {"effort", options.judge_options.verify ? options.judge_options.judging_effort : "none"},
          {"seed", options.judge_options.seed},
          {"block_rows", slots_per_block(options.row_count)},
          {"mapping", Json::parse(options.mapping.source_text)},
          {"files", std::move(inputs)}};
}

/// What an earlier run left in the folder.
struct EarlierRun {
  std::string plan;                               ///< first line; empty if the folder has none
  std::map<std::uint64_t, std::uint64_t> blocks;  ///< rows of each finished block, by number
  bool has_ended = false;                         ///< whether the import is finished
  std::int64_t bytes = 0;                         ///< length of the complete lines
};

Result<EarlierRun> read_journal(const fs::path& output) {
  EarlierRun earlier;
  const fs::path path = output / kJournal;
  std::error_code error;
  if (!fs::exists(path, error)) return earlier;
  const Result<std::string> text = read_file_text(path);
  if (!text.ok()) return text.error();
  int number = 0;
  for (std::size_t begin = 0; begin < text->size();) {
    const std::size_t end = text->find('\n', begin);
    if (end == std::string::npos) break;  // truncated: the process that wrote it was killed
    const std::string line = text->substr(begin, end - begin);
    const json record = json::parse(line, nullptr, false);
    const std::string kind = record.is_object() ? record.value("record", "") : "";
    ++number;
    if (number == 1 && kind == "plan") earlier.plan = line;
    else if (number > 1 && kind == "block" && record.contains("block") && record.contains("rows"))
      earlier.blocks[record.at("block")] = record.at("rows");
    else if (number > 1 && kind == "end") earlier.has_ended = true;
    else return Error{"invalid record", fmt::format("{}:{}", path.string(), number)};
    begin = end + 1;
    earlier.bytes = static_cast<std::int64_t>(begin);
  }
  return earlier;
}

/// Judges blocks on several threads while the caller reads rows.
class BlockQueue {
 public:
  BlockQueue(const ImportOptions& options, const RowJudge& judge, fs::path python, harness::LineAppender& journal)
      : options_(options), judge_(judge), python_(std::move(python)), journal_(journal) {
    for (int i = 0; i < std::max(1, options.jobs); ++i)
      threads_.emplace_back([this] { work(); });
  }
  BlockQueue(const BlockQueue&) = delete;
  BlockQueue& operator=(const BlockQueue&) = delete;
  ~BlockQueue() { (void)finish(); }

  void count_done(std::uint64_t rows) {
    const std::lock_guard lock(mutex_);
    rows_ += rows;
  }

  /// Waits until there is room for the block. Fails if an earlier block failed.
  Result<void> add(Block block) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failure_ || waiting_.size() < threads_.size(); });
    if (failure_) return *failure_;
    waiting_.push_back(std::move(block));
    changed_.notify_all();
    return {};
  }

  /// Waits until all blocks are judged.
  Result<void> finish() {
    {
      const std::lock_guard lock(mutex_);
      is_complete_ = true;
      changed_.notify_all();
    }
    threads_.clear();
    return failure_ ? Result<void>(*failure_) : Result<void>();
  }

 private:
  void work() {
    while (true) {
      Block block;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return failure_ || is_complete_ || !waiting_.empty(); });
        if (failure_ || waiting_.empty()) return;
        block = std::move(waiting_.front());
        waiting_.pop_front();
        changed_.notify_all();
      }
      if (Result<void> done = process(std::move(block)); !done.ok()) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = done.error();
        changed_.notify_all();
        return;
      }
    }
  }

  Result<void> process(Block block) {
    const std::size_t count = block.rows.size();
    const Result<std::vector<JudgedRow>> judged = judge_.judge(
        std::move(block.rows), options_.mapping, options_.warp_version, [&](std::span<const ForeignRow> rows) {
          return regenerate_code(rows, options_.mapping, {.python_interpreter = python_});
        });
    if (!judged.ok()) return judged.error();
    std::vector<std::string> lines;
    std::uint64_t rejected = 0;
    for (const JudgedRow& row : *judged) {
      lines.push_back(block_line(row));
      rejected += row.outcome == RowOutcome::kRejected ? 1U : 0U;
    }
    const std::vector<std::string_view> views(lines.begin(), lines.end());
    if (Result<void> put = put_lines(block_path(options_.output, block.number), views, kBlockLevel); !put.ok())
      return put;
    const std::lock_guard lock(mutex_);
    const Json record = {{"record", "block"}, {"block", block.number}, {"rows", count}};
    if (Result<void> appended = journal_.append(record.dump()); !appended.ok()) return appended;
    if (Result<void> synced = journal_.sync(); !synced.ok()) return synced;
    rows_ += count;
    rejected_ += rejected;
    if (options_.on_progress) options_.on_progress(rows_, rejected_);
    return {};
  }

  const ImportOptions& options_;
  const RowJudge& judge_;
  const fs::path python_;
  harness::LineAppender& journal_;
  std::mutex mutex_;  ///< guards the members below, the journal and the progress
  std::condition_variable changed_;
  std::deque<Block> waiting_;
  std::optional<Error> failure_;
  bool is_complete_ = false;  ///< whether no further block will be added
  std::uint64_t rows_ = 0;
  std::uint64_t rejected_ = 0;
  std::vector<std::jthread> threads_;
};

/// What the cause of a row means; for damage, see kDamages.
std::string explanation_of(const std::string& cause) {
  static const std::map<std::string, std::string> kExplanations{
      {"fail(wrong_gradient)", "finite differences of Warp's forward pass contradict Warp's gradient"},
      {"fail(convention)", "Warp's gradient differs from the derivative, as Warp documents for this construct"},
      {"fail(rounding)", "the error exceeds its bound in the kernel's own types, but not with f64 promotion"},
      {"fail(undecided)",
       "Warp's gradient differs from the oracle's, and finite differences do not show which is correct"},
      {"fail(oracle_wrong)", "finite differences contradict the oracle; this is an error of Assay"},
      {"judged_code_differs",
       "Assay parsed the kernel and printed it again; Warp's code for the printed kernel differs from the row's code"},
      {"not_run", "the code is what Warp generates from the Python source; the kernel was not judged"},
      {"unsupported(reader)", "Assay cannot parse the kernel"},
  };
  if (const auto row = std::ranges::find(kDamages, cause, &RowDamageDescription::name); row != kDamages.end())
    return std::string(row->explanation);
  const auto found = kExplanations.find(cause);
  return found == kExplanations.end() ? "" : found->second;
}

/// Reads the blocks in order, finds duplicates and exchanged code, and writes the final files.
class Finisher {
 public:
  Finisher(const ImportOptions& options, std::uint64_t blocks) : options_(options), blocks_(blocks) {}

  Result<ImportReport> run() {
    if (Result<void> read = for_each([&](StoredRow line) { return index(line); }); !read.ok()) return read.error();
    if (Result<void> written = write(); !written.ok()) return written.error();
    std::ranges::stable_sort(report_.cause_counts, [](const CauseCount& a, const CauseCount& b) {
      return std::pair(a.outcome, b.rows) < std::pair(b.outcome, a.rows);
    });
    if (Result<void> put = put_file(options_.output / kImportReportTextFileName, to_text(report_)); !put.ok())
      return put.error();
    const std::string text = to_json(report_).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    if (Result<void> put = put_file(options_.output / kImportReportJsonFileName, text); !put.ok()) return put.error();
    return std::move(report_);
  }

 private:
  Result<void> for_each(const std::function<Result<void>(StoredRow)>& take) const {
    for (std::uint64_t number = 0; number < blocks_; ++number) {
      const fs::path path = block_path(options_.output, number);
      Result<LineReader> reader = LineReader::open(path);
      if (!reader.ok()) return reader.error();
      std::string text;
      while (true) {
        const Result<bool> more = reader->next(text);
        if (!more.ok()) return more.error();
        if (!*more) break;
        Result<StoredRow> line = read_block_line(text);
        if (!line.ok()) return Error{line.error().message, path.string()};
        if (Result<void> taken = take(line.take()); !taken.ok()) return taken;
      }
    }
    return {};
  }

  Result<void> index(const StoredRow& line) {
    if (!line.regenerated_code_key.empty()) own_code_.try_emplace(line.regenerated_code_key, line.id);
    if (line.damage.empty() && !line.program_key.empty())
      programs_.try_emplace(line.program_key, line.row_index, line.id);
    return {};
  }

  /// Decides what the block could not: it needs all rows.
  void decide(StoredRow& line) const {
    if (line.damage.empty()) {
      const auto first = programs_.find(line.program_key);
      if (first != programs_.end() && first->second.first != line.row_index) {
        line.reject(RowDamage::kDuplicate,
                    fmt::format("apart from names, the kernel is identical to that of row '{}'", first->second.second));
      }
      return;
    }
    static const std::set<std::string_view> kDifferences{
        to_text(RowDamage::kKernelMismatch), to_text(RowDamage::kForwardDiffers), to_text(RowDamage::kBackwardDiffers),
        to_text(RowDamage::kCodeDiffers)};
    if (line.code_key.empty() || line.code_key == line.regenerated_code_key || !kDifferences.contains(line.cause))
      return;
    const auto owner = own_code_.find(line.code_key);
    if (owner != own_code_.end())
      line.reject(RowDamage::kKernelMismatch, fmt::format("the code is identical to that of row '{}'", owner->second));
  }

  Result<void> write() {
    std::array<std::optional<LineWriter>, 3> files;
    for (const auto& [outcome, name] : {std::pair(RowOutcome::kVerified, kVerifiedRowsFileName),
                                        std::pair(RowOutcome::kRejected, kQuarantineFileName),
                                        std::pair(RowOutcome::kUndecided, kUndecidedRowsFileName)}) {
      Result<LineWriter> file = LineWriter::create(options_.output / name, kFinalLevel);
      if (!file.ok()) return file.error();
      files.at(static_cast<std::size_t>(outcome)).emplace(file.take());
    }
    const Result<void> written = for_each([&](StoredRow line) {
      decide(line);
      count(line);
      return files.at(static_cast<std::size_t>(line.outcome))->add(final_line(line, options_.warp_version));
    });
    if (!written.ok()) return written;
    for (std::optional<LineWriter>& file : files) {
      if (Result<void> committed = file->commit(); !committed.ok()) return committed;
    }
    return {};
  }

  void count(const StoredRow& line) {
    ++report_.rows;
    if (line.outcome == RowOutcome::kVerified) {
      ++report_.verified_row_count;
      return;
    }
    ++(line.outcome == RowOutcome::kRejected ? report_.rejected_row_count : report_.undecided_row_count);
    auto cause = std::ranges::find_if(report_.cause_counts, [&](const CauseCount& one) {
      return one.outcome == line.outcome && one.cause == line.cause;
    });
    if (cause == report_.cause_counts.end()) {
      report_.cause_counts.push_back({.outcome = line.outcome,
                                      .cause = line.cause,
                                      .explanation = explanation_of(line.cause),
                                      .rows = 0,
                                      .examples = {}});
      cause = report_.cause_counts.end() - 1;
    }
    ++cause->rows;
    if (cause->examples.size() < kExamples) cause->examples.push_back(fmt::format("{}: {}", line.id, line.message));
  }

  const ImportOptions& options_;
  std::uint64_t blocks_;
  std::map<std::string, std::string> own_code_;  ///< id of the first row whose Python gives this code, by forward_key
  std::map<std::string, std::pair<std::uint64_t, std::string>> programs_;  ///< first undamaged row of each program
  ImportReport report_;
};

Result<ImportReport> finished_report(const fs::path& output) {
  const Result<std::string> text = read_file_text(output / kImportReportJsonFileName);
  if (!text.ok()) return text.error();
  const json document = json::parse(*text, nullptr, false);
  ImportReport report{.was_already_complete = true};
  try {
    report.rows = document.at("rows");
    report.verified_row_count = document.at("verified");
    report.rejected_row_count = document.at("rejected");
    report.undecided_row_count = document.at("undecided");
    for (const json& cause : document.at("causes")) {
      report.cause_counts.push_back(
          {.outcome = cause.at("outcome") == "rejected" ? RowOutcome::kRejected : RowOutcome::kUndecided,
           .cause = cause.at("cause"),
           .explanation = cause.at("explanation"),
           .rows = cause.at("rows"),
           .examples = cause.at("examples").get<std::vector<std::string>>()});
    }
  } catch (const json::exception&) {
    return Error{"file is not a valid report of an import", (output / kImportReportJsonFileName).string()};
  }
  return report;
}

}  // namespace

Result<ImportReport> import_rows(const ImportOptions& options) {
  const Result<std::vector<DatasetInputFile>> files = input_files(options.dataset);
  if (!files.ok()) return files.error();
  const std::string plan = plan_of(options, *files).dump();
  const Result<EarlierRun> earlier = read_journal(options.output);
  if (!earlier.ok()) return earlier.error();
  std::error_code error;
  if (!earlier->plan.empty()) {
    if (!options.resume)
      return Error{"folder already contains an import; continue it with --resume, or choose another folder",
                   options.output.string()};
    if (earlier->plan != plan) {
      return Error{
          "folder contains an import with different rows, options, field mapping or versions of Warp and Assay; choose "
          "another folder",
          options.output.string()};
    }
    if (earlier->has_ended) {
      fs::remove_all(options.output / kPartial, error);  // if the earlier run was killed before it did
      return finished_report(options.output);
    }
  }
  fs::create_directories(options.output / kPartial, error);
  if (error) return Error{"cannot create the folder: " + error.message(), options.output.string()};
  const Result<fs::path> python = python::python_executable(options.python_interpreter);
  if (!python.ok()) return python.error();
  const Result<RowJudge> judge = RowJudge::make(options.judge_options);
  if (!judge.ok()) return judge.error();

  const fs::path journal_path = options.output / kJournal;
  Result<harness::LineAppender> journal = earlier->plan.empty()
                                              ? harness::LineAppender::create(journal_path)
                                              : harness::LineAppender::reopen(journal_path, earlier->bytes);
  if (!journal.ok()) return journal.error();
  if (earlier->plan.empty()) {
    if (Result<void> appended = journal->append(plan); !appended.ok()) return appended.error();
  }

  std::uint64_t blocks = 0;
  {
    BlockQueue queue(options, *judge, *python, *journal);
    Block block;
    const auto flush = [&]() -> Result<void> {
      Block full = std::exchange(block, Block());
      full.number = blocks++;
      const auto done = earlier->blocks.find(full.number);
      if (done == earlier->blocks.end() || done->second != full.rows.size()) return queue.add(std::move(full));
      queue.count_done(done->second);
      return {};
    };
    const Result<void> read = read_rows(*files, options.mapping, [&](ForeignRow row) -> Result<void> {
      block.rows.push_back(std::move(row));
      return block.rows.size() == slots_per_block(options.row_count) ? flush() : Result<void>();
    });
    if (!read.ok()) return read.error();
    if (!block.rows.empty()) {
      if (Result<void> added = flush(); !added.ok()) return added.error();
    }
    if (Result<void> done = queue.finish(); !done.ok()) return done.error();
  }
  Result<ImportReport> report = Finisher(options, blocks).run();
  if (!report.ok()) return report;
  if (Result<void> ended = journal->append(R"({"record":"end"})"); !ended.ok()) return ended.error();
  if (Result<void> synced = journal->sync(); !synced.ok()) return synced.error();
  fs::remove_all(options.output / kPartial, error);
  return report;
}

std::string to_text(const ImportReport& report) {
  std::string text = fmt::format("{} rows: {} verified, {} rejected, {} undecided\n", report.rows,
                                 report.verified_row_count, report.rejected_row_count, report.undecided_row_count);
  std::optional<RowOutcome> heading;
  for (const CauseCount& cause : report.cause_counts) {
    if (heading != cause.outcome) text += fmt::format("{}:\n", to_text(cause.outcome));
    heading = cause.outcome;
    text +=
        fmt::format("{:6} {}{}{}\n", cause.rows, cause.cause, cause.explanation.empty() ? "" : ": ", cause.explanation);
    for (const std::string& example : cause.examples)
      text += fmt::format("         {}\n", example);
  }
  return text;
}

Json to_json(const ImportReport& report) {
  Json causes = Json::array();
  for (const CauseCount& cause : report.cause_counts) {
    causes.push_back({{"outcome", to_text(cause.outcome)},
                      {"cause", cause.cause},
                      {"explanation", cause.explanation},
                      {"rows", cause.rows},
                      {"examples", cause.examples}});
  }
  return {{"rows", report.rows},
          {"verified", report.verified_row_count},
          {"rejected", report.rejected_row_count},
          {"undecided", report.undecided_row_count},
          {"causes", std::move(causes)}};
}

}  // namespace assay::foreign
