// What a run leaves behind, as values: one RunStart, a CaseRecord for each case, one RunEnd. Each becomes one line of
// DIR/records.jsonl (schemas/record.schema.json describes the lines); start reading at CaseRecord.
//
//   auto writer = RecordWriter::create(dir, start);      record_writer.hpp
//   CaseRecord record; record.name = ...;  writer->append(record);
//   writer->finish(end);
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

// A number as it was, lossless both for people and for machines: the shortest decimal text that reads back to the same
// value of the same type ("nan", "inf", "-inf" where there is none), and its bits as hex ("0x3f800000").
struct ExactNumber {
  std::string text;
  std::string bits;
  friend bool operator==(const ExactNumber&, const ExactNumber&) = default;
};

ExactNumber exact(float value);
ExactNumber exact(double value);
ExactNumber exact(std::int64_t value);
ExactNumber exact(std::uint64_t value);
ExactNumber exact(bool value);
// A value held in 16 bits (f16, bf16): `value` is what `bits` stand for.
ExactNumber exact16(float value, std::uint16_t bits);

// One value that broke its bound.
struct Mismatch {
  std::string tier;                 // "t0", "t1", "t2", "t3", "t5", "devices"
  std::string array;                // the array's name as in the Python source; "grad_x" for a gradient
  std::vector<std::int64_t> index;  // one coordinate for each dimension; empty for a scalar
  std::int64_t input_set = 0;       // which of the case's input sets, from 0
  ExactNumber expected;             // the oracle's value
  ExactNumber bound;                // the proved bound on |got - expected|
  ExactNumber got;                  // what the device computed, in its own type
  double rho = 0.0;                 // |got - expected| / bound; infinite where the bound is 0
  friend bool operator==(const Mismatch&, const Mismatch&) = default;
};

// At most so many mismatches are kept for a case: the first ones and the worst.
inline constexpr std::size_t kMaxMismatches = 10;

// Put `mismatch` among `kept`: the first kMaxMismatches - 1 stay in the order of their finding, the last place is for
// the worst (greatest rho, not-a-number above all) of the rest.
void keep_mismatch(std::vector<Mismatch>& kept, Mismatch mismatch);

// What one tier of docs/design/numerics.md checked.
struct TierResult {
  std::int64_t checks = 0;        // values compared
  std::int64_t failed = 0;        // of these, how many broke their bound
  std::optional<double> rho_max;  // greatest rho; nothing where no value was compared
  friend bool operator==(const TierResult&, const TierResult&) = default;
};

// A tier that did not run is absent, never zero.
struct TierResults {
  std::optional<TierResult> t0;
  std::optional<TierResult> t1;
  std::optional<TierResult> t2;
  std::optional<TierResult> t3;
  std::optional<TierResult> t5;
  std::optional<TierResult> devices;  // against another device
  friend bool operator==(const TierResults&, const TierResults&) = default;
};

// Checks without a verdict, by the cause of the doubt.
struct InconclusiveCounts {
  std::int64_t path = 0;
  std::int64_t kink = 0;
  std::int64_t conditioning = 0;
  std::int64_t overflow = 0;
  std::int64_t race = 0;
  std::int64_t domain = 0;
  [[nodiscard]] std::int64_t total() const { return path + kink + conditioning + overflow + race + domain; }
  friend bool operator==(const InconclusiveCounts&, const InconclusiveCounts&) = default;
};

// Milliseconds of wall time in each stage, summed over the attempts; a batch's time is shared out among its cases.
struct StageTimes {
  double read = 0.0;
  double adjoint = 0.0;
  double emit = 0.0;
  double build = 0.0;
  double reference = 0.0;
  double run = 0.0;
  double compare = 0.0;
  [[nodiscard]] double total() const { return read + adjoint + emit + build + reference + run + compare; }
  friend bool operator==(const StageTimes&, const StageTimes&) = default;
};

struct StageRow {
  const char* name;
  double StageTimes::*member;
};

// The stages in the order of the flow, by their names in records.
inline constexpr std::array<StageRow, 7> kStages{{
    {"read", &StageTimes::read},
    {"adjoint", &StageTimes::adjoint},
    {"emit", &StageTimes::emit},
    {"build", &StageTimes::build},
    {"reference", &StageTimes::reference},
    {"run", &StageTimes::run},
    {"compare", &StageTimes::compare},
}};

// Where and when a case was judged. Times are milliseconds from the run's start; they differ from run to run.
struct Schedule {
  int job = 0;            // which of the run's jobs, from 0
  double batch_ms = 0.0;  // when the job began with the batch of kernels that were built with this one
  double done_ms = 0.0;   // when the case was done
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

// The negative control that the comparator was nearest to accepting.
struct ClosestControl {
  std::string array;
  std::string control;  // "the doubled result"
  double rho = 0.0;     // its greatest |control - expected| / bound
  friend bool operator==(const ClosestControl&, const ClosestControl&) = default;
};

// Finite differences of the generated forward over ever shorter steps, beside what the generated gradient says: where
// the estimates stand still is the plateau. Of the input set on which T2 used up most of what is allowed.
struct Plateau {
  struct Estimate {
    double step = 0.0;
    double value = 0.0;  // the central difference over it
    friend bool operator==(const Estimate&, const Estimate&) = default;
  };
  std::int64_t input_set = 0;
  double gradient = 0.0;  // along the same direction
  double allowed = 0.0;   // by how much the extrapolated estimates may differ from it
  std::vector<Estimate> estimates;
  friend bool operator==(const Plateau&, const Plateau&) = default;
};

// Values by the share of their bound that was used: a count for each tenth, the last one for those beyond the bound.
inline constexpr std::size_t kRhoBins = 11;
using RhoHistogram = std::array<std::int64_t, kRhoBins>;

// Where the kernel stands in the user's file, or in the text that a generator wrote.
struct SourceLocation {
  std::string file;
  std::int64_t line = 0;  // from 1; 0 where unknown
  friend bool operator==(const SourceLocation&, const SourceLocation&) = default;
};

// The texts of a kernel, for a reader of the report. Kept for each case that did not pass, and for the first passing
// case of a kernel where small; empty text where a stage made none.
struct Artifact {
  std::string python;
  std::string cpp;
  std::string cuda;
  std::string ir;
  std::string compile_command;
  friend bool operator==(const Artifact&, const Artifact&) = default;
};

// Something that the oracle found about the user's kernel: an access outside an array, a read of an unwritten cell, a
// race.
struct Finding {
  std::int64_t line = 0;             // in `source.file`, or in `file` if that is not empty
  std::string access;                // "load x[17], length 16"
  std::vector<std::string> threads;  // "(3)", "(4)" for a race; else the one thread, or empty
  std::string file = {};             // one that the kernel's own imports from; empty: the kernel's own
  friend bool operator==(const Finding&, const Finding&) = default;
};

// At most so many of a device's findings are kept for a case: the first ones, of different instructions.
inline constexpr std::size_t kMaxFaults = 10;

// A way that no judged input took at one of the kernel's choices: what lies there is not proved.
struct Uncovered {
  std::int64_t line = 0;  // in `source.file`, or in `file` if that is not empty
  std::string what;       // "the condition is never true"
  std::string file = {};  // one that the kernel's own imports from; empty: the kernel's own
  friend bool operator==(const Uncovered&, const Uncovered&) = default;
};

// One case of the run: one line. Name, family, kernel, types, device, pass and mode repeat the parts of the name.
struct CaseRecord {
  std::string name;  // `case` in the line: family/kernel/types/device/pass[/mode], unique in the run
  std::string family;
  std::string kernel;
  std::string types;   // "f32"
  std::string device;  // "cpu", "cuda", "ptx"
  std::string pass;    // "forward", "backward"
  std::string mode;    // "strict", "default", "fast"; empty where the name has none

  Outcome outcome = Outcome::not_run;
  std::string kind;     // the word in parentheses after the outcome: "mismatch", "domain", "no CUDA driver"
  std::string message;  // one line for a person: what was found, what was expected, where, what to do

  std::optional<double> rho_max;
  std::int64_t values_compared = 0;
  std::int64_t input_sets = 0;
  std::vector<std::int64_t> sizes;     // threads of the launches that completed, ascending
  std::int64_t controls_rejected = 0;  // negative controls that the comparator refused, over all outputs
  InconclusiveCounts inconclusive;
  TierResults tiers;
  RhoHistogram rho_histogram{};  // of the values compared; all 0 where none was
  std::optional<ClosestControl> closest_control;
  std::optional<Plateau> plateau;

  std::vector<Outcome> attempts;  // the outcome of each attempt in order; a retry never erases
  StageTimes time_ms;
  std::optional<Schedule> schedule;
  bool cached = false;  // an earlier run of the same program found this out; nothing but reading was done in this one
  SourceLocation source;
  std::string selector;   // what the command line calls the kernel; empty where unknown
  std::string reproduce;  // one command that makes this case alone again

  std::vector<Mismatch> failures;  // at most kMaxMismatches
  std::optional<Finding> finding;
  std::vector<Uncovered> uncovered;
  std::vector<backends::MemoryFinding> faults;       // what the device found, at most kMaxFaults
  std::vector<backends::ExecutionProfile> profiles;  // one for each target, of one launch; empty where none is observed
  std::vector<backends::Measurement> measurements;   // of a run that measures: how fast the pass ran
  std::string log;                                   // end of the compiler's or the worker's stderr
  std::optional<Artifact> artifact;

  friend bool operator==(const CaseRecord&, const CaseRecord&) = default;
};

// A record of the case `name` with the parts of its name filled in; outcome not_run. A name of another form leaves the
// parts that it lacks empty.
CaseRecord record_of(const std::string& name);

// Whether a device can be used on this machine, and if not, why.
struct DeviceStatus {
  std::string name;  // "cpu", "cuda", "ptx"
  bool available = false;
  std::string reason;       // "no CUDA driver"; empty where available
  std::string description;  // "NVIDIA H200, compute capability 9.0, driver 570.86"
  std::string toolkit;      // "NVRTC 12.8", "g++ 12.2.0"
  std::string confinement;  // what generated code is held by: "system calls are filtered; ..."; empty where unknown
  friend bool operator==(const DeviceStatus&, const DeviceStatus&) = default;
};

struct Environment {
  std::string os;
  std::string cpu;
  std::string compiler;
  std::string nvrtc;  // version, or "none"
  std::vector<DeviceStatus> devices;
  std::string commit;  // of Assay; "unknown" for a build outside of version control
  bool dirty = false;  // the checkout had changes of its own
  friend bool operator==(const Environment&, const Environment&) = default;
};

// A failure that is known: one line of an expectations file (expectation_file.hpp). A case that `pattern` names may end
// in `outcome` with a message that fits, and only so, up to the day of its expiry.
struct Expectation {
  std::string place;    // "waivers.csv:3"
  std::string pattern;  // over names of cases, each part a glob; parts that are left out fit everything
  std::string outcome;
  std::string kind;     // empty: any
  std::string message;  // * stands for any text
  std::string reason;
  std::string issue;
  std::string since;    // "2026-11-21"; empty where unknown
  std::string expires;  // the last day on which it holds; empty: never
  friend bool operator==(const Expectation&, const Expectation&) = default;
};

// Which part of a selection a run judges: every `of`-th kernel, the first one `index`, from 1. {1, 1} is all of it.
struct Shard {
  int index = 1;
  int of = 1;
  friend bool operator==(const Shard&, const Shard&) = default;
};

// The first line.
struct RunStart {
  std::string schema_version;             // the writer fills in the version of the schema that it writes
  std::string run_id;                     // unique: see make_run_id
  std::string started;                    // UTC, "2026-11-21T03:47:02Z"
  std::vector<std::string> command_line;  // the words as given
  std::uint64_t seed = 0;
  Environment environment;
  std::string inputs;  // hash of all that decides the records; empty where unknown
  Shard shard;
  std::vector<Expectation> expectations;
  std::vector<std::string> plan;  // the name of every planned case, in the order of the plan
  friend bool operator==(const RunStart&, const RunStart&) = default;
};

// The last line; a run without one did not finish.
struct RunEnd {
  std::string finished;  // UTC
  OutcomeCounts counts;  // over the plan, a case without a line counted as not_run
  ExitStatus exit_status = ExitStatus::internal;
  double wall_time_s = 0.0;
  friend bool operator==(const RunEnd&, const RunEnd&) = default;
};

// "2026-11-21T03:47:02Z" for now.
std::string utc_now();

// Seconds since 1970 of such a text; 0 of any other.
double epoch_s(const std::string& utc);

// The time and eight random hex digits: unique among runs, sortable by name.
std::string make_run_id();

}  // namespace assay::harness
