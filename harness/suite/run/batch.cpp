#include "harness/suite/run/batch.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include <fmt/format.h>

#include "harness/causes/causes.hpp"
#include "harness/suite/run/own_text.hpp"
#include "harness/suite/run/shared_plans.hpp"
#include "ir/analysis.hpp"
#include "ir/source_location.hpp"
#include "ir/text.hpp"
#include "ir/verifier.hpp"
#include "support/shell.hpp"

namespace assay::harness {
namespace {

using backends::Pass;

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

void stop(PreparedKernel& prepared, Outcome outcome, std::string kind, std::string message) {
  CaseRecord record;
  record.outcome = outcome;
  record.outcome_detail = std::move(kind);
  record.message = std::move(message);
  prepared.early_result = std::move(record);
}

std::string types_part(const KernelSource& source) {
  return source.module == nullptr ? "unknown" : types_of(*source.module, source.module->kernels[source.kernel_index]);
}

CaseRecord blank_record(const KernelSource& source, const backends::Device& device, Pass pass,
                        const RunOptions& options) {
  CaseRecord record;
  record.name = case_name(source, device.name(), pass, options.mode);
  record.family = source.family;
  record.kernel = source.kernel;
  record.parameter_types = types_part(source);
  record.device = device.name();
  record.pass = to_text(pass);
  record.mode = options.mode.name;
  record.source.file = source.file.empty() ? fmt::format("{}/{}.py", source.family, source.kernel) : source.file;
  if (source.module != nullptr) record.source.line = source.module->kernels[source.kernel_index].loc.line;
  record.selector = source.selector;
  // A name that begins with a hyphen would be an option.
  const std::string selector = source.selector.starts_with('-') ? "./" + source.selector : source.selector;
  record.reproduce_command = fmt::format("{} {}", options.reproduce_command_prefix, quote_for_shell(selector));
  if (options.reproduce_command_has_device)
    record.reproduce_command += fmt::format(" --device {} --pass {}", device.name(), to_text(pass));
  record.reproduce_command += fmt::format(" --seed {}", options.seed);
  record.stage_times.parse_ms = source.parse_ms;
  return record;
}

/// Sets outcome, kind and message, and records the attempt.
void conclude(CaseRecord& record, Outcome outcome, std::string kind, std::string message) {
  record.outcome = outcome;
  record.outcome_detail = std::move(kind);
  record.message = std::move(message);
  record.attempt_outcomes.push_back(outcome);
}

void take_verdict(CaseRecord& record, PassVerdict verdict, const ir::Module& module) {
  const PassVerdict::Decision decision = verdict.decide();
  conclude(record, decision.outcome, decision.outcome_detail, decision.message);
  if (verdict.values_compared > 0) record.rho_max = verdict.rho_max;
  record.values_compared = verdict.values_compared;
  record.input_sets = verdict.input_sets;
  record.thread_counts.assign(verdict.thread_counts.begin(), verdict.thread_counts.end());
  for (const auto& [array, tally] : verdict.negative_controls)
    record.rejected_negative_controls += tally.rejected_controls;
  record.rho_histogram = verdict.rho_histogram;
  record.closest_negative_control = verdict.closest_negative_control();
  record.finite_difference_series = std::move(verdict.finite_difference_series);
  record.tolerance_comparisons = std::move(verdict.tolerance_comparisons);
  record.inconclusive = verdict.inconclusive;
  record.check_results = verdict.check_results;
  record.mismatches = std::move(verdict.mismatches);
  record.uncovered_branches = verdict.coverage.uncovered(module);
  record.assumptions = std::move(verdict.assumptions);
  record.finding = std::move(verdict.finding);
  record.memory_findings = std::move(verdict.memory_findings);
  record.profiles = std::move(verdict.profiles);
  record.log = std::move(verdict.worker_log);
}

Outcome outcome_of(const backends::BuildFailed& failed) {
  switch (failed.kind) {
    case backends::BuildFailed::Kind::kRejected: return Outcome::build_failed;
    case backends::BuildFailed::Kind::kTimedOut: return Outcome::timed_out;
    case backends::BuildFailed::Kind::kCrashed: return Outcome::crashed;
    case backends::BuildFailed::Kind::kUnsupported: return Outcome::unsupported;
    case backends::BuildFailed::Kind::kResourceFailure: return Outcome::resource_error;
  }
  return Outcome::internal_error;
}

/// The first line of a compiler's log that reports an error, or else the first line.
std::string error_line(const std::string& log) {
  const std::size_t error = log.find("error:");
  const std::size_t before = error == std::string::npos ? error : log.rfind('\n', error);
  const std::size_t start = before == std::string::npos ? 0 : before + 1;
  return log.substr(start, log.find('\n', start) - start);
}

/// The kernel and its adjoint, if any, printed in the device's language.
Result<backends::EmittedKernel> printed_for(const PreparedKernel& prepared, const Printer& printer,
                                            backends::SourceTarget target) {
  const ir::Function* backward = prepared.adjoint ? &prepared.adjoint->module.kernels[0] : nullptr;
  const ir::Module& module = prepared.adjoint ? prepared.adjoint->module : *prepared.source->module;
  return printer(module, prepared.kernel(), backward, target);
}

/// The source texts of a kernel prepared for a target, for the report.
SourceTexts artifact_of(const PreparedKernel& prepared, const Printer& printer, backends::SourceTarget prepared_for,
                        std::string compile_command) {
  SourceTexts artifact;
  artifact.python = prepared.source->python;
  artifact.compile_command = std::move(compile_command);
  if (prepared.source->module == nullptr) return artifact;
  artifact.ir = ir::to_text(*prepared.source->module);
  const auto text = [&](backends::SourceTarget target) {
    if (prepared.emitted_kernel && target == prepared_for) return prepared.emitted_kernel->source();
    auto emitted = printed_for(prepared, printer, target);
    return emitted.ok() ? emitted.value().source() : emitted.error().text();
  };
  artifact.cpp = text(backends::SourceTarget::kCpp);
  artifact.cuda = text(backends::SourceTarget::kCuda);
  return artifact;
}

/// Concludes a case that cannot run: a backward case without an adjoint, or a failed stage. Returns whether it did.
bool settle(const PreparedKernel& prepared, Pass pass, CaseRecord& record) {
  if (prepared.early_result) {
    conclude(record, prepared.early_result->outcome, prepared.early_result->outcome_detail,
             prepared.early_result->message);
    record.log = prepared.early_result->log;
    return true;
  }
  if (pass == Pass::kBackward && prepared.adjoint_rejection) {
    conclude(record, Outcome::unsupported, "adjoint", prepared.adjoint_rejection->text());
    return true;
  }
  return false;
}

/// Whether another order or algorithm, with rounding errors of the same size, can explain all differences.
bool differs_little(const CaseRecord& record) {
  constexpr double kMaxRho = 64, kMaxShare = 1e-3;
  return std::ranges::all_of(record.mismatches, [](const Mismatch& mismatch) {
    const double expected = std::strtod(mismatch.expected.text.c_str(), nullptr);
    const double difference = std::abs(std::strtod(mismatch.got.text.c_str(), nullptr) - expected);
    return mismatch.rho <= kMaxRho || difference <= kMaxShare * std::abs(expected);
  });
}

/// Everything about one kernel after the build.
class KernelRun {
 public:
  KernelRun(PreparedKernel& prepared, backends::Device& device, const Printer& printer, const RunOptions& options,
            const CrossCheckDevice* cross_check_device)
      : prepared_(prepared),
        device_(device),
        printer_(printer),
        options_(options),
        cross_check_device_(cross_check_device) {}

  std::vector<CaseRecord> records(const backends::BuildOutcome* built, backends::DeviceSession* session) {
    std::optional<Judgment> judgment;
    const auto* failed = built == nullptr ? nullptr : std::get_if<backends::BuildFailed>(built);
    if (failed != nullptr && !prepared_.early_result) {
      const Outcome outcome = outcome_of(*failed);
      stop(prepared_, outcome, outcome == Outcome::unsupported ? std::string(device_.name()) : "build",
           error_line(failed->log));
      prepared_.early_result->log = failed->log;
    }
    PassMeasurements measured;
    if (!prepared_.early_result) {
      const auto& kernel = std::get<backends::BuiltKernel>(*built);
      note_text(kernel);
      judgment = judged(kernel, *session);
      if (options_.measure && passes(*judgment)) measured = options_.measure(subject(), kernel);
    }

    std::vector<CaseRecord> records;
    const std::vector<Pass> passes = passes_of(*prepared_.source, options_);
    const double share = 1.0 / static_cast<double>(std::max<std::size_t>(passes.size(), 1));
    for (const Pass pass : passes) {
      CaseRecord record = blank_record(*prepared_.source, device_, pass, options_);
      if (!settle(prepared_, pass, record)) {
        const PassVerdict& verdict = pass == Pass::kForward ? judgment->forward : judgment->backward;
        take_verdict(record, verdict, *prepared_.source->module);
        record.judged_text = judged_text_;
        if (is_warp()) name_cause(record, pass);
        const auto& measurement = pass == Pass::kForward ? measured.forward : measured.backward;
        if (measurement) record.measurements.push_back(*measurement);
        if (options_.on_counterexample && verdict.counterexample)
          options_.on_counterexample(record, *verdict.counterexample);
        if (options_.examine_failure && !is_pass(record.outcome))
          options_.examine_failure(record, *prepared_.source, options_);
      }
      record.stage_times.adjoint_ms = prepared_.stage_times.adjoint_ms * share;
      record.stage_times.emit_ms = prepared_.stage_times.emit_ms * share;
      record.stage_times.build_ms = prepared_.stage_times.build_ms * share;
      if (judgment) {
        record.stage_times.oracle_ms = judgment->oracle_ms * share;
        record.stage_times.launch_ms = judgment->launch_ms * share;
        record.stage_times.compare_ms = judgment->compare_ms * share;
      }
      add_artifact(record, pass == passes.front());
      records.push_back(std::move(record));
    }
    return records;
  }

 private:
  void add_artifact(CaseRecord& record, bool first) const {
    constexpr std::size_t kSmall = 24 * 1024;
    if (is_pass(record.outcome) && !(options_.keeps_source_texts && first)) return;
    SourceTexts artifact =
        artifact_of(prepared_, printer_, device_.target(), device_.build_command(options_.mode.flags));
    const std::size_t size = artifact.python.size() + artifact.cpp.size() + artifact.cuda.size() + artifact.ir.size();
    if (!is_pass(record.outcome) || size <= kSmall) record.source_texts = std::move(artifact);
  }

  /// Whether another program than Assay generated the code.
  bool is_other_generator() const { return device_.target() == backends::SourceTarget::kWarpPython; }

  /// Whether the code is a candidate, which may use another algorithm, because it was not generated from the kernel.
  bool is_foreign() const { return device_.input_error() != 0; }

  /// Whether Warp generated the code.
  bool is_warp() const { return is_other_generator() && !is_foreign(); }

  /// Notes which text of the kernel Warp got. If the user's own text disables the backward pass, there is none.
  void note_text(const backends::BuiltKernel& kernel) {
    if (!is_warp() || !kernel.native_text) return;
    const std::string& obstacle =
        prepared_.own_text_obstacle.empty() ? kernel.native_text->obstacle : prepared_.own_text_obstacle;
    judged_text_ = JudgedText{.is_own = kernel.native_text->is_own, .obstacle = obstacle};
    const bool has_backward = kernel.find(Pass::kBackward, backends::Precision::kNative) != nullptr;
    if (prepared_.adjoint && judged_text_->is_own && !has_backward) {
      prepared_.adjoint.reset();
      prepared_.adjoint_rejection = Error{"the file sets enable_backward=False, so Warp generates no backward pass"};
    }
  }

  /// Adds the likely cause of an incorrect gradient of Warp, and calls it a convention if Warp documents it. If Warp
  /// did not run the tiles of the source, the result is inconclusive.
  void name_cause(CaseRecord& record, Pass pass) const {
    const bool is_incorrect = record.outcome_detail == "wrong_gradient";
    const bool is_fault = record.outcome == Outcome::memory_fault || record.outcome == Outcome::crashed;
    const bool is_own = judged_text_ && judged_text_->is_own;
    const bool has_replaced_tiles = warp::has_replaced_tiles(*prepared_.source->module, prepared_.kernel());
    if (has_replaced_tiles && !is_own && pass == Pass::kBackward && (is_incorrect || is_fault)) {
      record.outcome = Outcome::inconclusive;
      record.outcome_detail = "replaced_tiles";
      record.message +=
          "; Warp did not run the kernel's own tiles or stacks, but local arrays and loops, which Assay wrote instead";
      return;
    }
    if (has_replaced_tiles && is_own && record.outcome == Outcome::fail &&
        (record.outcome_detail == "rounding" || (record.outcome_detail == "mismatch" && differs_little(record)))) {
      record.outcome = Outcome::inconclusive;
      record.outcome_detail = "replaced_tiles";
      record.message +=
          "; the bound is that of local arrays and loops, which stand for the tiles, and Warp may compute otherwise";
      return;
    }
    if (!is_incorrect) return;
    // The loops and arrays that stand for tiles are not in the text that Warp got.
    const warp::GradientErrorCauseEntry& cause =
        warp::row_of(has_replaced_tiles ? warp::GradientErrorCause::kOther
                                        : warp::cause_of(*prepared_.source->module, prepared_.kernel()));
    record.message += fmt::format("; likely cause: {}", cause.title);
    if (cause.documentation_section.empty()) return;
    record.outcome_detail = "convention";
    record.message += fmt::format(" (Warp's user guide, Differentiability: {})", cause.documentation_section);
  }

  /// Whether all cases of the kernel are as expected.
  bool passes(const Judgment& judgment) const {
    return std::ranges::all_of(passes_of(*prepared_.source, options_), [&](Pass pass) {
      if (pass == Pass::kForward) return is_pass(judgment.forward.decide().outcome);
      return prepared_.adjoint_rejection || is_pass(judgment.backward.decide().outcome);
    });
  }

  KernelUnderTest subject() const {
    return {.module = *prepared_.source->module,
            .kernel = prepared_.kernel(),
            .promoted = *prepared_.promoted,
            .adjoint = prepared_.adjoint ? &*prepared_.adjoint : nullptr,
            .oracle = *prepared_.oracle,
            .promoted_oracle = *prepared_.promoted_oracle};
  }

  std::span<const RecordedLaunch> recorded() const {
    return prepared_.source->recorded_launches == nullptr ? std::span<const RecordedLaunch>()
                                                          : *prepared_.source->recorded_launches;
  }

  Judgment judged(const backends::BuiltKernel& kernel, backends::DeviceSession& session) const {
    JudgingPolicy policy = options_.policy;
    // A generator of code that rejects the promoted kernel is judged in the kernel's own types.
    if (kernel.find(Pass::kForward, backends::Precision::kPromoted) == nullptr) policy.judges_f64_promotion = false;
    reference::ArithmeticProfile profile = profile_of(device_.uses_cuda_math(), options_.mode.flags);
    profile.input_error = {.unit_roundoffs = device_.input_error(),
                           .least_significant_bits =
                               computes_in_half_precision(subject()) ? 0 : ir::row(ir::Scalar::kF32).significant_bits};
    const JudgeConfiguration configuration{
        .session = session,
        .policy = policy,
        .profile = profile,
        .seed = options_.seed,
        .forward = options_.forward,
        .backward = options_.backward,
        .time_limit = options_.time_limit,
        .cross_check_device = cross_check_device_,
        .derives_work_from_extents = device_.derives_work_from_extents(),
        .is_repeatable = device_.is_repeatable(),
        .can_run_threads_in_order = options_.may_fix_thread_order && device_.can_run_threads_in_order(),
        .trusts_custom_gradients = options_.trusts_custom_gradients,
        .fixed_extents = options_.fixed_extents,
        .recorded_launches = recorded(),
        .decides_gradients_by_finite_differences =
            is_other_generator() || options_.decides_gradients_by_finite_differences,
        .accepts_subgradients = is_other_generator(),
        .promotes_other_text = judged_text_ && judged_text_->is_own && has_other_promoted_text(),
        .judges_unrounded_values = device_.computes_unrounded_values(),
        .approximate_instructions = device_.approximate_instructions(),
        .finds_smaller_counterexamples = is_foreign() && options_.on_counterexample};
    if (options_.test_plans == nullptr) return judge(subject(), kernel, configuration);
    const auto start = std::chrono::steady_clock::now();
    const auto test_plan = options_.test_plans->get_or_draw_test_plan(
        *prepared_.source, options_, [&] { return draw_test_plan(subject(), configuration); });
    const double drawing_ms = milliseconds_since(start);
    Judgment judgment = judge_with_oracle_check(*test_plan, subject(), kernel, configuration);
    judgment.oracle_ms += drawing_ms;
    return judgment;
  }

  /// Whether Warp gets another text with f64 promotion than in the kernel's own types.
  bool has_other_promoted_text() const {
    const backends::PythonBinding& python = *prepared_.emitted_kernel->python;
    return python.native.text != python.promoted.text;
  }

  PreparedKernel& prepared_;
  std::optional<JudgedText> judged_text_ = std::nullopt;
  backends::Device& device_;
  const Printer& printer_;
  const RunOptions& options_;
  const CrossCheckDevice* cross_check_device_;
};

/// Builds the kernels of a batch on RunOptions::cross_check_device.
class CrossCheckBatch {
 public:
  CrossCheckBatch(std::span<const PreparedKernel> kernels, const Printer& printer, const RunOptions& options)
      : options_(options) {
    if (options.cross_check_device == nullptr || !options.cross_check_device->can_run().is_available) return;
    std::vector<backends::EmittedKernel> emitted;
    for (const PreparedKernel& kernel : kernels) {
      if (kernel.early_result) continue;
      auto printed = printed_for(kernel, printer, options.cross_check_device->target());
      if (!printed.ok()) continue;
      emitted.push_back(printed.take());
      positions_[&kernel] = emitted.size() - 1;
    }
    built_ = options.cross_check_device->build(emitted, options.mode.flags);
    auto session = options.cross_check_device->open({});
    if (session.ok()) session_ = session.take();
  }

  std::optional<CrossCheckDevice> of(const PreparedKernel& kernel) {
    const auto position = positions_.find(&kernel);
    if (position == positions_.end() || session_ == nullptr) return std::nullopt;
    const auto* built = std::get_if<backends::BuiltKernel>(&built_[position->second]);
    if (built == nullptr) return std::nullopt;
    return CrossCheckDevice{.name = std::string(options_.cross_check_device->name()),
                            .session = *session_,
                            .kernel = *built,
                            .profile = profile_of(options_.cross_check_device->uses_cuda_math(), options_.mode.flags)};
  }

 private:
  const RunOptions& options_;
  std::map<const PreparedKernel*, std::size_t> positions_;  ///< in built_
  std::vector<backends::BuildOutcome> built_;
  std::unique_ptr<backends::DeviceSession> session_;
};

/// The gradients of a backward pass that runs on Warp's tape: it runs the kernel first, so it needs no final arrays,
/// and it has no gradients of parameters passed by value.
Result<transforms::AdjointModule> as_warp_returns(transforms::AdjointModule adjoint) {
  adjoint.parameters_bound_to_final_content.clear();
  const std::size_t before = adjoint.gradient_parameters.size();
  std::erase_if(adjoint.gradient_parameters,
                [](const transforms::GradientParameter& gradient) { return !gradient.is_array; });
  if (before > 0 && adjoint.gradient_parameters.empty())
    return Error{"Warp returns gradients of arrays only, and the kernel has no array with floats"};
  return adjoint;
}

}  // namespace

reference::ArithmeticProfile profile_of(bool uses_cuda_math, const backends::BuildFlags& flags) {
  const auto library = uses_cuda_math ? reference::MathLibrary::kCuda : reference::MathLibrary::kLibm;
  return {.native_library = library, .promoted_library = library, .flushes_subnormals = flags.flushes_subnormals};
}

std::string types_of(const ir::Module& module, const ir::Function& kernel) {
  std::set<ir::Scalar, std::greater<>> scalars;  // floats come last in the enumeration
  for (int p = 0; p < kernel.parameter_count; ++p) {
    for (const ir::ScalarComponent& component : ir::scalar_components(module, kernel.var(p).type.element()))
      scalars.insert(component.scalar);
  }
  std::string text;
  for (const ir::Scalar scalar : scalars) {
    if (!text.empty()) text += '_';
    text += ir::row(scalar).name;
  }
  return text.empty() ? "none" : text;
}

std::vector<Pass> passes_of(const KernelSource& source, const RunOptions& options) {
  std::vector<Pass> passes;
  if (options.forward) passes.push_back(Pass::kForward);
  const auto has_floats = [&] {
    const ir::Function& kernel = source.module->kernels[source.kernel_index];
    return std::any_of(kernel.variables.begin(), kernel.variables.begin() + kernel.parameter_count,
                       [&](const ir::Variable& v) { return ir::is_differentiable(*source.module, v.type); });
  };
  if (options.backward && (source.module == nullptr || has_floats())) passes.push_back(Pass::kBackward);
  return passes;
}

std::string case_name(const KernelSource& source, std::string_view device, Pass pass, const Mode& mode) {
  std::string name =
      fmt::format("{}/{}/{}/{}/{}", source.family, source.kernel, types_part(source), device, to_text(pass));
  if (!mode.name.empty()) name += "/" + mode.name;
  return name;
}

std::vector<std::string> list_case_names(const KernelSource& source, const backends::Device& device,
                                         const RunOptions& options) {
  std::vector<std::string> cases;
  for (const Pass pass : passes_of(source, options))
    cases.push_back(case_name(source, device.name(), pass, options.mode));
  return cases;
}

PreparedKernel prepare_kernel(const KernelSource& source, const Printer& printer, backends::SourceTarget target,
                              const RunOptions& options) {
  PreparedKernel prepared;
  prepared.source = &source;
  if (source.parse_error) {
    stop(prepared, Outcome::unsupported, "reader", source.parse_error->text());
    return prepared;
  }
  if (const auto diagnostics = ir::verify(*source.module); !diagnostics.empty()) {
    stop(prepared, Outcome::internal_error, "verifier",
         fmt::format("{}: {}", ir::line_text(*source.module, diagnostics.front().loc), diagnostics.front().message));
    return prepared;
  }
  if (!source.unsupported_launch_reason.empty()) {
    stop(prepared, Outcome::unsupported, "launch", source.unsupported_launch_reason);
    return prepared;
  }
  auto start = std::chrono::steady_clock::now();
  if (options.backward) {
    Result<transforms::AdjointModule> adjoint = transforms::make_adjoint(*source.module, prepared.kernel());
    if (adjoint.ok() && target == backends::SourceTarget::kWarpPython) adjoint = as_warp_returns(adjoint.take());
    if (!adjoint.ok()) {
      prepared.adjoint_rejection = adjoint.error();
    } else if (!adjoint.value().gradient_parameters.empty()) {
      prepared.adjoint = adjoint.take();
    }
  }
  prepared.stage_times.adjoint_ms = milliseconds_since(start);

  start = std::chrono::steady_clock::now();
  Result<backends::EmittedKernel> emitted = printed_for(prepared, printer, target);
  prepared.stage_times.emit_ms = milliseconds_since(start);
  if (!emitted.ok()) {
    stop(prepared, Outcome::unsupported, "printer", emitted.error().text());
    return prepared;
  }
  prepared.emitted_kernel = emitted.take();
  prepared.promoted = std::make_shared<const ir::Module>(ir::promoted(*source.module));
  Result<reference::Oracle> oracle = reference::Oracle::make(*source.module, prepared.kernel());
  Result<reference::Oracle> promoted =
      reference::Oracle::make(*prepared.promoted, prepared.promoted->kernels[source.kernel_index]);
  if (!oracle.ok() || !promoted.ok()) {
    stop(prepared, Outcome::unsupported, "oracle", (oracle.ok() ? promoted : oracle).error().text());
    return prepared;
  }
  prepared.oracle = oracle.take();
  prepared.promoted_oracle = promoted.take();
  return prepared;
}

std::vector<backends::EmittedKernel> emit_kernels(const std::vector<KernelSource>& sources, const Printer& printer,
                                                  backends::SourceTarget target, const RunOptions& options) {
  std::vector<backends::EmittedKernel> emitted;
  for (const KernelSource& source : sources) {
    PreparedKernel prepared = prepare_kernel(source, printer, target, options);
    if (!prepared.early_result) emitted.push_back(std::move(*prepared.emitted_kernel));
  }
  return emitted;
}

void run_batch(std::span<const KernelSource> sources, backends::Device& device, const Printer& printer,
               const RunOptions& options, const TakeRecord& take) {
  std::vector<PreparedKernel> kernels;
  kernels.reserve(sources.size());
  const bool is_warp = device.target() == backends::SourceTarget::kWarpPython && device.input_error() == 0;
  for (const KernelSource& source : sources) {
    PreparedKernel& kernel = kernels.emplace_back(prepare_kernel(source, printer, device.target(), options));
    if (is_warp && !kernel.early_result) kernel.own_text_obstacle = add_own_text(source, *kernel.emitted_kernel);
  }

  std::vector<backends::EmittedKernel> emitted;
  for (const PreparedKernel& kernel : kernels) {
    if (!kernel.early_result) emitted.push_back(*kernel.emitted_kernel);
  }
  const auto start = std::chrono::steady_clock::now();
  const std::vector<backends::BuildOutcome> built = device.build(emitted, options.mode.flags);
  const double build_ms = milliseconds_since(start) / static_cast<double>(std::max<std::size_t>(emitted.size(), 1));

  Result<std::unique_ptr<backends::DeviceSession>> session = device.open({});
  CrossCheckBatch cross_check_batch(kernels, printer, options);
  std::size_t next = 0;
  for (PreparedKernel& kernel : kernels) {
    const backends::BuildOutcome* outcome = kernel.early_result ? nullptr : &built[next++];
    kernel.stage_times.build_ms = outcome == nullptr ? 0 : build_ms;
    const bool is_built = outcome != nullptr && std::holds_alternative<backends::BuiltKernel>(*outcome);
    if (!session.ok() && is_built) stop(kernel, Outcome::resource_error, "session", session.error().text());
    const std::optional<CrossCheckDevice> cross_check_device = cross_check_batch.of(kernel);
    KernelRun run(kernel, device, printer, options, cross_check_device ? &*cross_check_device : nullptr);
    for (CaseRecord& record : run.records(outcome, session.ok() ? session.value().get() : nullptr))
      take(std::move(record));
  }
}

void record_unsupported_batch(std::span<const KernelSource> sources, const backends::Device& device,
                              const RunOptions& options, const TakeRecord& take) {
  for (const KernelSource& source : sources) {
    for (const Pass pass : passes_of(source, options)) {
      CaseRecord record = blank_record(source, device, pass, options);
      const std::string reason = device.can_run().tool_or_reason;
      conclude(record, Outcome::unsupported, reason, reason);
      take(std::move(record));
    }
  }
}

}  // namespace assay::harness
