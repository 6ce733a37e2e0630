#include "harness/judge/judge.hpp"

#include <chrono>

#include <fmt/format.h>

#include "harness/judge/draw_sets.hpp"
#include "harness/judge/trial.hpp"
#include "ir/source_place.hpp"

namespace assay::harness {
namespace {

class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total), start_(std::chrono::steady_clock::now()) {}
  ~Stopwatch() {
    total_ += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& total_;
  std::chrono::steady_clock::time_point start_;
};

void note_no_inputs(PassVerdict& verdict, const NoInputs& none, const Subject& subject) {
  const char* kind = none.race ? "race" : "domain";
  (none.race ? verdict.inconclusive.race : verdict.inconclusive.domain) += 1;
  if (none.finding) {
    const ir::SourcePlace place = ir::source_place(subject.module, none.finding->loc);
    Finding finding{.line = place.loc.line, .access = none.message, .threads = {}};
    if (place.is_imported) finding.file = place.file;
    finding.threads.push_back(std::to_string(none.finding->thread));
    if (none.race) finding.threads.push_back(std::to_string(none.finding->other_thread));
    verdict.finding = std::move(finding);
  }
  const char* launch = none.race ? "# launch: (1) if it is meant for one thread" : "# launch: ...";
  verdict.fail(Outcome::inconclusive, kind,
               fmt::format("{}; say in a comment above the kernel where '{}' is defined ({}, # domain: ...)",
                           none.message, subject.kernel.name, launch));
}

Stage stage_of(const Exam& exam, const Subject& subject, const backends::BuiltKernel& kernel, const Bench& bench,
               Judgement& judgement) {
  return {.subject = subject,
          .kernel = kernel,
          .bench = bench,
          .sets = exam.sets,
          .poisoned = exam.uninitialised,
          .uses = exam.uses,
          .target = {},
          .judgement = judgement};
}

/// Both passes on the stage's target; a pass that failed on an earlier one is decided.
void judge_target(const Stage& stage, const std::vector<Drawn>& sizes) {
  const Bench& bench = stage.bench;
  const Judgement& judgement = stage.judgement;
  if (bench.forward && !judgement.forward.failed()) {
    bench.session.reset();
    judge_forward(stage);
    if (!judgement.forward.failed() && stage.takes(Lane::kNative)) judge_forward_sizes(stage, sizes);
  }
  if (bench.backward && stage.subject.adjoint != nullptr && !judgement.backward.failed()) {
    bench.session.reset();
    judge_backward(stage);
    bench.session.reset();
    if (!judgement.backward.failed() && stage.takes(Lane::kLift)) judge_consistency(stage);
    if (!judgement.backward.failed() && stage.takes(Lane::kNative)) judge_backward_sizes(stage, sizes);
  }
}

/// Both passes against the peer's.
void judge_against_peer(const Stage& stage) {
  const Bench& bench = stage.bench;
  if (bench.peer == nullptr) return;
  if (bench.forward) judge_agreement(stage, backends::Pass::kForward);
  if (bench.backward && stage.subject.adjoint != nullptr) judge_agreement(stage, backends::Pass::kBackward);
}

/// What fails otherwise than on one launch, as in comparing two, is witnessed by the first input set.
void witness_by_inputs(const Stage& stage, PassVerdict& verdict) {
  if (!verdict.failed() || verdict.witness || stage.sets.empty()) return;
  const ir::Launch& launch = stage.sets.front().launch[Lane::kNative];
  verdict.witness.emplace();
  verdict.witness->threads = launch.threads();
  for (std::size_t p = 0; p < launch.arguments.size(); ++p)
    verdict.witness->given.push_back({.name = stage.subject.kernel.variables[p].name, .content = launch.arguments[p]});
}

}  // namespace

DrawnExam draw_exam(const Subject& subject, const Bench& bench) {
  Result<InputSpace> space = InputSpace::make(subject.module, subject.kernel, subject.oracle);
  if (!space.ok()) return NoInputs{.race = false, .message = space.error().text(), .finding = {}};
  auto drawn = draw_sets(subject, space.value(), bench.policy, bench.profile, bench.seed);
  if (auto* none = std::get_if<NoInputs>(&drawn)) return std::move(*none);
  return Exam{.sets = std::get<std::vector<InputSet>>(std::move(drawn)),
              .sizes = draw_sizes(space.value(), bench),
              .uninitialised = space.value().uninitialised(),
              .uses = space.value().uses()};
}

Judgement judge(const Exam& exam, const Subject& subject, const backends::BuiltKernel& kernel, const Bench& bench) {
  Judgement judgement;
  Stage stage = stage_of(exam, subject, kernel, bench, judgement);
  {
    const Stopwatch watch(judgement.compare_ms);
    for (const std::string& target : kernel.targets.empty() ? std::vector<std::string>{""} : kernel.targets) {
      stage.target = judgement.forward.target = judgement.backward.target = target;
      judge_target(stage, exam.sizes);
      judge_against_peer(stage);
    }
    judgement.forward.target = judgement.backward.target = "";
  }
  judgement.compare_ms -= judgement.run_ms;
  witness_by_inputs(stage, judgement.forward);
  witness_by_inputs(stage, judgement.backward);
  bench.session.reset();
  return judgement;
}

Judgement judge_in_full(const DrawnExam& drawn, const Subject& subject, const backends::BuiltKernel& kernel,
                        const Bench& bench) {
  if (const auto* none = std::get_if<NoInputs>(&drawn)) {
    Judgement judgement;
    note_no_inputs(judgement.forward, *none, subject);
    note_no_inputs(judgement.backward, *none, subject);
    return judgement;
  }
  const Exam& exam = std::get<Exam>(drawn);
  Judgement judgement = judge(exam, subject, kernel, bench);
  if (bench.backward && subject.adjoint != nullptr) {
    const Stopwatch watch(judgement.reference_ms);
    const Stage stage = stage_of(exam, subject, kernel, bench, judgement);
    test_oracle(stage);
    witness_by_inputs(stage, judgement.backward);
  }
  return judgement;
}

Judgement judge(const Subject& subject, const backends::BuiltKernel& kernel, const Bench& bench) {
  double drawing_ms = 0;
  DrawnExam drawn;
  {
    const Stopwatch watch(drawing_ms);
    drawn = draw_exam(subject, bench);
  }
  Judgement judgement = judge_in_full(drawn, subject, kernel, bench);
  judgement.reference_ms += drawing_ms;
  return judgement;
}

}  // namespace assay::harness
