// Commands with valid input, from the command line to the output files.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/testing/command_runner.hpp"
#include "harness/records/record_reader.hpp"

namespace assay::cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using testing::CommandResult;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing::Workshop;

constexpr std::string_view kTwoKernels = R"(import warp as wp


@wp.kernel
def scale(x: wp.array(dtype=float), factor: float, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = factor * x[i]


@wp.kernel
def draws(out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = numpy_random(i)
)";

class CommandTest : public ::testing::Test {
 protected:
  CommandTest() : workshop_(ASSAY_PROGRAM) { workshop_.write("two.py", kTwoKernels); }

  harness::RunRecords records(const std::string& dir = "out") const {
    auto run = harness::read_records(workshop_.path() / dir);
    EXPECT_TRUE(run.ok()) << run.error().text();
    return run.take();
  }

  Workshop workshop_;
};

TEST_F(CommandTest, ReportCommandUnpacksTarArchiveAndWritesReport) {
  ASSERT_EQ(workshop_.run("assay run two.py:scale --quick --output gpu/run").status, 0);
  ASSERT_EQ(workshop_.run("tar --format=ustar -czf gpu.tar.gz gpu && rm -r gpu && mkdir elsewhere").status, 0);
  const CommandResult ran = workshop_.run("assay report gpu.tar.gz --output elsewhere");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("elsewhere/gpu/run/report.html"));
  EXPECT_THAT(workshop_.read("elsewhere/gpu/run/report.html"), HasSubstr("two.py"));
  const CommandResult again = workshop_.run("assay report gpu.tar.gz --output elsewhere");
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("already exists"));
  ASSERT_EQ(workshop_.run("tar --format=ustar -czf empty.tar.gz two.py").status, 0);
  EXPECT_THAT(workshop_.run("assay report empty.tar.gz --output empty").err, HasSubstr("contains no run"));
  EXPECT_THAT(workshop_.run("assay report elsewhere/gpu/run --output other").err,
              HasSubstr("--output requires an archive or --merge"));
}

TEST_F(CommandTest, BenchCommandMeasuresColdRunWarmRunAndCompileTime) {
  const CommandResult ran = workshop_.run("assay bench two.py:scale --jobs 1 --output bench");
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("verified kernels per second"), HasSubstr("compilers alone / total")));
  const json figures = json::parse(workshop_.read("bench/bench.json"));
  EXPECT_EQ(figures["cold"]["verified"], 1);
  EXPECT_EQ(figures["cold"]["cases"], figures["warm"]["cases"]);
  EXPECT_GT(figures["cold"]["stages_ms"]["build"], 10 * figures["warm"]["stages_ms"]["build"].get<double>())
      << "the first run must not find cache entries, and the second must";
  EXPECT_GT(figures["floor_over_total"], 0);
  EXPECT_LT(figures["floor_over_total"], 1);
  ASSERT_EQ(figures["floor"]["tried"].size(), 4U);
  for (const json& tried : figures["floor"]["tried"])
    EXPECT_GE(tried["seconds"], figures["floor"]["seconds"]) << tried["batch"];
  EXPECT_TRUE(records("bench/warm").end);
  const std::string history = workshop_.read("bench/history.jsonl");
  EXPECT_EQ(json::parse(history), figures);
  EXPECT_EQ(workshop_.run("assay bench two.py:scale --jobs 1 --output bench").status, 0);
  EXPECT_THAT(workshop_.read("bench/history.jsonl"), StartsWith(history));
  EXPECT_EQ(std::ranges::count(workshop_.read("bench/history.jsonl"), '\n'), 2);
}

TEST_F(CommandTest, BenchCommandReportsTimesPerDeviceAndInTotal) {
  const CommandResult ran = workshop_.run("assay bench two.py:scale --device both --jobs 1 --output bench");
  if (ran.status == 77) {
    ASSERT_THAT(ran.err, HasSubstr("the device ptx cannot run on this machine: no NVRTC"));
    GTEST_SKIP() << ran.err;
  }
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("device cpu, 1 processed at once"), HasSubstr("device ptx, 1 processed at once"),
                             HasSubstr("device both")));
  const json figures = json::parse(workshop_.read("bench/bench.json"));
  ASSERT_EQ(figures["devices"].size(), 2U);
  const json &cpu = figures["devices"][0], &ptx = figures["devices"][1];
  EXPECT_EQ(figures["cold"]["verified"], 1);
  EXPECT_EQ(figures["cold"]["cases"], cpu["cold"]["cases"].get<int>() + ptx["cold"]["cases"].get<int>());
  EXPECT_DOUBLE_EQ(figures["floor"]["seconds"],
                   cpu["floor"]["seconds"].get<double>() + ptx["floor"]["seconds"].get<double>());
  // The second run in the same process reuses the build results of the first.
  EXPECT_GT(ptx["cold"]["stages_ms"]["build"], 0);
  EXPECT_EQ(ptx["warm"]["stages_ms"].value("build", 0.0), 0);
  EXPECT_TRUE(records("bench/ptx/warm").end);
}

TEST_F(CommandTest, BenchCommandRejectsMissingDeviceBeforeMeasuring) {
  const CommandResult ran =
      workshop_.run("ASSAY_NVRTC=/nowhere/libnvrtc.so assay bench two.py:scale --device both --output bench");
  EXPECT_EQ(ran.status, 77) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("the device ptx cannot run on this machine: "));
  EXPECT_FALSE(std::filesystem::exists(workshop_.path() / "bench"));
}

TEST_F(CommandTest, RunCommandJudgesKernelOfFileAndWritesReport) {
  const CommandResult ran = workshop_.run("assay run two.py:scale --quick");
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("user"), HasSubstr("1/1"), HasSubstr("out/report.html")));
  const harness::RunRecords run = records();
  ASSERT_EQ(run.cases.size(), 2U);
  EXPECT_EQ(run.cases[0].name, "user/two.scale/f32/cpu/forward");
  EXPECT_EQ(run.cases[0].source.file, "two.py");
  EXPECT_GT(run.cases[1].values_compared, 0);
  EXPECT_TRUE(run.end);
  EXPECT_THAT(run.start.command_line, ::testing::Contains("--quick"));
  EXPECT_THAT(workshop_.read("out/report.html"), HasSubstr("user/two.scale"));
}

TEST_F(CommandTest, RecordedReproduceCommandGivesSameResult) {
  ASSERT_EQ(workshop_.run("assay run two.py:scale --quick --seed 5 --pass backward").status, 0);
  const harness::RunRecords first = records();
  ASSERT_EQ(first.cases.size(), 1U);
  ASSERT_EQ(workshop_.run(first.cases[0].reproduce_command + " --output again").status, 0);
  const harness::RunRecords again = records("again");
  ASSERT_EQ(again.cases.size(), 1U);
  EXPECT_EQ(again.cases[0].name, first.cases[0].name);
  EXPECT_EQ(again.cases[0].rho_max, first.cases[0].rho_max);
  EXPECT_EQ(again.cases[0].values_compared, first.cases[0].values_compared);
}

TEST_F(CommandTest, RunCommandReportsUnsupportedKernelAndRunsOtherKernels) {
  const CommandResult ran = workshop_.run("assay run two.py --quick --pass forward");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("unsupported kernel: two.py:13:"), HasSubstr("numpy_random")));
  EXPECT_THAT(ran.out, HasSubstr("\n1 kernel is not supported; 1 of 2 cases pass: 1 unsupported, 1 pass\n"));
  EXPECT_EQ(workshop_.run("assay report out").status, 1) << "the same verdict from the records";
  const harness::RunRecords run = records();
  ASSERT_EQ(run.cases.size(), 2U);
  EXPECT_TRUE(harness::is_pass(run.cases[0].outcome));
  EXPECT_EQ(run.cases[1].name, "user/two.draws/unknown/cpu/forward");
  EXPECT_EQ(run.cases[1].outcome, harness::Outcome::unsupported);
  EXPECT_EQ(run.cases[1].outcome_detail, "reader");
}

TEST_F(CommandTest, RunOfUnsupportedKernelOnlyFails) {
  const CommandResult ran = workshop_.run("assay run two.py:draws --quick");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("\n1 kernel is not supported; 0 of 2 cases pass: 2 unsupported\n"));
}

TEST_F(CommandTest, RunCommandNamesKernelWhoseBackwardPassIsUnsupported) {
  const CommandResult ran = workshop_.run("assay run tile/counter_of_blocks --quick");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("\nThe only case that could run here passes\n"),
                             HasSubstr("\nbackward pass not supported: tile/counter_of_blocks, "),
                             HasSubstr("A06-atomic-result")));
  EXPECT_EQ(workshop_.run("assay run tile/counter_of_blocks --quick --pass backward").status, 1);
}

TEST_F(CommandTest, OptimizationOptionAddsLevelToCaseName) {
  ASSERT_EQ(workshop_.run("assay run two.py:scale --quick --optimise 2 --pass forward").status, 0);
  EXPECT_EQ(records().cases[0].name, "user/two.scale/f32/cpu/forward/O2");
}

TEST_F(CommandTest, SampleOfOptimizedKernelsLeavesOutLargeFiles) {
  std::string statements;
  for (int n = 0; n < 400; ++n)
    statements += "    s = s * 0.5 + x[i] * 0.25\n";
  const auto optimized_cases = [&](const std::string& more) {
    std::string text = "import warp as wp\n\n";
    for (int k = 0; k < 32; ++k)
      text += "@wp.kernel\ndef k" + std::to_string(k) +
              "(x: wp.array(dtype=float), out: wp.array(dtype=float)):\n    i = wp.tid()\n    s = x[i]\n" +
              (k == 0 ? more : std::string()) + "    out[i] = s\n\n";
    workshop_.write("many.py", text);
    EXPECT_EQ(workshop_.run("assay run many.py --pass forward").status, 0);
    const harness::RunRecords run = records();
    return std::ranges::count(run.cases, "O2", &harness::CaseRecord::mode);
  };
  EXPECT_GT(optimized_cases(""), 0);
  EXPECT_EQ(optimized_cases(statements), 0);
}

TEST_F(CommandTest, ModeBothSelectsStrictAndDefaultMode) {
  ASSERT_EQ(workshop_.run("assay run two.py:scale --quick --mode both --pass forward").status, 0);
  const harness::RunRecords run = records();
  ASSERT_EQ(run.cases.size(), 2U);
  EXPECT_EQ(run.cases[0].name, "user/two.scale/f32/cpu/forward");
  EXPECT_EQ(run.cases[1].name, "user/two.scale/f32/cpu/forward/default");
  EXPECT_THAT(run.cases[1].reproduce_command, HasSubstr("--mode default"));
  ASSERT_EQ(workshop_.run("assay run 'loop/horner/*/cpu/forward/default' --mode both --quick").status, 0);
  EXPECT_EQ(records().cases.size(), 1U);
}

TEST_F(CommandTest, PtxCasesUseFastCompileModeUnlessCasePatternNamesMode) {
  EXPECT_EQ(workshop_.run("assay list loop/horner --device ptx").out,
            "loop/horner/f32_i32/ptx/forward/fast_compile\nloop/horner/f32_i32/ptx/backward/fast_compile\n");
  EXPECT_EQ(workshop_.run("assay list 'loop/horner/*/ptx/forward/default' --device ptx").out,
            "loop/horner/f32_i32/ptx/forward/default\n")
      << "a selector that names a mode";
}

TEST_F(CommandTest, PtxDeviceUsesStrictAndDefaultModesForUserKernels) {
  EXPECT_EQ(workshop_.run("assay list two.py:scale --device ptx").out,
            "user/two.scale/f32/ptx/forward\nuser/two.scale/f32/ptx/backward\n"
            "user/two.scale/f32/ptx/forward/default\nuser/two.scale/f32/ptx/backward/default\n");
}

TEST_F(CommandTest, OnlyFirstDeviceThatCanRunJudgesBothPrecisions) {
  const auto ptx_case = [&](const std::string& environment) {
    const CommandResult ran =
        workshop_.run(environment + "assay run loop/horner --quick --pass forward --device cpu,ptx --fresh --reduce 0");
    EXPECT_EQ(ran.status, 0) << ran.err;
    return records().cases.back();
  };
  const harness::CaseRecord second = ptx_case("");
  ASSERT_EQ(second.device, "ptx");
  if (second.outcome == harness::Outcome::unsupported) GTEST_SKIP() << second.message;
  EXPECT_TRUE(second.check_results.native_precision);
  EXPECT_FALSE(second.check_results.f64_promotion) << "the device cpu has judged the kernel with f64 promotion";
  EXPECT_TRUE(ptx_case("CXX=/nowhere/c++ ").check_results.f64_promotion) << "the device cpu cannot run";
}

TEST_F(CommandTest, RejectsFastCompileModeOnCpu) {
  const CommandResult ran = workshop_.run("assay run loop/horner --mode fast_compile");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("--mode fast_compile is not supported on the device cpu; it is supported on ptx"));
}

constexpr std::string_view kPtx = R"(.version 9.0
.target sm_75
.address_size 64
.visible .entry shift(.param .u64 x, .param .u32 by)
{
.reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .f32 %f<2>;
ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [by];
mov.u32 %r2, %tid.x; add.u32 %r3, %r2, %r1;
mul.wide.u32 %rd2, %r3, 4; add.s64 %rd3, %rd1, %rd2;
ld.global.f32 %f1, [%rd3]; add.rn.f32 %f1, %f1, 0f3F800000; st.global.f32 [%rd3], %f1;
ret;
}
)";

TEST_F(CommandTest, PtxRunCommandExecutesPtxFileAndReportsMemoryErrors) {
  workshop_.write("shift.ptx", kPtx);
  const CommandResult right = workshop_.run("assay ptx run shift.ptx --block 8 --arg f32[8]=ramp --arg u32:0");
  EXPECT_EQ(right.status, 0) << right.err;
  EXPECT_THAT(right.out, AllOf(HasSubstr("completed, no findings"), HasSubstr("x            1 2 3 4 5 6 7 8\n"),
                               HasSubstr("80 instructions: 80 exact"), HasSubstr("sectors_per_access")));
  const CommandResult wrong =
      workshop_.run("assay ptx run shift.ptx --kernel shift --block 8 --arg f32[8] --arg u32:1");
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.out,
              AllOf(HasSubstr("out_of_bounds in shift"), HasSubstr("offset 32 of 'x'"), HasSubstr("thread (7, 0, 0)")));
  const CommandResult unwritten = workshop_.run("assay ptx run shift.ptx --block 8 --arg f32[8]=? --arg u32:0");
  EXPECT_THAT(unwritten.out, HasSubstr("uninitialised_read"));
  const CommandResult unchecked =
      workshop_.run("assay ptx run shift.ptx --block 8 --no-check uninitialised --arg f32[8]=? --arg u32:0");
  EXPECT_EQ(unchecked.status, 0) << unchecked.out;
  EXPECT_EQ(workshop_.run("assay ptx run shift.ptx --arg f32[8]").status, 2);
  EXPECT_THAT(workshop_.run("assay ptx run shift.ptx --kernel other").err, HasSubstr("the file defines shift"));
  workshop_.write("broken.ptx", ".version 9.0\n.target sm_75\nadd;\n");
  EXPECT_THAT(workshop_.run("assay ptx run broken.ptx").err, HasSubstr("broken.ptx:3:1: found 'add'"));
}

TEST_F(CommandTest, ProfileCommandReportsThatCpuDeviceHasNoProfile) {
  const CommandResult ran = workshop_.run("assay profile two.py:scale --device cpu");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("no profile: none of these devices counts executed instructions"));
}

TEST_F(CommandTest, SelectorCanRestrictRunToForwardOrBackwardPass) {
  ASSERT_EQ(workshop_.run("assay run loop/r2_1/*/cpu/backward loop/r2_2/*/cpu/forward --quick").status, 0);
  const harness::RunRecords run = records();
  ASSERT_EQ(run.cases.size(), 2U);
  EXPECT_EQ(run.cases[0].pass, "backward");
  EXPECT_EQ(run.cases[1].pass, "forward");
}

TEST_F(CommandTest, MissingDeviceMakesEveryCaseUnsupported) {
  const CommandResult ran = workshop_.run("ASSAY_NVRTC=/nowhere/libnvrtc.so assay run loop/r2_1 --device cuda");
  EXPECT_EQ(ran.status, 77);
  EXPECT_THAT(ran.out, HasSubstr("unsupported"));
  EXPECT_EQ(ran.err, "") << "no further output without comparisons";
  for (const harness::CaseRecord& record : records().cases) {
    EXPECT_EQ(record.outcome, harness::Outcome::unsupported);
    EXPECT_THAT(record.outcome_detail, ::testing::AnyOf("no NVRTC", "no CUDA driver", "no CUDA device"));
  }
}

TEST_F(CommandTest, MissingDefaultCompilerMakesCpuCasesUnsupported) {
  const CommandResult ran = workshop_.run("export CXX=no-such-compiler; assay run two.py:scale");
  EXPECT_EQ(ran.status, 77);
  EXPECT_THAT(ran.out, HasSubstr("no-such-compiler"));
}

TEST_F(CommandTest, InterruptedRunKeepsFinishedRecordsAndSuggestsResumeOption) {
  const CommandResult ran = workshop_.run(
      "\"$program\" run arithmetic loop vector --random 40 --jobs 1 --thorough >log 2>&1 & pid=$!\n"
      "for i in $(seq 300); do [ -s out/records.jsonl ] && break; sleep 0.1; done\n"
      "sleep 0.3; kill -TERM $pid; wait $pid");
  EXPECT_EQ(ran.status, 128 + SIGTERM) << ran.err;
  EXPECT_THAT(workshop_.read("log"), HasSubstr("continue with --resume"));
  const harness::RunRecords run = records();
  EXPECT_FALSE(run.end);
  EXPECT_NE(run.exit_status(), harness::ExitStatus::as_expected);
  for (const harness::CaseRecord& record : run.cases)
    EXPECT_NE(record.outcome, harness::Outcome::crashed) << record.name;
  EXPECT_THAT(workshop_.read("out/report.html"), HasSubstr("did not finish"));
}

TEST_F(CommandTest, RunIgnoresSignalThatParentProcessIgnores) {
  const CommandResult ran = workshop_.run(
      "trap '' HUP; \"$program\" run two.py:scale --quick & pid=$!\n"
      "for i in $(seq 300); do [ -e out/records.jsonl ] && break; sleep 0.01; done\n"
      "kill -HUP $pid; wait $pid");
  EXPECT_EQ(ran.status, 0) << ran.err;
}

TEST_F(CommandTest, RunCommandWritesRecordsEvenIfStandardStreamsAreClosed) {
  EXPECT_EQ(workshop_.run("assay run two.py --quick --pass forward >&- 2>&-").status, 1);
  EXPECT_EQ(records().cases.size(), 2U);
}

TEST_F(CommandTest, CommandSucceedsSilentlyIfOutputPipeIsClosed) {
  const CommandResult ran = workshop_.run("assay list '*' --random 2000 | head -n 1");
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.err, "");
}

TEST_F(CommandTest, EmitCommandPrintsSourceCodeForEveryTarget) {
  EXPECT_THAT(workshop_.run("assay emit two.py:scale").out,
              AllOf(HasSubstr("scale_forward(long long begin"), Not(HasSubstr("scale_backward"))));
  EXPECT_THAT(workshop_.run("assay emit two.py:scale --device cuda --backward").out,
              AllOf(HasSubstr("__global__ void scale_forward"), HasSubstr("__global__ void scale_backward")));
  EXPECT_THAT(workshop_.run("assay emit two.py:scale --to cuda --with-host").out, HasSubstr("int main("));
  EXPECT_THAT(workshop_.run("assay emit two.py:scale --to python").out,
              AllOf(HasSubstr("@wp.kernel"), HasSubstr("def scale("), Not(HasSubstr("draws"))));
  EXPECT_THAT(workshop_.run("assay emit two.py:scale --to ir").out, HasSubstr("kernel scale(x: array<f32,1>"));
  EXPECT_THAT(workshop_.run("assay emit two.py:scale --to ir --backward").out, HasSubstr("grad_x"));
}

TEST_F(CommandTest, EmittedPythonParsesToTheSameKernel) {
  ASSERT_EQ(workshop_.run("assay emit loop/r2_5 --to python -o again.py").status, 0);
  EXPECT_EQ(workshop_.run("assay emit again.py --to ir").out, workshop_.run("assay emit loop/r2_5 --to ir").out);
}

TEST_F(CommandTest, EmitCommandForPtxReportsMissingNvrtc) {
  const CommandResult ran = workshop_.run("ASSAY_NVRTC=/nowhere/libnvrtc.so assay emit two.py:scale --to ptx");
  if (ran.status == 0) {
    EXPECT_THAT(ran.out, HasSubstr(".entry scale_forward"));
  } else {
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, HasSubstr("no NVRTC: emitting PTX requires NVRTC from the CUDA toolkit"));
  }
}

TEST_F(CommandTest, DiffCommandLimitsLineWidthAndAlignsEntryPoints) {
  const CommandResult ran = workshop_.run("assay diff two.py:scale --width 120");
  EXPECT_EQ(ran.status, 0);
  bool paired = false;
  for (std::size_t begin = 0; begin < ran.out.size();) {
    const std::size_t end = ran.out.find('\n', begin);
    const std::string line = ran.out.substr(begin, end - begin);
    EXPECT_LE(line.size(), 120U) << line;
    paired |= line.find("void scale_forward") != line.rfind("void scale_forward");
    begin = end + 1;
  }
  EXPECT_TRUE(paired);
  EXPECT_THAT(ran.out, Not(HasSubstr("\x1b[")));
  EXPECT_THAT(workshop_.run("assay diff two.py:scale --color always").out, HasSubstr("\x1b["));
}

TEST_F(CommandTest, ListCommandPrintsFamiliesAndCases) {
  EXPECT_THAT(workshop_.run("assay list").out, HasSubstr("control_flow"));
  EXPECT_THAT(workshop_.run("assay list loop/dynamic_product --device cuda").out,
              HasSubstr("loop/dynamic_product/f32_i32/cuda/backward\n"));
  EXPECT_GE(json::parse(workshop_.run("assay list --json").out).size(), 9U);
  const json cases = json::parse(workshop_.run("assay list two.py --json").out);
  ASSERT_EQ(cases.size(), 4U);
  EXPECT_EQ(cases[0].at("selector"), "two.py:scale");
}

TEST_F(CommandTest, ListCommandReplacesBytesThatAreNotUtf8InJson) {
  ASSERT_EQ(workshop_.run("cp two.py \"$(printf 'o\\351.py')\"").status, 0);
  const CommandResult listed = workshop_.run("assay list \"$(printf 'o\\351.py')\" --json");
  ASSERT_EQ(listed.status, 0) << listed.err;
  EXPECT_EQ(nlohmann::json::parse(listed.out).at(0).at("file"), "o\ufffd.py");
}

TEST_F(CommandTest, DoctorCommandListsEveryDevice) {
  const json found = json::parse(workshop_.run("assay doctor --json").out);
  ASSERT_EQ(found.at("devices").size(), 6U);
  for (const json& device : found.at("devices"))
    EXPECT_NE(device.at("available").get<bool>(), !device.at("reason").get<std::string>().empty()) << device;
  EXPECT_THAT(found.at("devices")[0].at("confinement").get<std::string>(), HasSubstr("system calls are "));
  EXPECT_EQ(workshop_.run("assay doctor").status, 0);
  EXPECT_EQ(workshop_.run("assay doctor --cxx no-such-compiler").status, 77);
}

TEST_F(CommandTest, RunCommandLooksForWarpOnlyIfADeviceRunsIt) {
  workshop_.write("python", "#!/bin/sh\ntouch \"$(dirname \"$0\")/was_called\"\nexit 1\n");
  ASSERT_EQ(workshop_.run("chmod +x python").status, 0);
  const auto devices_of = [&](const std::string& device) {
    const CommandResult ran = workshop_.run(
        "ASSAY_WARP_PYTHON=$PWD/python assay run two.py --quick --fresh --output runs --device " + device);
    std::vector<std::string> names;
    const std::string records = workshop_.read("runs/records.jsonl");
    const json start = json::parse(records.substr(0, records.find('\n')));
    for (const json& one : start.at("environment").at("devices"))
      names.push_back(one.at("name"));
    EXPECT_EQ(workshop_.run("rm -r runs").status, 0);
    return names;
  };
  EXPECT_THAT(devices_of("cpu"), ::testing::ElementsAre("cpu", "cuda", "ptx"));
  EXPECT_NE(workshop_.run("test -e was_called").status, 0);
  EXPECT_THAT(devices_of("warp-cpu"), ::testing::ElementsAre("cpu", "cuda", "ptx", "warp-cpu"));
  EXPECT_EQ(workshop_.run("test -e was_called").status, 0);
}

TEST_F(CommandTest, ReportCommandRegeneratesReportFromRecords) {
  ASSERT_EQ(workshop_.run("assay run two.py:scale --quick").status, 0);
  const std::string page = workshop_.read("out/report.html");
  ASSERT_EQ(workshop_.run("rm out/report.*; assay report out").status, 0);
  EXPECT_EQ(workshop_.read("out/report.html"), page);
}

TEST_F(CommandTest, StateCommandUpdatesCudaStateFileFromRun) {
  ASSERT_EQ(workshop_.run("assay run two.py:scale --quick").status, 0);
  ASSERT_EQ(workshop_.run("mkdir conformance && cp '" ASSAY_SOURCE_DIR "/conformance/state.json' conformance/").status,
            0);
  const CommandResult ran = workshop_.run("assay state --update out");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(workshop_.read("CUDA_STATE.md"), AllOf(StartsWith("# CUDA state"), HasSubstr("user")));
}

TEST_F(CommandTest, HelpOfEachCommandMentionsDevices) {
  for (const char* const command : {"run", "emit", "diff", "list", "doctor", "report", "state"}) {
    const CommandResult ran = workshop_.run(std::string("assay ") + command + " --help");
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.out, HasSubstr("device")) << command;
  }
  EXPECT_THAT(workshop_.run("assay --version").out, StartsWith("assay 0."));
}

}  // namespace
}  // namespace assay::cli
