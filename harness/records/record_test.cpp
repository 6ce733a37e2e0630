#include "harness/records/record.hpp"

#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/records/record_json.hpp"
#include "schemas/embedded.hpp"
#include "schemas/validator.hpp"

namespace assay::harness {
namespace {

using nlohmann::json;

constexpr double kInf = std::numeric_limits<double>::infinity();

// A record with every member set to something that is not its default.
CaseRecord full_record() {
  CaseRecord record{
      .name = "loop/product/f32/cpu/backward/strict",
      .family = "loop",
      .kernel = "product",
      .parameter_types = "f32",
      .device = "cpu",
      .pass = "backward",
      .mode = "strict",
      .outcome = Outcome::fail,
      .outcome_detail = "mismatch",
      .message = "grad_x[3] is 0.5, expected 1.25",
      .rho_max = kInf,
      .values_compared = 640,
      .input_sets = 10,
      .thread_counts = {0, 7, 65537},
      .rejected_negative_controls = 7,
      .inconclusive = {.uncertain_paths = 1,
                       .non_differentiable_points = 2,
                       .ill_conditioned_values = 3,
                       .unbounded_values = 4,
                       .races = 5,
                       .domain_errors = 6},
      .rho_histogram = {600, 20, 5, 2, 1, 0, 0, 0, 0, 0, 12},
      .closest_negative_control =
          ClosestNegativeControl{.array_name = "grad_x", .control_name = "the doubled result", .rho = kInf},
      .finite_difference_series =
          FiniteDifferenceSeries{
              .input_set_index = 3, .gradient = 1.5, .tolerance = 1e-6, .estimates = {{0.015625, 1.5001}}},
      .tolerance_comparisons = {{.tolerance = 0.01, .input_sets = 5, .accepts_all_results = true},
                                {.tolerance = 0.0001, .input_sets = 5, .accepts_all_results = false}},
      .attempt_outcomes = {Outcome::crashed, Outcome::fail},
      .stage_times = {.parse_ms = 1,
                      .adjoint_ms = 2,
                      .emit_ms = 3,
                      .build_ms = 4.125,
                      .oracle_ms = 5,
                      .launch_ms = 6,
                      .compare_ms = 7},
      .judging_times = JudgingTimes{.job_index = 2, .batch_start_ms = 12.5, .decided_at_ms = 380.25},
      .source = {.file = "loop.py", .line = 12},
      .reproduce_command = "assay run loop/product/f32/cpu/backward/strict --seed 7",
      .judged_text = JudgedText{.is_own = false, .obstacle = "the kernel uses names from other files"},
      .finding =
          DefectRecord{.line = 9, .faulty_access = "store out[3]", .threads = {"(3)", "(4)"}, .file = "types.py"},
      .failure_origin =
          FailureOrigin{
              .responsible_component = "compiler(NVRTC 13.0.88 compute_100)",
              .reason = "without optimizations, the same source passes",
              .examined_builds = {{.device = "ptx", .build = "NVRTC 13.0.88 compute_100", .result = "fail(mismatch)"}}},
      .log = "warning",
      .source_texts = SourceTexts{.python = "p", .cpp = "c", .cuda = "u", .ir = "i", .compile_command = "g++"}};
  record.uncovered_branches = {{.line = 4, .description = "the condition is never true"},
                               {.line = 5, .description = "the loop never runs", .file = "types.py"}};
  record.assumptions = {{.description = "the elements of 'idx' are a permutation of its indices",
                         .domain_comment = "# domain: idx is a permutation"},
                        {.description = "dimension 1 of the launch has the extent 1", .domain_comment = ""}};
  record.check_results.f64_promotion = CheckResult{.compared_values = 640, .failed = 12, .rho_max = kInf};
  record.check_results.determinism = CheckResult{.compared_values = 0, .failed = 0, .rho_max = std::nullopt};
  backends::MemoryFinding fault{
      .kind = "read_write_race",
      .kernel = "product_backward",
      .target = "compute_75",
      .site = {57, 31, "st.global.f32 [%rd4], %f2", {4, 0, 0}, {1, 2, 3}},
      .conflicting_access = backends::AccessSite{52, 30, "ld.global.f32", {3, 0, 0}, {0, 0, 1}},
      .state_space = "global",
      .address = "0x48000000080",
      .allocation_name = "grad_x",
      .offset = -4,
      .allocation_bytes = 132,
      .access_bytes = 4,
      .count = 3,
      .text = "read_write_race in product_backward"};
  record.memory_findings.push_back(fault);
  record.profiles.push_back({.target = "compute_75",
                             .threads = 13,
                             .exactness = {377, 13, 5, 2, true},
                             .measures = {{"lane_efficiency", 0.40625}, {"thread_instructions", 397}}});
  record.measurements.push_back({.target = "sm_90",
                                 .threads = 16777216,
                                 .measures = {{"time_ns", 51200.5}, {"registers", 24}},
                                 .remark = "no hardware counters"});
  record.mismatches.push_back({.check_name = "t1",
                               .array_name = "grad_x",
                               .index = {3, 0},
                               .input_set_index = 4,
                               .expected = exact(1.25),
                               .bound = exact(0.0),
                               .got = exact(0.5F),
                               .rho = kInf});
  return record;
}

std::string first_diagnostic(const std::string& line) {
  const auto diagnostics = schemas::Validator(schemas::kRecordSchemaText).diagnostics(json::parse(line));
  return diagnostics.empty() ? "" : diagnostics.front().text();
}

TEST(ExactNumber, ContainsShortestDecimalTextAndBitPattern) {
  EXPECT_EQ(exact(0.1F), (ExactNumber{"0.1", "0x3dcccccd"}));
  EXPECT_EQ(exact(0.1), (ExactNumber{"0.1", "0x3fb999999999999a"}));
  EXPECT_EQ(exact(-0.0F), (ExactNumber{"-0", "0x80000000"}));
  EXPECT_EQ(exact(std::numeric_limits<float>::denorm_min()), (ExactNumber{"1e-45", "0x00000001"}));
  EXPECT_EQ(exact(-kInf), (ExactNumber{"-inf", "0xfff0000000000000"}));
  EXPECT_EQ(exact(std::numeric_limits<double>::quiet_NaN()).text, "nan");
  EXPECT_EQ(exact(std::int64_t{-1}), (ExactNumber{"-1", "0xffffffffffffffff"}));
  EXPECT_EQ(exact(std::uint64_t{7}), (ExactNumber{"7", "0x0000000000000007"}));
  EXPECT_EQ(exact_16_bit(1.5F, 0x3e00), (ExactNumber{"1.5", "0x3e00"}));
}

TEST(RecordedMismatches, IncludeTheFirstAndTheLargestMismatch) {
  std::vector<Mismatch> kept;
  for (const double rho : {9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.5, 1.2, 50.0, 1.1}) {
    keep_mismatch(kept, {.array_name = "x", .rho = rho});
  }
  ASSERT_EQ(kept.size(), kMaxMismatches);
  EXPECT_EQ(kept.front().rho, 9.0);
  EXPECT_EQ(kept[8].rho, 1.5);
  EXPECT_EQ(kept.back().rho, 50.0);
  keep_mismatch(kept, {.array_name = "x", .rho = std::numeric_limits<double>::quiet_NaN()});
  keep_mismatch(kept, {.array_name = "x", .rho = kInf});
  EXPECT_NE(kept.back().rho, kept.back().rho) << "NaN is the worst";
}

TEST(RecordJson, RecordWithAllMembersRoundTripsThroughJson) {
  const CaseRecord record = full_record();
  const std::string line = to_line(record);
  EXPECT_EQ(first_diagnostic(line), "");
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(case_from(json::parse(line)), record);
}

TEST(RecordJson, OmitsUnsetMembers) {
  CaseRecord record = full_record();
  record.mismatches.clear();
  record.finding.reset();
  record.failure_origin.reset();
  record.thread_counts.clear();
  record.memory_findings.clear();
  record.profiles.clear();
  record.measurements.clear();
  record.source_texts.reset();
  record.log.clear();
  record.rho_max.reset();
  record.rho_histogram = {};
  record.closest_negative_control.reset();
  record.finite_difference_series.reset();
  record.tolerance_comparisons.clear();
  record.judging_times.reset();
  const json line = json::parse(to_line(record));
  EXPECT_EQ(first_diagnostic(line.dump()), "");
  for (const char* name : {"failures", "finding", "blame", "sizes", "faults", "profiles", "measurements", "artifact",
                           "log", "rho_histogram", "closest_control", "plateau", "schedule", "tolerances"})
    EXPECT_FALSE(line.contains(name)) << name;
  EXPECT_TRUE(line.at("rho_max").is_null());
  EXPECT_EQ(case_from(line), record);
}

TEST(RecordJson, ReplacesInvalidUtf8) {
  CaseRecord record = full_record();
  record.log = "bad \xff byte\n\"quoted\" \x01";
  EXPECT_EQ(first_diagnostic(to_line(record)), "");
  EXPECT_EQ(case_from(json::parse(to_line(record))).log, "bad \xef\xbf\xbd byte\n\"quoted\" \x01");
}

TEST(RecordJson, RunStartAndRunEndRoundTripThroughJson) {
  const RunStart start{.schema_version = "1.0.0",
                       .run_id = make_run_id(),
                       .start_time = utc_now(),
                       .command_line = {"assay", "run", "loop"},
                       .seed = 0xfedcba9876543210,
                       .environment = {.os_name = "Debian",
                                       .cpu_model = "EPYC",
                                       .compiler = "g++ 12",
                                       .nvrtc = "none",
                                       .devices = {{.name = "cuda", .reason = "no CUDA driver"}},
                                       .commit_hash = "unknown",
                                       .has_uncommitted_changes = true},
                       .planned_case_names = {"loop/product/f32/cpu/forward"}};
  EXPECT_EQ(first_diagnostic(to_line(start)), "");
  EXPECT_EQ(run_start_from(json::parse(to_line(start))), start);

  RunEnd end{.end_time = utc_now(), .exit_status = ExitStatus::all_unsupported, .wall_time_seconds = 1.5};
  end.counts.add(Outcome::unsupported, 12);
  EXPECT_EQ(first_diagnostic(to_line(end)), "");
  EXPECT_EQ(run_end_from(json::parse(to_line(end))), end);
}

TEST(CaseRecordMembers, AreTakenFromCaseName) {
  const CaseRecord record = record_of("loop/product/f32/cpu/backward/strict");
  EXPECT_EQ(record.family + " " + record.kernel + " " + record.parameter_types, "loop product f32");
  EXPECT_EQ(record.device + " " + record.pass + " " + record.mode, "cpu backward strict");
  EXPECT_EQ(record_of("loop/product/f32/cpu/forward").mode, "");
}

TEST(EpochSeconds, ParsesTimestampOrReturnsZero) {
  EXPECT_EQ(epoch_seconds("1970-01-01T00:00:01Z"), 1);
  EXPECT_EQ(epoch_seconds("2026-11-21T03:47:02Z"), 1'795'232'822);
  EXPECT_EQ(epoch_seconds("yesterday"), 0);
}

TEST(RunId, IsUnique) { EXPECT_NE(make_run_id(), make_run_id()); }

}  // namespace
}  // namespace assay::harness
