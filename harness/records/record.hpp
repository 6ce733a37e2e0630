// The records of a run: one RunStart, a CaseRecord for each case, one RunEnd. Each becomes one line of
// DIR/records.jsonl (schemas/record.schema.json describes the lines). Start reading at CaseRecord.
//
//   auto writer = RecordWriter::create(dir, start);      record_writer.hpp
//   CaseRecord record; record.name = ...;  writer->append(record);
//   writer->finish();
//   auto run = read_records(dir);                        record_reader.hpp
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/device/observation.hpp"
#include "harness/records/outcome.hpp"

namespace assay::harness {

/// A number without loss: the shortest decimal text that parses to the same value of the same type (or "nan", "inf",
/// "-inf"), and its bits as hex ("0x3f800000").
struct ExactNumber {
  std::string text;  ///< shortest decimal text: "1", "0.1", "nan", "-inf"
  std::string bits;  ///< bits as hex: "0x3f800000"
  friend bool operator==(const ExactNumber&, const ExactNumber&) = default;
};

ExactNumber exact(float value);
ExactNumber exact(double value);
ExactNumber exact(std::int64_t value);
ExactNumber exact(std::uint64_t value);
ExactNumber exact(bool value);
/// A 16-bit float (f16, bf16): `value` is the value of `bits`.
ExactNumber exact_16_bit(float value, std::uint16_t bits);

/// One value outside its bound.
struct Mismatch {
  std::string check_name;  ///< name of the check in records: "t0", "t1", "t2", "t3", "t5", "devices" (CheckResults)
  std::string array_name;  ///< the array's name as in the Python source; "grad_x" for a gradient
  std::vector<std::int64_t> index;   ///< index of the element, one coordinate for each dimension; empty for a scalar
  std::int64_t input_set_index = 0;  ///< number of the input set in the case, from 0
  ExactNumber expected;              ///< the oracle's value
  ExactNumber bound;                 ///< the guaranteed bound on |got - expected|
  ExactNumber got;                   ///< the device's result, in its own type
  double rho = 0.0;                  ///< |got - expected| / bound; infinite where the bound is 0
  friend bool operator==(const Mismatch&, const Mismatch&) = default;
};

/// Maximum number of mismatches that are kept for a case: the first ones and the worst.
inline constexpr std::size_t kMaxMismatches = 10;

/// Adds `mismatch` to `kept`. The first kMaxMismatches - 1 stay in order; the last element is the worst of the rest
/// (greatest rho, with NaN above all).
void keep_mismatch(std::vector<Mismatch>& kept, Mismatch mismatch);

/// The result of one check of docs/design/numerics.md.
struct CheckResult {
  std::int64_t compared_values = 0;  ///< number of values compared
  std::int64_t failed = 0;           ///< of these, the number outside their bound
  std::optional<double> rho_max;     ///< greatest rho; empty if no value was compared
  friend bool operator==(const CheckResult&, const CheckResult&) = default;
};

/// Results by check, with the names of the checks in records. A check that did not run is empty, not zero.
struct CheckResults {
  std::optional<CheckResult> oracle_self_check;   ///< "t0": the oracle agrees with itself
  std::optional<CheckResult> f64_promotion;       ///< "t1": comparison of the kernel promoted to f64 with the oracle
  std::optional<CheckResult> finite_differences;  ///< "t2": the backward pass is compared with differences
  std::optional<CheckResult> native_precision;    ///< "t3": comparison of the kernel's own types with the oracle
  std::optional<CheckResult> determinism;         ///< "t5": repeated launches give the same bits
  std::optional<CheckResult> device_agreement;    ///< "devices": comparison with the cross-check device
  friend bool operator==(const CheckResults&, const CheckResults&) = default;
};

/// Number of inconclusive checks, by cause.
struct InconclusiveCounts {
  std::int64_t uncertain_paths = 0;            ///< values whose bounds leave open which path the computation takes
  std::int64_t non_differentiable_points = 0;  ///< gradient values at non-differentiable points
  std::int64_t ill_conditioned_values = 0;     ///< passed values whose bound is too wide to be informative
  std::int64_t unbounded_values = 0;           ///< values whose bound is infinite
  std::int64_t races = 0;                      ///< 1 if the case was not judged because of a race on all inputs tried
  std::int64_t domain_errors = 0;              ///< 1 if the case was not judged because no valid inputs were found
  [[nodiscard]] std::int64_t total() const {
    return uncertain_paths + non_differentiable_points + ill_conditioned_values + unbounded_values + races +
           domain_errors;
  }
  friend bool operator==(const InconclusiveCounts&, const InconclusiveCounts&) = default;
};

/// Milliseconds of wall time in each stage, summed over the attempts; a batch's time is divided among its cases.
struct StageTimes {
  double parse_ms = 0.0;    ///< parsing
  double adjoint_ms = 0.0;  ///< differentiating
  double emit_ms = 0.0;     ///< printing the source for the device
  double build_ms = 0.0;    ///< compiling
  double oracle_ms = 0.0;   ///< evaluating the oracle
  double launch_ms = 0.0;   ///< launching on the device
  double compare_ms = 0.0;  ///< comparing results with the oracle's
  [[nodiscard]] double total() const {
    return parse_ms + adjoint_ms + emit_ms + build_ms + oracle_ms + launch_ms + compare_ms;
  }
  friend bool operator==(const StageTimes&, const StageTimes&) = default;
};

/// A member of StageTimes, with its name in records.
struct StageTimeField {
  const char* name;            ///< name of the stage in records
  double StageTimes::*member;  ///< member that holds its time
};

/// The stages in execution order, with their names in records.
inline constexpr std::array<StageTimeField, 7> kStages{{
    {"read", &StageTimes::parse_ms},
    {"adjoint", &StageTimes::adjoint_ms},
    {"emit", &StageTimes::emit_ms},
    {"build", &StageTimes::build_ms},
    {"reference", &StageTimes::oracle_ms},
    {"run", &StageTimes::launch_ms},
    {"compare", &StageTimes::compare_ms},
}};

/// Which job judged a case, and when. Points in time are milliseconds since the start of the run; they vary between
/// runs.
struct JudgingTimes {
  int job_index = 0;            ///< number of the concurrent job that judged the case, from 0
  double batch_start_ms = 0.0;  ///< point in time at which the job started the batch with the kernel
  double decided_at_ms = 0.0;   ///< point in time at which the case was decided
  friend bool operator==(const JudgingTimes&, const JudgingTimes&) = default;
};

/// The negative control that the comparator came closest to accepting.
struct ClosestNegativeControl {
  std::string array_name;    ///< name of the array that the control replaces
  std::string control_name;  ///< name of the control: "the doubled result"
  double rho = 0.0;          ///< greatest |control - expected| / bound over the array
  friend bool operator==(const ClosestNegativeControl&, const ClosestNegativeControl&) = default;
};

/// Whether the results of a kernel are within a tolerance. For information only; does not affect the outcome.
struct ToleranceComparison {
  double tolerance = 0.0;           ///< absolute and relative tolerance: |got - expected| <= t + t * |expected|
  std::int64_t input_sets = 0;      ///< number of input sets compared
  bool accepts_all_results = true;  ///< whether all results were within the tolerance
  friend bool operator==(const ToleranceComparison&, const ToleranceComparison&) = default;
};

/// Finite differences of the generated forward pass over decreasing steps, for comparison with the generated gradient:
/// the estimates converge on a plateau. Belongs to the input set on which finite_differences used most of its
/// tolerance.
struct FiniteDifferenceSeries {
  /// The finite difference for one step.
  struct Estimate {
    double step = 0.0;   ///< distance of the two points from the input, along the direction
    double value = 0.0;  ///< central difference over `step`
    friend bool operator==(const Estimate&, const Estimate&) = default;
  };
  std::int64_t input_set_index = 0;  ///< number of the input set, from 0
  double gradient = 0.0;             ///< directional derivative according to the generated gradient
  double tolerance = 0.0;            ///< tolerated difference between the extrapolated estimate and the gradient
  std::vector<Estimate> estimates;   ///< the differences, in order of decreasing step
  friend bool operator==(const FiniteDifferenceSeries&, const FiniteDifferenceSeries&) = default;
};

/// Number of bins of a RhoHistogram: one for each tenth of the bound, and a last one for values outside the bound.
inline constexpr std::size_t kRhoBinCount = 11;
using RhoHistogram = std::array<std::int64_t, kRhoBinCount>;

/// Location of the kernel in the user's file or in generated source text.
struct KernelLocation {
  std::string file;       ///< the user's file; for a random kernel a name such as "loop/r1_42.py"
  std::int64_t line = 0;  ///< line number, from 1; 0 if unknown
  friend bool operator==(const KernelLocation&, const KernelLocation&) = default;
};

/// The result of one build of a failing kernel.
struct ExaminedBuild {
  std::string device;  ///< name of the device that judged the build
  std::string build;   ///< compiler, target and kind of the build: "NVRTC 13.0.88, compute_100, unoptimized"
  std::string result;  ///< outcome and kind: "pass", "fail(mismatch)"
  friend bool operator==(const ExaminedBuild&, const ExaminedBuild&) = default;
};

/// Where a failure comes from, and the evidence.
struct FailureOrigin {
  /// "kernel", "emitter", "compiler(NVRTC 13.0.88 compute_100)", "interpreter", "oracle" or "undetermined".
  std::string responsible_component;
  std::string reason;                          ///< which results show this
  std::vector<ExaminedBuild> examined_builds;  ///< results of the builds that were compared
  friend bool operator==(const FailureOrigin&, const FailureOrigin&) = default;
};

/// The source texts of a kernel, for reports. Kept for each case that did not pass, and for the first passing case of a
/// small kernel. A text that no stage produced is empty.
struct SourceTexts {
  std::string python;           ///< the kernel in Python
  std::string cpp;              ///< emitted C++
  std::string cuda;             ///< emitted CUDA C++
  std::string ir;               ///< text form of the IR
  std::string compile_command;  ///< command that compiles the emitted source
  friend bool operator==(const SourceTexts&, const SourceTexts&) = default;
};

/// A defect that the oracle found in the user's kernel: an access outside an array, a read of an uninitialized element,
/// a race.
struct DefectRecord {
  std::int64_t line = 0;             ///< line in `source.file`, or in `file` if that is not empty
  std::string faulty_access;         ///< the faulty access: "load x[17], length 16"
  std::vector<std::string> threads;  ///< thread indices: "(3)", "(4)" for a race; else one thread, or empty
  std::string file = {};             ///< file that the kernel's file imports from; empty: the kernel's file
  friend bool operator==(const DefectRecord&, const DefectRecord&) = default;
};

/// Maximum number of a device's findings that are kept for a case: the first ones of different instructions.
inline constexpr std::size_t kMaxMemoryFindings = 10;

/// A branch of the kernel that no judged input covers. Its code is not verified.
struct UncoveredBranch {
  std::int64_t line = 0;    ///< line in `source.file`, or in `file` if that is not empty
  std::string description;  ///< what no input did: "the condition is never true"
  std::string file = {};    ///< file that the kernel's file imports from; empty: the kernel's file
  friend bool operator==(const UncoveredBranch&, const UncoveredBranch&) = default;
};

/// Something that Assay assumed about the inputs of a kernel, because otherwise the kernel is not well defined. Other
/// inputs are not verified.
struct Assumption {
  std::string description;     ///< "the elements of 'idx' are a permutation of its indices"
  std::string domain_comment;  ///< the comment that states it: "# domain: idx is a permutation"; empty if there is none
  friend bool operator==(const Assumption&, const Assumption&) = default;
};

/// Which text of the kernel Warp generated the judged code from, in the kernel's own types.
struct JudgedText {
  bool is_own = false;   ///< whether it is the user's own text, not one that Assay printed
  std::string obstacle;  ///< why it is not the user's own text; empty if it is
  friend bool operator==(const JudgedText&, const JudgedText&) = default;
};

/// One case of the run: one line of the records. Family, kernel, types, device, pass and mode repeat the components of
/// the name.
struct CaseRecord {
  std::string name;             ///< `case` in the line: family/kernel/types/device/pass[/mode], unique in the run
  std::string family;           ///< family of the kernel: "loop", or "user"
  std::string kernel;           ///< name of the kernel in its family
  std::string parameter_types;  ///< scalar types of the parameters: "f32"
  std::string device;           ///< name of the device: "cpu", "cuda", "ptx"
  std::string pass;             ///< "forward" or "backward"
  std::string mode;             ///< numeric mode: "strict", "default", "fast"; empty if the name has none

  Outcome outcome = Outcome::not_run;  ///< outcome of the case
  std::string outcome_detail;  ///< the word in parentheses after the outcome: "mismatch", "domain", "no CUDA driver"
  std::string message;         ///< one line: what is wrong, where, and what to do

  std::optional<double> rho_max;            ///< greatest rho; empty if no value was compared
  std::int64_t values_compared = 0;         ///< number of scalars compared with the oracle
  std::int64_t input_sets = 0;              ///< number of input sets that were compared
  std::vector<std::int64_t> thread_counts;  ///< thread counts of the launches that completed, ascending
  /// Number of negative controls that the comparator rejected, over all outputs.
  std::int64_t rejected_negative_controls = 0;
  InconclusiveCounts inconclusive;  ///< checks without a verdict, by cause
  CheckResults check_results;       ///< results of the named checks
  RhoHistogram rho_histogram{};     ///< histogram of rho over the compared values; all 0 if there are none
  /// Empty if no negative control was rejected.
  std::optional<ClosestNegativeControl> closest_negative_control;
  /// Empty if the check finite_differences did not run.
  std::optional<FiniteDifferenceSeries> finite_difference_series;
  std::vector<ToleranceComparison> tolerance_comparisons;  ///< one for each tolerance; empty if none was made

  std::vector<Outcome> attempt_outcomes;      ///< the outcome of each attempt, in order; retries never remove one
  StageTimes stage_times;                     ///< time of each stage
  std::optional<JudgingTimes> judging_times;  ///< where and when the case was judged; empty if unknown
  /// Whether the verdict is that of an earlier run of the same program. This run then only parsed the kernel.
  bool is_cached = false;
  KernelLocation source;          ///< where the kernel is defined
  std::string selector;           ///< selects the kernel on the command line; empty if unknown
  std::string reproduce_command;  ///< a command that judges only this case

  std::optional<JudgedText> judged_text;                 ///< on devices that run Warp's code, if it was built
  std::vector<Mismatch> mismatches;                      ///< values outside their bound, at most kMaxMismatches
  std::optional<DefectRecord> finding;                   ///< defect of the kernel; empty if none was found
  std::optional<FailureOrigin> failure_origin;           ///< origin of the failure; empty if it was not examined
  std::vector<UncoveredBranch> uncovered_branches;       ///< branches that no input covers
  std::vector<Assumption> assumptions;                   ///< what Assay assumed about the inputs
  std::vector<backends::MemoryFinding> memory_findings;  ///< findings of the device, at most kMaxMemoryFindings
  /// Profiles of one launch, one for each build target; empty if none was observed.
  std::vector<backends::ExecutionProfile> profiles;
  std::vector<backends::Measurement> measurements;  ///< timings of the pass; empty if the run does not measure
  std::string log;                                  ///< last part of the compiler's or the worker's stderr
  std::optional<SourceTexts> source_texts;          ///< source texts; empty if they are not kept

  friend bool operator==(const CaseRecord&, const CaseRecord&) = default;
};

/// A record of the case `name` with the components of its name filled in and outcome not_run. Components that the name
/// lacks stay empty.
CaseRecord record_of(const std::string& name);

/// Whether a device can be used on this machine, and if not, why.
struct DeviceStatus {
  std::string name;           ///< "cpu", "cuda", "ptx"
  bool is_available = false;  ///< whether the device can be used
  std::string reason;         ///< why it cannot be used: "no CUDA driver"; empty if available
  std::string description;    ///< the hardware: "NVIDIA H200, compute capability 9.0, driver 570.86"
  std::string toolkit;        ///< compiler of its kernels: "NVRTC 12.8", "g++ 12.2.0"
  std::string confinement;    ///< how generated code is confined: "system calls are filtered; ..."; empty if unknown
  friend bool operator==(const DeviceStatus&, const DeviceStatus&) = default;
};

/// The machine and the software of a run.
struct RunEnvironment {
  std::string os_name;                   ///< operating system and its version
  std::string cpu_model;                 ///< model of the processor
  std::string compiler;                  ///< C++ compiler of the device cpu
  std::string nvrtc;                     ///< version of NVRTC, or "none"
  std::vector<DeviceStatus> devices;     ///< every device, whether it can be used or not
  std::string commit_hash;               ///< commit of Assay; "unknown" for a build outside of version control
  bool has_uncommitted_changes = false;  ///< whether the checkout had uncommitted changes
  friend bool operator==(const RunEnvironment&, const RunEnvironment&) = default;
};

/// An expected failure: one line of an expectations file (read_expectations). A case that matches `pattern` may have
/// this `outcome`, `kind` and `message`, and no other failure, until the expectation expires.
struct ExpectedFailure {
  std::string location;     ///< file and line of the expectation: "waivers.csv:3"
  std::string pattern;      ///< case names; each component is a glob, and omitted components match everything
  std::string outcome;      ///< the expected outcome
  std::string kind;         ///< the expected kind; empty: any
  std::string message;      ///< the expected message; * matches any text
  std::string compiler;     ///< patterns for the compiler, separated by |: "NVRTC 13.0*|NVRTC 13.1*"; empty: any
  std::string reason;       ///< why the failure is expected
  std::string issue_id;     ///< issue that tracks the failure: "#17"; empty if there is none
  std::string since_date;   ///< date of the expectation: "2026-11-21"; empty if unknown
  std::string expiry_date;  ///< last day on which the expectation is valid; empty: it never expires
  friend bool operator==(const ExpectedFailure&, const ExpectedFailure&) = default;
};

/// The part of a selection that a run judges: every `shard_count`-th kernel, beginning with number `index`, from 1. {1,
/// 1} is the whole selection.
struct Shard {
  int index = 1;        ///< number of the part, from 1
  int shard_count = 1;  ///< number of parts
  friend bool operator==(const Shard&, const Shard&) = default;
};

/// The first line of the records: what the run judges, and how.
struct RunStart {
  std::string schema_version;                   ///< version of the schema of the records; set by the writer
  std::string run_id;                           ///< unique name of the run; see make_run_id
  std::string start_time;                       ///< start time in UTC: "2026-11-21T03:47:02Z"
  std::vector<std::string> command_line;        ///< the command line as given, one element for each word
  std::uint64_t seed = 0;                       ///< seed of the inputs
  RunEnvironment environment;                   ///< the machine and the software
  std::string inputs_hash;                      ///< hash of everything that determines the records; empty if unknown
  Shard shard;                                  ///< the part of the selection that the run judges
  std::vector<ExpectedFailure> expectations;    ///< expected failures, in the order of their file
  std::vector<std::string> planned_case_names;  ///< the name of every planned case, in the order of the plan
  friend bool operator==(const RunStart&, const RunStart&) = default;
};

/// The last line of the records. A run without it did not finish.
struct RunEnd {
  std::string end_time;                           ///< end time in UTC, like RunStart::start_time
  OutcomeCounts counts;                           ///< planned cases by outcome; a case without a line counts as not_run
  ExitStatus exit_status = ExitStatus::internal;  ///< exit status of the run
  double wall_time_seconds = 0.0;                 ///< wall time of the run in seconds
  friend bool operator==(const RunEnd&, const RunEnd&) = default;
};

/// The current time, as "2026-11-21T03:47:02Z".
std::string utc_now();

/// Seconds since 1970 of a time in this format; 0 for any other text.
double epoch_seconds(const std::string& utc);

/// The time and eight random hex digits: unique among runs, sortable by name.
std::string make_run_id();

}  // namespace assay::harness
