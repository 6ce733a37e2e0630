#include "harness/dataset/foreign/judgement.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/device/registry.hpp"
#include "harness/records/outcome.hpp"
#include "harness/records/record.hpp"
#include "harness/suite/emission.hpp"
#include "harness/suite/modes.hpp"
#include "harness/suite/run/batch.hpp"
#include "harness/suite/select/kernel_file.hpp"
#include "ir/text.hpp"
#include "support/hash.hpp"

namespace assay::foreign {
namespace {

using harness::CaseRecord;
using harness::Outcome;
using Json = nlohmann::ordered_json;

/// Judgments of a kernel whose failure may be caused by a busy machine.
constexpr int kJudgments = 3;

bool may_be_the_machine(const CaseRecord& record) {
  return record.outcome == Outcome::timed_out || record.outcome == Outcome::resource_error;
}

std::string cause_of(const CaseRecord& record) {
  return record.outcome_detail.empty() ? std::string(to_text(record.outcome))
                                       : fmt::format("{}({})", to_text(record.outcome), record.outcome_detail);
}

RowOutcome outcome_of(const CaseRecord& record) {
  switch (record.outcome) {
    case Outcome::pass: return RowOutcome::kVerified;
    case Outcome::inconclusive:
    case Outcome::unsupported:
    case Outcome::not_run:
    case Outcome::resource_error:
    case Outcome::internal_error: return RowOutcome::kUndecided;
    case Outcome::fail:
      // Nothing is held against Warp unless finite differences confirm it.
      return record.outcome_detail == "undecided" || record.outcome_detail == "oracle_wrong" ? RowOutcome::kUndecided
                                                                                             : RowOutcome::kRejected;
    case Outcome::defect:
    case Outcome::build_failed:
    case Outcome::launch_failed:
    case Outcome::crashed:
    case Outcome::timed_out:
    case Outcome::memory_fault: break;
  }
  return RowOutcome::kRejected;
}

Json make_evidence(const CaseRecord& record) {
  Json evidence = {{"device", record.device}, {"pass", record.pass}, {"verdict", to_text(record.outcome)}};
  if (!record.outcome_detail.empty()) evidence["kind"] = record.outcome_detail;
  if (!record.message.empty()) evidence["message"] = record.message;
  if (record.rho_max && std::isfinite(*record.rho_max)) evidence["rho_max"] = *record.rho_max;
  evidence["values_compared"] = record.values_compared;
  evidence["input_sets"] = record.input_sets;
  evidence["sizes"] = record.thread_counts;
  if (const auto& differences = record.check_results.finite_differences; differences && differences->rho_max)
    evidence["finite_difference_rho"] = std::isfinite(*differences->rho_max) ? Json(*differences->rho_max) : Json();
  evidence["controls_rejected"] = record.rejected_negative_controls;
  evidence["inconclusive_checks"] = record.inconclusive.total();
  evidence["uncovered_branches"] = record.uncovered_branches.size();
  Json mismatches = Json::array();
  for (const harness::Mismatch& mismatch : record.mismatches) {
    mismatches.push_back({{"array", mismatch.array_name},
                          {"index", mismatch.index},
                          {"expected", mismatch.expected.text},
                          {"bound", mismatch.bound.text},
                          {"got", mismatch.got.text}});
    if (mismatches.size() == 3) break;
  }
  if (!mismatches.empty()) evidence["mismatches"] = std::move(mismatches);
  return evidence;
}

/// The severity of an outcome: the most severe case decides the row.
int severity(RowOutcome outcome) {
  return outcome == RowOutcome::kRejected ? 2 : outcome == RowOutcome::kUndecided ? 1 : 0;
}

void add_record(JudgedRow& row, const CaseRecord& record) {
  row.evidence.push_back(make_evidence(record));
  const RowOutcome outcome = outcome_of(record);
  const bool is_first = row.evidence.size() == 1;
  if (!is_first && severity(outcome) <= severity(row.outcome)) return;
  row.outcome = outcome;
  row.cause = outcome == RowOutcome::kVerified ? "" : cause_of(record);
  row.message =
      outcome == RowOutcome::kVerified ? "" : fmt::format("{} {}: {}", record.device, record.pass, record.message);
}

void set_undecided(JudgedRow& row, std::string cause, std::string message) {
  row.outcome = RowOutcome::kUndecided;
  row.cause = std::move(cause);
  row.message = std::move(message);
}

/// The row's kernel as Assay parses it.
Result<harness::KernelSource> source_of(const ForeignRow& row, const std::string& kernel) {
  Result<harness::KernelSet> read = harness::read_text(row.python, "row.py");
  if (!read.ok()) return read.error();
  for (harness::KernelSource& source : read->kernels) {
    if (source.kernel != kernel) continue;
    if (source.parse_error) return *source.parse_error;
    source.family = "foreign";
    source.kernel = kernel;
    source.selector = row.id;
    source.file.clear();
    return std::move(source);
  }
  return Error{fmt::format("kernel '{}' is not at the top level of the source", kernel)};
}

/// Identifies the kernel's program: the hash of the canonical IR, in which names are numbered.
std::string program_of(const harness::KernelSource& source) {
  if (source.module->kernels.size() != 1) return "";
  return sha256_hex(ir::to_text(*source.module, ir::NamingScheme::kCanonical));
}

/// The row with the Python that the devices get in place of its own.
ForeignRow as_printed(const ForeignRow& row, const harness::KernelSource& source) {
  ForeignRow printed{.row_index = row.row_index, .cpp_source = row.cpp_source, .cuda_source = row.cuda_source};
  const harness::Printer print = harness::printer();
  const Result<backends::EmittedKernel> emitted =
      print(*source.module, source.module->kernels[source.kernel_index], nullptr, backends::SourceTarget::kWarpPython);
  if (!emitted.ok() || emitted->python == nullptr) return printed;
  printed.python = emitted->python->native.text;
  printed.kernel = emitted->python->native.kernel_name;
  return printed;
}

/// Generated code in which the kernel has another name.
RegeneratedCode renamed(RegeneratedCode code, const std::string& symbol) {
  for (std::string* text : {&code.cpp_source, &code.cuda_source}) {
    for (std::size_t at = text->find(code.kernel_symbol); at != std::string::npos && code.kernel_symbol != symbol;
         at = text->find(code.kernel_symbol, at + symbol.size()))
      text->replace(at, code.kernel_symbol.size(), symbol);
  }
  code.kernel_symbol = symbol;
  return code;
}

RowDamageFinding python_damage(RowDamage damage, std::string message, std::int64_t line, const std::string& python) {
  RowDamageFinding finding{.damage = damage,
                           .message = line > 0 ? fmt::format("python:{}: {}", line, message) : "python: " + message,
                           .field = "python",
                           .function = {},
                           .found_text = {},
                           .expected = {}};
  if (line > 0) {
    const auto number = static_cast<std::uint32_t>(line);
    finding.found_text = {.line = number, .text = std::string(line_of(python, number))};
  }
  return finding;
}

}  // namespace

std::string_view to_text(RowOutcome outcome) {
  switch (outcome) {
    case RowOutcome::kVerified: return "verified";
    case RowOutcome::kRejected: return "rejected";
    case RowOutcome::kUndecided: break;
  }
  return "undecided";
}

std::optional<RowDamageFinding> find_row_damage(const ForeignRow& row, const RegeneratedCode& regenerated,
                                                const FieldMapping& mapping, std::string_view version) {
  if (row.damage) return row.damage;
  if (!row.warp_version.empty() && row.warp_version != version) {
    return RowDamageFinding{.damage = RowDamage::kWarpVersionMismatch,
                            .message = fmt::format("warp_version: the row states Warp {}, but Warp {} is installed",
                                                   row.warp_version, version),
                            .field = "warp_version",
                            .function = {},
                            .found_text = {},
                            .expected = {}};
  }
  if (!regenerated.message.empty())
    return python_damage(regenerated.damage, regenerated.message, regenerated.line, row.python);
  for (const Target target : {Target::kCpp, Target::kCuda}) {
    const std::string& found = target == Target::kCpp ? row.cpp_source : row.cuda_source;
    if (found.empty()) continue;
    std::optional<RowDamageFinding> finding =
        find_damage({.target = target,
                     .found_text = found,
                     .expected = target == Target::kCpp ? regenerated.cpp_source : regenerated.cuda_source,
                     .kernel = regenerated.kernel_symbol,
                     .version = version,
                     .requires_backward = mapping.has_backward});
    if (finding) return finding;
  }
  return std::nullopt;
}

Result<RowJudge> RowJudge::make(const RowJudgeOptions& options) {
  RowJudge judge;
  for (const std::string& name : options.devices) {
    const backends::DeviceDescriptor* const row = backends::find_device(name);
    if (row == nullptr || runs_emitted_code(*row)) {
      std::vector<std::string_view> own;
      for (const backends::DeviceDescriptor& one : backends::devices())
        if (!runs_emitted_code(one)) own.push_back(one.name);
      return Error{fmt::format("--device must be a device that runs Warp's own code ({}), got '{}'",
                               fmt::join(own, ", "), name)};
    }
    if (!options.verify) continue;
    Result<std::unique_ptr<backends::Device>> device = backends::make_device(name);
    if (!device.ok()) return device.error();
    judge.devices_.push_back(device.take());
  }
  judge.policy_ = options.judging_effort == "quick"      ? harness::JudgingPolicy::quick()
                  : options.judging_effort == "thorough" ? harness::JudgingPolicy::thorough()
                                                         : harness::JudgingPolicy::standard();
  judge.seed_ = options.seed;
  return judge;
}

std::string RowJudge::device_unavailable_reason() const {
  std::vector<std::string> reasons;
  for (const auto& device : devices_) {
    const backends::Capability run = device->can_run();
    if (run.is_available) return "";
    reasons.push_back(fmt::format("{}: {}", device->name(), run.tool_or_reason));
  }
  return fmt::format("{}", fmt::join(reasons, "; "));
}

Result<std::vector<JudgedRow>> RowJudge::judge(std::vector<ForeignRow> rows, const FieldMapping& mapping,
                                               std::string_view version, const Regenerate& regenerate) const {
  const Result<std::vector<RegeneratedCode>> regenerated = regenerate(rows);
  if (!regenerated.ok()) return regenerated.error();
  std::vector<JudgedRow> judged(rows.size());
  std::vector<PendingRow> pending;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    JudgedRow& row = judged[i];
    const RegeneratedCode& own = regenerated.value()[i];
    row.row = std::move(rows[i]);
    const Target target = row.row.cpp_source.empty() ? Target::kCuda : Target::kCpp;
    row.code_key = forward_key(target, target == Target::kCpp ? row.row.cpp_source : row.row.cuda_source);
    row.regenerated_code_key = forward_key(target, target == Target::kCpp ? own.cpp_source : own.cuda_source);
    row.damage = find_row_damage(row.row, own, mapping, version);
    if (row.damage) {
      row.outcome = RowOutcome::kRejected;
      row.cause = to_text(row.damage->damage);
      row.message = row.damage->message;
      continue;
    }
    Result<harness::KernelSource> source = source_of(row.row, own.kernel);
    if (!source.ok()) {
      set_undecided(row, "unsupported(reader)", source.error().text());
      row.program_key = row.regenerated_code_key;
      continue;
    }
    row.program_key = program_of(*source);
    if (row.program_key.empty()) row.program_key = row.regenerated_code_key;
    if (devices_.empty()) set_undecided(row, std::string(to_text(Outcome::not_run)), "the kernel was not judged");
    else pending.push_back({.row = &row, .kernel_symbol = own.kernel_symbol, .source = source.take()});
  }
  if (pending.empty()) return judged;
  for (const auto& device : devices_)
    if (device->can_run().is_available) judge_on_device(*device, pending);

  std::vector<ForeignRow> printed;
  for (const PendingRow& one : pending)
    printed.push_back(as_printed(one.row->row, one.source));
  const Result<std::vector<RegeneratedCode>> again = regenerate(printed);
  if (!again.ok()) return again.error();
  for (std::size_t i = 0; i < pending.size(); ++i) {
    JudgedRow& row = *pending[i].row;
    const std::optional<RowDamageFinding> difference =
        find_row_damage(row.row, renamed(again.value()[i], pending[i].kernel_symbol), mapping, version);
    if (difference) set_undecided(row, "judged_code_differs", difference->message);
  }
  return judged;
}

void RowJudge::judge_on_device(backends::Device& device, std::span<const PendingRow> rows) const {
  const std::string name(device.name());
  const harness::RunOptions options{
      .jobs = 1, .seed = seed_, .policy = policy_, .mode = harness::modes_of(name, "", 0).front()};
  std::vector<std::size_t> left(rows.size());
  for (std::size_t i = 0; i < left.size(); ++i)
    left[i] = i;
  for (int judgment = 1; !left.empty(); ++judgment) {
    std::vector<harness::KernelSource> some;
    for (const std::size_t i : left)
      some.push_back(rows[i].source);
    std::vector<std::vector<CaseRecord>> records(left.size());
    std::size_t at = 0;
    run_batch(some, device, harness::printer(), options, [&](CaseRecord record) {
      while (records[at].size() == passes_of(some[at], options).size())
        ++at;
      records[at].push_back(std::move(record));
    });
    std::vector<std::size_t> again;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (judgment < kJudgments && std::ranges::any_of(records[i], may_be_the_machine)) {
        again.push_back(left[i]);
        continue;
      }
      for (const CaseRecord& record : records[i])
        add_record(*rows[left[i]].row, record);
    }
    left = std::move(again);
  }
}

}  // namespace assay::foreign
