#include "harness/dataset/validate.hpp"

#include <algorithm>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "harness/dataset/card.hpp"
#include "harness/dataset/checksums.hpp"
#include "harness/dataset/finish.hpp"
#include "harness/dataset/journal.hpp"
#include "harness/dataset/row_file.hpp"
#include "schemas/embedded.hpp"
#include "support/files.hpp"
#include "support/parallel.hpp"

namespace assay::dataset {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Lines that are checked together. Two batches are in memory; their texts are bounded by the limits of the scanner.
constexpr std::size_t kBatch = 64;
constexpr std::size_t kBatchBytes = std::size_t{32} << 20;
/// Limit on stored diagnostics, for files with errors in every line.
constexpr std::size_t kMaxDiagnostics = 100'000;

/// A row that could be read, with its position.
struct Place {
  std::string file;
  std::uint64_t line = 0;
  std::string split;
  CheckedRow row;
};

/// What determines the result of making a row again.
struct HowRowWasMade {
  std::string emitter;           ///< code generator
  std::string seed;              ///< seed of the inputs
  std::string judging_effort;    ///< how thoroughly it was judged
  std::string ptx_architecture;  ///< architecture of its PTX; empty: it has none
  auto operator<=>(const HowRowWasMade&) const = default;
};

/// The id in the beginning of a faulty line, if it is intact.
std::string id_at_start(const std::string& start) {
  constexpr std::string_view kId = "{\"id\":\"";
  if (!start.starts_with(kId) || start.size() < kId.size() + 64) return "";
  const std::string id = start.substr(kId.size(), 64);
  return id.find_first_not_of("0123456789abcdef") == std::string::npos ? id : "";
}

class DatasetValidator {
 public:
  explicit DatasetValidator(const ValidateOptions& options) : options_(options) {
    for (int i = 0; i < std::max(1, options.jobs); ++i)
      checkers_.emplace_back(options.printer);
  }

  Result<ValidationResult> run(const fs::path& path) {
    std::error_code error;
    if (!fs::exists(path, error)) return Error{"no such file or folder", path.string()};
    const std::string name = path.filename().string();
    if (fs::is_directory(path, error)) {
      if (Result<void> checked = check_folder(path); !checked.ok()) return checked.error();
    } else if (name.ends_with(".json")) {
      check_older(path, path.string());
    } else {
      check_rows(path, path.string(), "");
    }
    warn_of_other_versions(path.string());
    check_together();
    if (rows_read_ == 0 && !may_be_empty_) diagnose(path.string(), "", "no rows", "a dataset with at least one row");
    if (finished_dir_) {
      const DatasetStatistics counted = count_statistics();
      check_stats(*finished_dir_, counted);
      check_card(*finished_dir_, counted);
    }
    if (options_.rejudge_count > 0) {
      if (Result<void> rebuilt = rebuild(); !rebuilt.ok()) return rebuilt.error();
    }
    result_.rows = rows_read_;
    return std::move(result_);
  }

 private:
  void diagnose(RowError diagnostic) {
    if (result_.diagnostics.size() < kMaxDiagnostics) result_.diagnostics.push_back(std::move(diagnostic));
  }
  void diagnose(const std::string& file, std::string pointer, std::string found, std::string expected) {
    diagnose({.file = file,
              .json_pointer = std::move(pointer),
              .found_text = std::move(found),
              .expected = std::move(expected)});
  }

  // ---- files

  Result<void> check_folder(const fs::path& dir) {
    std::error_code error;
    const bool ours = fs::exists(dir / kJournalFileName, error) || fs::is_directory(dir / kDataFolder, error);
    if (ours) {
      check_dataset(dir);
      return {};
    }
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(dir, error)) {
      if (entry.path().extension() == ".json") files.push_back(entry.path());
    }
    std::ranges::sort(files);
    for (const fs::path& file : files)
      check_older(file, fs::relative(file, dir).string());
    if (files.empty())
      return Error{"folder contains no dataset: journal.jsonl, data/ and JSON files are missing", dir.string()};
    return {};
  }

  void check_dataset(const fs::path& dir) {
    const Result<std::optional<Journal>> journal = read_journal(dir);
    if (!journal.ok())
      diagnose(std::string(kJournalFileName), "", quoted_excerpt(journal.error().text()), "a valid journal");
    else if (!journal->has_value())
      diagnose(std::string(kJournalFileName), "", "no such file", "a file that lists the rows");
    if (journal.ok() && journal->has_value()) {
      plan_ = journal->value().plan;
      may_be_empty_ = blocks_of_shard(*plan_).empty();
      sample_id_ = id_of_first_row(journal->value());
      for (RowChecker& checker : checkers_)
        checker.expect(*plan_);
    }
    const bool finished = journal.ok() && journal->has_value() && journal->value().has_ended;
    if (journal.ok() && journal->has_value() && !finished) return check_unfinished(dir, journal->value());
    finished_dir_ = dir;
    check_checksums(dir, result_.diagnostics);
    for (const std::string& name : files_below(dir / kDataFolder)) {
      const std::size_t dash = name.find('-');
      const std::string split = name.substr(0, dash);
      const bool known = std::ranges::find(kSplits, split) != std::end(kSplits);
      const std::string file = fmt::format("{}/{}", kDataFolder, name);
      if (!known || !(name.ends_with(".jsonl.gz") || name.ends_with(".jsonl.zst"))) {
        diagnose(file, "", "a file name that is not that of a split's rows",
                 "a name such as train-00000-of-00001.jsonl.gz");
      }
      check_rows(dir / kDataFolder / name, file, split);
    }
    if (finished) check_journal(journal->value());
  }

  /// Checks the flushed blocks of an interrupted run.
  void check_unfinished(const fs::path& dir, const Journal& journal) {
    may_be_empty_ = true;
    diagnose({.is_warning = true,
              .file = std::string(kJournalFileName),
              .found_text = fmt::format("{} of {} blocks: the dataset is not finished", journal.blocks.size(),
                                        blocks_of_shard(journal.plan).size()),
              .expected = "all blocks; 'assay generate --resume' makes the missing blocks"});
    for (const JournalBlock& block : journal.blocks) {
      const fs::path file = block_file(dir, block.block_number);
      check_rows(file, fs::relative(file, dir).string(), "");
    }
  }

  static std::vector<std::string> files_below(const fs::path& dir) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(dir, error))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }

  /// The id of the row in the first slot of the journal; empty if it lists no row.
  static std::string id_of_first_row(const Journal& journal) {
    std::optional<JournalRow> first;
    for (const JournalBlock& block : journal.blocks)
      for (const JournalRow& row : block.rows)
        if (!first || row.slot < first->slot) first = row;
    return first ? first->id : "";
  }

  // ---- rows

  void check_rows(const fs::path& path, const std::string& file, const std::string& split) {
    ++result_.files;
    std::vector<ScannedLine> batch;
    std::size_t bytes = 0;
    std::future<void> checking;  // of the previous batch, while this batch is scanned
    const auto check = [&] {
      if (checking.valid()) checking.get();
      checking =
          std::async(checkers_.size() > 1 ? std::launch::async : std::launch::deferred,
                     [this, &file, &split, lines = std::exchange(batch, {})] { check_batch(lines, file, split); });
      bytes = 0;
    };
    const Result<void> read = scan_lines(path, [&](ScannedLine line) {
      bytes += line.text.size();
      batch.push_back(std::move(line));
      if (batch.size() >= kBatch * checkers_.size() || bytes >= kBatchBytes) check();
    });
    check();
    checking.get();
    if (!read.ok()) diagnose(file, "", quoted_excerpt(read.error().message), "a file that can be read to its end");
  }

  void check_batch(const std::vector<ScannedLine>& batch, const std::string& file, const std::string& split) {
    std::vector<std::vector<RowError>> diagnostics(batch.size());
    std::vector<std::optional<CheckedRow>> checked(batch.size());
    const std::size_t threads = checkers_.size();
    for_each_index_in_parallel(threads, static_cast<unsigned>(threads), [&](std::size_t thread) {
      for (std::size_t i = thread; i < batch.size(); i += threads) {
        if (const auto& fault = batch[i].syntax_error) {
          diagnostics[i].push_back({.row_id = id_at_start(batch[i].faulty_line_start),
                                    .json_pointer = fault->json_pointer,
                                    .found_text = fault->found_text,
                                    .expected = fault->expected});
        } else {
          checked[i] = checkers_[thread].check(batch[i].text, diagnostics[i]);
        }
      }
    });
    rows_read_ += batch.size();
    check_warp_code(checked, diagnostics);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      for (RowError& diagnostic : diagnostics[i]) {
        diagnostic.file = file;
        diagnostic.line = batch[i].line_number;
        diagnose(std::move(diagnostic));
      }
      if (!checked[i]) continue;
      if (options_.rejudge_count == 0) checked[i]->python_source = "";
      if (checked[i]->id == sample_id_ && sample_line_.empty()) sample_line_ = batch[i].text;
      if (!checked[i]->has_current_schema) ++rows_of_other_schema_;
      if (const auto known = std::ranges::find(kSplits, split); known != std::end(kSplits))
        split_bytes_[*known] += batch[i].text.size() + 1;
      places_.push_back({.file = file, .line = batch[i].line_number, .split = split, .row = std::move(*checked[i])});
    }
  }

  /// Generates the code of Warp in rows again, all in one process, and compares it.
  void check_warp_code(std::vector<std::optional<CheckedRow>>& rows, std::vector<std::vector<RowError>>& diagnostics) {
    std::vector<std::size_t> compared;
    std::vector<warp::GeneratedCodeRequest> requests;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i] || !rows[i]->warp_code) continue;
      const std::string& version = rows[i]->emitter_version;
      if (const Result<std::string>& installed = installed_warp_version(); installed.ok() && *installed == version) {
        compared.push_back(i);
        requests.push_back(rows[i]->warp_code->request);
      } else {
        ++not_compared_[version];
      }
    }
    if (!compared.empty()) {
      const auto texts = options_.warp_codegen(requests);
      for (std::size_t c = 0; c < compared.size(); ++c) {
        const CheckedRow& row = *rows[compared[c]];
        const Result<warp::GeneratedSources> text =
            texts.ok() ? (*texts)[c] : Result<warp::GeneratedSources>(texts.error());
        if (text.ok()) RowChecker::compare_warp_code(row.id, *row.warp_code, *text, diagnostics[compared[c]]);
        else
          diagnostics[compared[c]].push_back({.row_id = row.id,
                                              .json_pointer = "/python_source",
                                              .found_text = text.error().text(),
                                              .expected = "a kernel for which Warp generates code"});
      }
    }
    for (std::optional<CheckedRow>& row : rows) {
      if (row) row->warp_code.reset();
    }
  }

  const Result<std::string>& installed_warp_version() {
    if (!warp_version_)
      warp_version_ =
          options_.warp_version ? options_.warp_version() : Result<std::string>(Error{"this run does not use Warp"});
    return *warp_version_;
  }

  /// Warns about code that was not generated again.
  void warn_of_other_versions(const std::string& path) {
    for (const auto& [version, count] : not_compared_) {
      const Result<std::string>& installed = installed_warp_version();
      diagnose({.is_warning = true,
                .file = path,
                .found_text = fmt::format(
                    "code of Warp {} in {} rows, which was not compared with new output because {}", version, count,
                    installed.ok() ? fmt::format("Warp {} is installed", *installed) : installed.error().text()),
                .expected = fmt::format("an installed Warp {}", version)});
    }
  }

  void check_older(const fs::path& path, const std::string& file) {
    ++result_.files;
    ++rows_read_;
    JsonScanner scanner;
    std::string text;
    const Result<void> read = read_pieces(path, [&](std::string_view bytes) {
      std::string piece(bytes);
      std::ranges::replace(piece, '\n', ' ');  // the scanner takes single lines; JSON treats both as white space
      scanner.feed(piece);
      if (scanner.has_error()) text = std::string();
      else text += bytes;
    });
    if (!read.ok())
      return diagnose(file, "", quoted_excerpt(read.error().message), "a file that can be read to its end");
    if (const auto fault = scanner.end())
      return diagnose(file, fault->json_pointer, fault->found_text, fault->expected);
    std::vector<RowError> diagnostics;
    checkers_.front().check_older(text, diagnostics);
    for (RowError& diagnostic : diagnostics) {
      diagnostic.file = file;
      diagnose(std::move(diagnostic));
    }
  }

  // ---- rows together

  void diagnose_value(const Place& place, std::string pointer, std::string found, std::string expected) {
    diagnose({.file = place.file,
              .line = place.line,
              .row_id = place.row.id,
              .json_pointer = std::move(pointer),
              .found_text = std::move(found),
              .expected = std::move(expected)});
  }

  void check_together() {
    std::unordered_map<std::string, const Place*> seen;
    for (const Place& place : places_) {
      const auto [first, is_new] = seen.emplace(place.row.id, &place);
      if (is_new) continue;
      diagnose_value(place, "/id", fmt::format("the id of the row at {}:{}", first->second->file, first->second->line),
                     "a unique id: no program may occur twice");
    }
    std::vector<ShingleView> shingles;
    for (const Place& place : places_)
      shingles.push_back(place.row.shingles);
    clusters_ = clusters_of(shingles);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const Place& first = places_[clusters_[i]];
      if (places_[i].split == first.split) continue;
      diagnose_value(places_[i], "", fmt::format("a near duplicate of the row at {}:{}", first.file, first.line),
                     fmt::format("both rows in the same split, {}", first.split));
    }
  }

  void check_journal(const Journal& journal) {
    const std::vector<DatasetSlot> slots = slots_of(journal.plan);
    struct PlannedRow {
      std::uint64_t slot = 0;
      std::string kernel_name;
    };
    std::map<std::string, PlannedRow> expected;  // by id of the row
    for (const JournalBlock& block : journal.blocks) {
      for (const JournalRow& row : block.rows) {
        const bool exists = row.slot < slots.size();
        expected[row.id] = {
            .slot = row.slot,
            .kernel_name = exists ? candidate_name(journal.plan, slots[row.slot], row.attempt).value_or("") : ""};
      }
    }
    std::set<std::string> found;
    std::map<std::string, std::uint64_t> last_slots;  // of the rows read so far, by split
    for (const Place& place : places_) {
      const bool is_new = found.insert(place.row.id).second;
      const auto planned = expected.find(place.row.id);
      if (planned == expected.end()) {
        diagnose_value(place, "/id", "a row that journal.jsonl does not list", "only rows that journal.jsonl lists");
        continue;
      }
      const auto& [slot, kernel_name] = planned->second;
      if (place.row.kernel_name != kernel_name) {
        diagnose_value(place, "/metadata/name", quoted_excerpt(place.row.kernel_name),
                       quoted_excerpt(kernel_name) + ", the kernel of the row's slot in journal.jsonl");
      }
      std::uint64_t& last_slot = last_slots.try_emplace(place.split, slot).first->second;
      if (is_new && slot < last_slot) {
        diagnose_value(place, "", fmt::format("the row of slot {} after that of slot {}", slot, last_slot),
                       "the rows of a split in the order of their slots in journal.jsonl");
      }
      last_slot = slot;
    }
    std::uint64_t missing = 0;
    for (const auto& [id, row] : expected)
      missing += found.contains(id) ? 0U : 1U;
    if (missing > 0) {
      diagnose(std::string(kJournalFileName), "",
               fmt::format("{} rows that are missing in data/ or cannot be read", missing),
               "data/ to contain every row that journal.jsonl lists");
    }
  }

  DatasetStatistics count_statistics() const {
    DatasetStatistics counted;
    for (const Place& place : places_)
      counted.add(place.row.statistics, place.split);
    std::map<std::uint32_t, std::uint64_t> rows_by_cluster;
    for (const std::uint32_t first : clusters_)
      ++rows_by_cluster[first];
    for (const auto& [first, rows] : rows_by_cluster)
      if (rows > 1) counted.add_cluster(rows);
    return counted;
  }

  void check_stats(const fs::path& dir, const DatasetStatistics& counted) {
    const std::string file = "stats.json";
    const Result<std::string> text = read_file_text(dir / file);
    if (!text.ok()) return diagnose(file, "", quoted_excerpt(text.error().message), "the statistics of the dataset");
    const json stats = json::parse(*text, nullptr, false);
    if (stats.is_discarded()) return diagnose(file, "", quoted_excerpt(*text), "JSON");
    const auto wrong = schemas::Validator(schemas::kStatsSchemaText).diagnostics(stats);
    for (const schemas::SchemaError& one : wrong)
      diagnose(file, one.pointer, one.found, one.expected);
    if (!wrong.empty()) return;
    const json again = json::parse(counted.to_json().dump());
    for (const char* member : {"rows", "families", "splits", "lengths", "operations", "verdicts", "rho_max"}) {
      if (stats.at(member) == again.at(member)) continue;
      for (const json& change : json::diff(stats.at(member), again.at(member))) {
        const std::string at = fmt::format("/{}{}", member, change.at("path").get<std::string>());
        const json::json_pointer pointer(at);
        diagnose(file, at, stats.contains(pointer) ? quoted_excerpt(stats.at(pointer).dump()) : "nothing",
                 again.contains(pointer) ? quoted_excerpt(again.at(pointer).dump()) + " computed from the rows"
                                         : "no such member");
      }
    }
  }

  /// Compares the dataset card and the schema with those that this version writes for the rows.
  void check_card(const fs::path& dir, const DatasetStatistics& counted) {
    if (rows_of_other_schema_ > 0) {
      return diagnose({.is_warning = true,
                       .file = "README.md",
                       .found_text = fmt::format("the card of {} rows with another version of the schema; README.md "
                                                 "and schema.json were not compared with the rows",
                                                 rows_of_other_schema_),
                       .expected = fmt::format("rows with schema version {}", schemas::kDatasetRowSchemaVersion)});
    }
    compare_file(dir, "schema.json", schemas::kDatasetRowSchemaText, "in the schema of this version of Assay");
    // Without the plan and all rows, the text of the card is unknown.
    if (!plan_ || places_.size() != rows_read_) return;
    compare_file(dir, "README.md", render_dataset_card(*plan_, counted, counted.to_json(), split_bytes_, sample_line_),
                 "in the card that this version of Assay writes for these rows");
  }

  void compare_file(const fs::path& dir, const std::string& name, std::string_view expected, std::string_view origin) {
    const Result<std::string> found = read_file_text(dir / name);
    if (!found.ok())
      return diagnose(name, "", quoted_excerpt(found.error().message), "a file that can be read to its end");
    if (*found == expected) return;
    const auto [found_line, expected_line] = first_difference(*found, expected);
    diagnose(name, "", found_line, fmt::format("{}, {}", expected_line, origin));
  }

  // ---- judging again

  Result<void> rebuild() {
    const std::size_t wanted = std::min<std::uint64_t>(options_.rejudge_count, places_.size());
    std::map<HowRowWasMade, std::vector<const Place*>> groups;
    for (std::size_t i = 0; i < wanted; ++i) {
      const Place& place = places_[i * places_.size() / wanted];
      const std::string effort = place.row.judging_effort == "none" ? "standard" : place.row.judging_effort;
      groups[{place.row.emitter, place.row.input_seed, effort, place.row.ptx.architecture}].push_back(&place);
    }
    for (const auto& [how, places] : groups) {
      if (Result<void> done = rebuild_group(how, places); !done.ok()) return done;
    }
    return {};
  }

  Result<void> rebuild_group(const HowRowWasMade& how, const std::vector<const Place*>& places) {
    DatasetPlan plan{.emitter = how.emitter,
                     .row_count = places.size(),
                     .seed = std::stoull(how.seed),
                     .judging_effort = how.judging_effort};
    // Without an NVRTC for the architecture, the PTX is not compiled again.
    if (Result<PtxCompiler> ptx = find_ptx_compiler(how.ptx_architecture); !how.ptx_architecture.empty() && ptx.ok())
      plan.ptx = ptx.take();
    plan.family_shares = {{.family = "again", .weight = 1, .row_count = places.size()}};
    for (const Place* place : places)
      plan.user_kernels.push_back({.name = place->row.kernel_name, .python_source = place->row.python_source});
    const Result<ProducedBlock> produced = options_.rejudge_rows(plan);
    if (!produced.ok()) return produced.error();
    result_.rejudged_count += places.size();
    for (const RejectedCandidate& rejected : produced->rejected) {
      diagnose_value(*places[rejected.slot], "",
                     fmt::format("verdict {} when judged again: {}", rejected.verdict, rejected.message),
                     "a kernel that passes");
    }
    for (const AcceptedRow& accepted : produced->rows) {
      const DatasetRow again = row_from(json::parse(accepted.line));
      compare_evidence(*places[accepted.slot.number], again);
      compare_ptx(*places[accepted.slot.number], again);
    }
    return {};
  }

  /// With the same compiler, compiling again must give the same PTX.
  void compare_ptx(const Place& place, const DatasetRow& again) {
    const RowPtxSummary compiled = summarize_ptx(again.ptx);
    if (compiled.compiler != place.row.ptx.compiler || compiled.sha256 == place.row.ptx.sha256) return;
    diagnose_value(place, "/ptx", "PTX with another hash", "what NVRTC generates from cuda_source");
  }

  /// With the same compilers, judging again must give the same evidence.
  void compare_evidence(const Place& place, const DatasetRow& again) {
    for (const PassEvidence& one : again.evidence) {
      const auto is_it = [&](const PassEvidence& other) {
        return other.device == one.device && other.pass == one.pass && other.mode == one.mode;
      };
      const auto before = std::ranges::find_if(place.row.evidence, is_it);
      if (before == place.row.evidence.end() || one.verdict == "not_run") continue;
      PassEvidence comparable = one;
      if (before->checks.empty()) comparable.checks.clear();  // a row of schema 1.2 or older
      if (*before == comparable) continue;
      const auto has_tool = [&](const DeviceCompiler& tool) {
        return tool.device == one.device && std::ranges::find(place.row.toolchain, tool) != place.row.toolchain.end();
      };
      if (std::ranges::none_of(again.metadata.toolchain, has_tool)) continue;
      diagnose_value(place, fmt::format("/evidence/{}", before - place.row.evidence.begin()),
                     quoted_excerpt(evidence_text(*before)), evidence_text(one) + " (result of judging the row again)");
    }
  }

  const ValidateOptions& options_;
  std::optional<DatasetPlan> plan_;  ///< the plan of the dataset, which `checkers_` refer to
  std::vector<RowChecker> checkers_;
  std::optional<fs::path> finished_dir_;    ///< folder of a dataset that is not marked as unfinished
  bool may_be_empty_ = false;               ///< whether the dataset is unfinished, or a shard without blocks
  std::string sample_id_;                   ///< id of the row that the dataset card shows
  std::string sample_line_;                 ///< line of this row
  SplitBytes split_bytes_;                  ///< size of the rows that could be read
  std::uint64_t rows_of_other_schema_ = 0;  ///< number of rows with another version of the schema than the current one
  ValidationResult result_;
  std::uint64_t rows_read_ = 0;
  std::vector<Place> places_;
  std::vector<std::uint32_t> clusters_;
  std::optional<Result<std::string>> warp_version_;    ///< version of the installed Warp, once it is known
  std::map<std::string, std::uint64_t> not_compared_;  ///< rows whose code was not compared, by version of Warp
};

}  // namespace

bool ValidationResult::valid() const {
  return std::ranges::all_of(diagnostics, [](const RowError& diagnostic) { return diagnostic.is_warning; });
}

Result<ValidationResult> validate(const fs::path& path, const ValidateOptions& options) {
  return DatasetValidator(options).run(path);
}

}  // namespace assay::dataset
