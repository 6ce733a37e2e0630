#include "harness/dataset/producer.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "harness/dataset/evidence.hpp"
#include "harness/dataset/naming.hpp"
#include "harness/records/record_json.hpp"
#include "harness/suite/modes.hpp"
#include "harness/suite/run/batch.hpp"
#include "harness/suite/select/random_kernels.hpp"

namespace assay::dataset {

using harness::CaseRecord;
using harness::Outcome;
using nlohmann::json;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::string_view kPasses[] = {"forward", "backward"};
/// Judgments of a case whose failure may be caused by the machine, so that a busy machine makes the same rows.
constexpr int kJudgments = 3;

class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() { total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  double& total_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string verdict_of(const CaseRecord& record) {
  return record.outcome_detail.empty() ? std::string(to_text(record.outcome))
                                       : fmt::format("{}({})", to_text(record.outcome), record.outcome_detail);
}

bool may_be_the_machine(const CaseRecord& record) {
  return record.outcome == Outcome::timed_out || record.outcome == Outcome::resource_error;
}

/// Names the variables of a random kernel for their roles, and the kernel by the first of its names.
void name_kernel(ir::Module& module) {
  name_variables(module);
  module.kernels[0].name = kernel_names(module).front();
}

/// Makes a random kernel. A kernel that is judged is parsed from its Python; one that is only printed need not be.
Result<harness::KernelSource> random_source(const std::string& name, bool judged) {
  return judged ? harness::random_kernel(name, name_kernel) : harness::unparsed_random_kernel(name, name_kernel);
}

Result<harness::KernelSource> source_of(const UserKernel& kernel) {
  if (!kernel.export_error.empty()) return Error{"cannot be exported: " + kernel.export_error};
  if (!kernel.parse_error.empty()) return Error{kernel.parse_error};
  return read_kernel(kernel.python_source, kernel.name, kernel.name + ".py");
}

/// The names that the kernel of a row may have, stored in `memory`.
std::span<const std::string_view> stored_names(const DatasetRow& row, const ir::Module& module, RowArena& memory) {
  if (row.family == kUserFamily) return {};
  std::vector<std::string_view> names;
  for (const std::string& name : kernel_names(module))
    names.push_back(memory.store(name));
  return memory.store(std::span(std::as_const(names)));
}

json without_times(CaseRecord record) {
  record.stage_times = {};
  record.source_texts.reset();  // the Python is stored separately, and determines the rest
  return json::parse(harness::to_line(record));
}

void add_times(harness::StageTimes& sum, const harness::StageTimes& times) {
  sum.adjoint_ms += times.adjoint_ms;
  sum.emit_ms += times.emit_ms;
  sum.build_ms += times.build_ms;
  sum.oracle_ms += times.oracle_ms;
  sum.launch_ms += times.launch_ms;
  sum.compare_ms += times.compare_ms;
}

}  // namespace

Json to_json(const RejectedCandidate& rejected) {
  return {{"record", "rejected"},
          {"slot", rejected.slot},
          {"attempt", rejected.attempt},
          {"name", rejected.name},
          {"verdict", rejected.verdict},
          {"message", rejected.message},
          {"python_source", rejected.python_source},
          {"records", rejected.failed_case_records}};
}

RejectedCandidate rejected_from(const json& line) {
  return {.slot = line.at("slot"),
          .attempt = line.at("attempt"),
          .name = line.at("name"),
          .verdict = line.at("verdict"),
          .message = line.at("message"),
          .python_source = line.at("python_source"),
          .failed_case_records = line.at("records").get<std::vector<json>>()};
}

AcceptedRow accept(const SlotTask& task, const DatasetRow& row, const RenderedKernel& kernel, RowArenas& memory) {
  return {.slot = task.slot,
          .attempt = task.attempt,
          .id = memory.statistics_arena.store(row.id),
          .line = memory.json_line_arena.store(to_line(row)),
          .kernel_name = memory.statistics_arena.store(row.kernel_name),
          .names = stored_names(row, *kernel.source.module, memory.statistics_arena),
          .statistics = row_statistics(row, *kernel.source.module, memory.statistics_arena),
          .shingles = memory.statistics_arena.store(ShingleView(shingles_of(*kernel.source.module)))};
}

Result<AcceptedRow> accept_line(const SlotTask& task, std::string_view line, RowArenas& memory) {
  const json parsed = json::parse(line, nullptr, false);
  if (parsed.is_discarded()) return Error{"row is not valid JSON"};
  try {
    const DatasetRow row = row_from(parsed);
    const Result<harness::KernelSource> source =
        read_kernel(row.python_source, row.metadata.name, file_of(row.metadata.name, row.kernel_name));
    if (!source.ok()) return source.error();
    return AcceptedRow{.slot = task.slot,
                       .attempt = task.attempt,
                       .id = memory.statistics_arena.store(row.id),
                       .line = memory.json_line_arena.store(line),
                       .kernel_name = memory.statistics_arena.store(row.kernel_name),
                       .names = stored_names(row, *source->module, memory.statistics_arena),
                       .statistics = row_statistics(row, *source->module, memory.statistics_arena),
                       .shingles = memory.statistics_arena.store(ShingleView(shingles_of(*source->module)))};
  } catch (const json::exception& wrong) {
    return Error{fmt::format("row does not match the schema: {}", wrong.what())};
  }
}

struct RowProducer::Candidate {
  SlotTask task;
  std::string name;
  RenderedKernel kernel;
  std::vector<PassEvidence> evidence = {};
  std::vector<CaseRecord> failed = {};
};

RowProducer::RowProducer(const DatasetPlan& plan, std::vector<VerifyingDevice> verifiers, RowPrinters printers,
                         harness::JudgingPolicy policy)
    : plan_(plan), verifiers_(std::move(verifiers)), printers_(std::move(printers)), policy_(policy) {
  for (const UserKernel& kernel : plan.excluded_kernels) {
    const harness::KernelSource source = read_kernel(kernel.python_source, kernel.name, kernel.name + ".py").take();
    excluded_.push_back({kernel.name, shingles_of(*source.module)});
  }
}

std::string RowProducer::excluded_kernel_like(const ir::Module& module) const {
  if (excluded_.empty()) return "";
  const Shingles shingles = shingles_of(module);
  const auto found = std::ranges::find_if(excluded_, [&](const ExcludedKernel& excluded) {
    return jaccard(shingles, excluded.shingles) >= kNearDuplicateSimilarity;
  });
  return found == excluded_.end() ? "" : found->name;
}

Result<ProducedBlock> RowProducer::produce(std::span<const SlotTask> tasks) const {
  ProducedBlock produced;
  // Kernels are judged in batches, because one compiler run takes many. Without judging, each kernel is finished before
  // the next is made, so that it stays in the caches and its memory is reused.
  const std::size_t together = plan_.verifies_rows || plan_.emitter == kWarpEmitter ? tasks.size() : 1;
  for (; !tasks.empty(); tasks = tasks.subspan(std::min(together, tasks.size()))) {
    const auto some = tasks.first(std::min(together, tasks.size()));
    if (Result<void> done = produce(some, produced); !done.ok()) return done.error();
  }
  std::ranges::sort(produced.rows, {}, [](const AcceptedRow& row) { return row.slot.number; });
  std::ranges::sort(produced.rejected, {},
                    [](const RejectedCandidate& one) { return std::pair(one.slot, one.attempt); });
  return produced;
}

Result<void> RowProducer::produce(std::span<const SlotTask> tasks, ProducedBlock& produced) const {
  std::vector<SlotTask> pending(tasks.begin(), tasks.end());
  while (!pending.empty()) {
    Result<std::vector<Candidate>> candidates = draw(pending, produced);
    if (!candidates.ok()) return candidates.error();
    if (plan_.emitter == kWarpEmitter) {
      if (Result<void> put = add_warp_code(*candidates, pending, produced); !put.ok()) return put;
    }
    if (plan_.verifies_rows) judge(*candidates, produced.timing);
    for (Candidate& candidate : *candidates) {
      if (candidate.failed.empty()) {
        const Stopwatch watch(produced.timing.write_seconds);
        add_unjudged(candidate);
        Result<void> added = add_row(candidate.task, row_of(candidate), candidate.kernel, produced);
        if (!added.ok()) return added;
        continue;
      }
      const CaseRecord& first = candidate.failed.front();
      RejectedCandidate rejected{.slot = candidate.task.slot.number,
                                 .attempt = candidate.task.attempt,
                                 .name = candidate.name,
                                 .verdict = verdict_of(first),
                                 .message = first.message,
                                 .python_source = candidate.kernel.source.python};
      for (const CaseRecord& record : candidate.failed)
        rejected.failed_case_records.push_back(without_times(record));
      produced.rejected.push_back(std::move(rejected));
      pending.push_back({candidate.task.slot, candidate.task.attempt + 1});
    }
  }
  return {};
}

/// Renders a candidate for each task. A candidate that cannot be rendered is rejected, and the next one is drawn.
Result<std::vector<RowProducer::Candidate>> RowProducer::draw(std::vector<SlotTask>& tasks,
                                                              ProducedBlock& produced) const {
  const Stopwatch watch(produced.timing.preparation_seconds);
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const SlotTask task = tasks[i];
    const auto name =
        task.attempt < kMaxAttemptsPerSlot ? candidate_name(plan_, task.slot, task.attempt) : std::nullopt;
    if (!name) continue;
    const UserKernel* const user = plan_.user_kernels.empty() ? nullptr : &plan_.user_kernels[task.slot.number];
    Result<harness::KernelSource> source =
        user == nullptr ? random_source(*name, plan_.verifies_rows) : source_of(*user);
    const bool may_be_unsupported =
        user != nullptr && (user->origin || !user->export_error.empty() || !user->parse_error.empty());
    if (!source.ok() && !may_be_unsupported) return source.error();
    std::string python = source.ok() ? source->python : user->python_source;
    Result<RenderedKernel> rendered =
        source.ok() ? render(source.take(), printers_.pair_printer) : Result<RenderedKernel>(source.error());
    if (rendered.ok() && user != nullptr) rendered->row.origin = user->origin;
    const std::string excluded = rendered.ok() ? excluded_kernel_like(*rendered->source.module) : "";
    if (rendered.ok() && excluded.empty()) {
      candidates.push_back({.task = task, .name = *name, .kernel = rendered.take()});
      continue;
    }
    produced.rejected.push_back({.slot = task.slot.number,
                                 .attempt = task.attempt,
                                 .name = *name,
                                 .verdict = rendered.ok() ? "excluded(near_duplicate)" : "unsupported(source)",
                                 .message = rendered.ok()
                                                ? fmt::format("a near duplicate of the excluded kernel {}", excluded)
                                                : rendered.error().text(),
                                 .python_source = std::move(python)});
    tasks.push_back({task.slot, task.attempt + 1});
  }
  tasks.clear();
  return candidates;
}

Result<void> RowProducer::add_warp_code(std::vector<Candidate>& candidates, std::vector<SlotTask>& tasks,
                                        ProducedBlock& produced) const {
  const Stopwatch watch(produced.timing.preparation_seconds);
  std::vector<warp::GeneratedCodeRequest> requests;
  std::vector<std::optional<Error>> failed(candidates.size());
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    Result<warp::GeneratedCodeRequest> request = warp_request(candidates[c].kernel.source);
    if (request.ok()) requests.push_back(request.take());
    else failed[c] = request.error();
  }
  const auto texts = printers_.warp_codegen(requests);
  if (!texts.ok()) return texts.error();
  std::vector<Candidate> kept;
  auto text = texts->begin();
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    Candidate& candidate = candidates[c];
    if (!failed[c]) {
      const Result<warp::GeneratedSources>& generated = *text++;
      if (generated.ok()) {
        add_code(*generated, candidate.kernel.has_gradients, candidate.kernel.row);
        // Warp's code adds to gradient arrays with atomics.
        candidate.kernel.has_order_dependent_backward_pass = candidate.kernel.has_gradients;
        kept.push_back(std::move(candidate));
        continue;
      }
      failed[c] = generated.error();
    }
    produced.rejected.push_back({.slot = candidate.task.slot.number,
                                 .attempt = candidate.task.attempt,
                                 .name = candidate.name,
                                 .verdict = "unsupported(warp)",
                                 .message = failed[c]->text(),
                                 .python_source = candidate.kernel.source.python});
    tasks.push_back({candidate.task.slot, candidate.task.attempt + 1});
  }
  candidates = std::move(kept);
  return {};
}

Result<ProducedBlock> RowProducer::rename(std::span<const Renaming> renamings) const {
  ProducedBlock produced;
  const Stopwatch watch(produced.timing.preparation_seconds);
  std::vector<Candidate> candidates;
  std::vector<DatasetRow> rows;
  for (const Renaming& renaming : renamings) {
    DatasetRow row = row_from(json::parse(renaming.line));
    Result<RenderedKernel> renamed = renamed_kernel(row, renaming.name, printers_.pair_printer);
    if (!renamed.ok()) return renamed.error();
    candidates.push_back({.task = renaming.task, .name = row.metadata.name, .kernel = renamed.take()});
    rows.push_back(std::move(row));
  }
  if (plan_.emitter == kWarpEmitter && !candidates.empty()) {
    std::vector<SlotTask> rejected;
    if (Result<void> put = add_warp_code(candidates, rejected, produced); !put.ok()) return put.error();
    if (!rejected.empty()) return Error{"internal error: Warp rejects a kernel after its name was changed"};
  }
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    DatasetRow row = std::move(candidates[i].kernel.row);
    row.evidence = std::move(rows[i].evidence);
    row.origin = std::move(rows[i].origin);
    row.metadata = std::move(rows[i].metadata);
    Result<void> added = add_row(candidates[i].task, std::move(row), candidates[i].kernel, produced);
    if (!added.ok()) return added.error();
  }
  return produced;
}

Result<void> RowProducer::add_row(const SlotTask& task, DatasetRow row, const RenderedKernel& kernel,
                                  ProducedBlock& produced) const {
  if (printers_.ptx_compiler) {
    Result<std::string> ptx = printers_.ptx_compiler(row);
    if (!ptx.ok()) return ptx.error();
    row.ptx = ptx.take();
  }
  produced.rows.push_back(accept(task, row, kernel, produced.memory));
  return {};
}

void RowProducer::judge(std::span<Candidate> candidates, Timing& timing) const {
  bool is_judged_before = false;
  for (const VerifyingDevice& verifier : verifiers_) {
    if (!verifier.device->can_run().is_available) continue;
    for (const harness::Mode& mode : verifier.modes)
      judge_in_mode(verifier, mode, is_judged_before, candidates, timing);
    is_judged_before = true;
  }
}

void RowProducer::judge_in_mode(const VerifyingDevice& verifier, const harness::Mode& mode, bool is_judged_before,
                                std::span<Candidate> candidates, Timing& timing) const {
  const harness::KernelSampleSize sample = harness::sample_of(plan_.judging_effort);
  std::vector<std::pair<backends::BuildFlags, std::vector<Candidate*>>> groups;
  for (Candidate& candidate : candidates) {
    const harness::KernelSource& source = candidate.kernel.source;
    auto judged = harness::mode_for_kernel(mode, verifier.modes, source.family, source.kernel, sample);
    if (!judged || !candidate.failed.empty()) continue;
    if (is_judged_before) judged = harness::mode_for_further_device(*judged, source.family, source.kernel, sample);
    auto group = std::ranges::find(groups, judged->flags, [](const auto& one) { return one.first; });
    if (group == groups.end()) group = groups.insert(group, {judged->flags, {}});
    group->second.push_back(&candidate);
  }
  for (auto& [flags, group] : groups) {
    harness::Mode judged = mode;
    judged.flags = flags;
    judge_candidates(verifier, judged, std::move(group), timing);
  }
}

void RowProducer::judge_candidates(const VerifyingDevice& verifier, const harness::Mode& mode,
                                   std::vector<Candidate*> left, Timing& timing) const {
  // The pairs of a dataset are for any order of the threads.
  const harness::RunOptions options{
      .jobs = 1, .seed = plan_.seed, .policy = policy_, .mode = mode, .may_fix_thread_order = false};
  for (int judgment = 1; !left.empty(); ++judgment) {
    std::vector<harness::KernelSource> sources;
    for (const Candidate* candidate : left)
      sources.push_back(candidate->kernel.source);
    std::vector<std::vector<CaseRecord>> records(left.size());
    std::size_t at = 0;
    const auto take = [&](CaseRecord record) {
      while (records[at].size() == passes_of(sources[at], options).size())
        ++at;
      add_times(timing.judging_times, record.stage_times);
      records[at].push_back(std::move(record));
    };
    run_batch(sources, *verifier.device, printers_.single_printer, options, take);
    timing.judged_kernel_count += left.size();

    std::vector<Candidate*> again;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (judgment < kJudgments && std::ranges::any_of(records[i], may_be_the_machine)) {
        again.push_back(left[i]);
        continue;
      }
      for (CaseRecord& record : records[i]) {
        if (is_pass(record.outcome)) {
          left[i]->evidence.push_back(make_evidence(record, left[i]->kernel, verifier.memory_checks));
        } else {
          left[i]->failed.push_back(std::move(record));
        }
      }
    }
    left = std::move(again);
  }
}

/// Adds evidence with a reason for every device and pass without a verdict.
void RowProducer::add_unjudged(Candidate& candidate) const {
  const auto reason_of = [&](std::string_view device, std::string_view pass) -> std::string {
    if (!plan_.verifies_rows) return "not verified";
    const auto verifier =
        std::ranges::find_if(verifiers_, [&](const VerifyingDevice& one) { return one.device->name() == device; });
    if (verifier == verifiers_.end()) return "not asked for";
    if (const backends::Capability run = verifier->device->can_run(); !run.is_available) return run.tool_or_reason;
    return pass == "backward" ? "the kernel has no float parameter" : "no case";
  };
  for (const std::string& device : devices_of_emitter(plan_.emitter)) {
    for (const std::string_view pass : kPasses) {
      const auto is_it = [&](const PassEvidence& one) { return one.device == device && one.pass == pass; };
      if (std::ranges::none_of(candidate.evidence, is_it))
        candidate.evidence.push_back(not_run(device, pass, reason_of(device, pass)));
    }
  }
  sort(candidate.evidence);
}

DatasetRow RowProducer::row_of(Candidate& candidate) const {
  DatasetRow row = std::move(candidate.kernel.row);
  row.evidence = std::move(candidate.evidence);
  row.metadata = metadata_of(plan_, row.origin);
  row.metadata.name = candidate.name;
  row.metadata.category = row.family;
  return row;
}

}  // namespace assay::dataset
