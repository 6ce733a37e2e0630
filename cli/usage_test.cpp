// Commands with invalid input: one clear line, the correct exit status, no output files.
#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "cli/testing/command_runner.hpp"

namespace assay::cli {
namespace {

using testing::CommandResult;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::Workshop;

struct BadInput {
  std::string_view name;
  std::string_view command;
  std::string_view said;  ///< part of the one line
};

constexpr BadInput kBadInputs[] = {
    {"MissingCommand", "assay", "missing command; expected one of run, capture, judge, emit"},
    {"UnknownCommand", "assay frobnicate", "unknown command or option 'frobnicate'"},
    {"MisspeltCommand", "assay rnu loop", "did you mean 'run'"},
    {"MissingSelector", "assay run", "SELECTOR is required; see 'assay run --help'"},
    {"UnknownSelector", "assay run nonsense", "unknown family 'nonsense'; expected one of"},
    {"MisspeltSelector", "assay run nested_lop", "did you mean 'nested_loop'"},
    {"MisspeltKernel", "assay run loop/dynamic_prodcut", "did you mean 'dynamic_product'"},
    {"UnknownDevice", "assay run loop --device gpu", "gpu not in {cpu,cuda,ptx,warp-cpu,warp-ptx,warp-cuda}"},
    {"UnknownPass", "assay run loop --pass sideways", "sideways not in"},
    {"OlderWarp", "assay run loop --warp-version 1.14", "Warp 1.14 is not supported: its rules may differ"},
    {"NewerWarp", "assay emit loop/zero_trips --warp-version 1.20.1", "expected a version from 1.15 to 1.19"},
    {"NonNumericJobs", "assay run loop --jobs many", "many not in range"},
    {"NegativeRandomCount", "assay run loop --random -1", "--random"},
    {"MissingCompiler", "assay run scale.py --cxx no-such-compiler",
     "--cxx no-such-compiler: no C++ compiler: 'no-such-compiler' is not a program"},
    {"NegativeSeed", "assay run loop --seed -1", "--seed: must be an integer from 0 to 18446744073709551615, got '-1'"},
    {"SeedAboveMaximum", "assay list loop --seed 18446744073709551616",
     "--seed: must be an integer from 0 to 18446744073709551615, got '18446744073709551616'"},
    {"NegativeWidth", "assay dataset show d --width -5", "--width: Value -5 not in range"},
    {"EmptyOutputOfRun", "assay run scale.py --output ''", "--output: must not be empty"},
    {"EmptyOutputOfGenerate", "assay generate --count 4 --output ''", "--output: must not be empty"},
    {"EmptyOutputOfDatasetMerge", "assay dataset merge one two --output ''", "--output: must not be empty"},
    {"EmptyOutputOfEmit", "assay emit scale.py -o ''", "--output: must not be empty"},
    {"ImportOfFileWhoseNameIsNotUtf8", "assay run \"$(printf 'o\\351.py')\" --import",
     "--import requires names in UTF-8; rename the file"},
    {"QuickAndThorough", "assay run loop --quick --thorough", "excludes"},
    {"PatternForOtherDevice", "assay run 'loop/*/*/cuda'", "selects device 'cuda', but --device is cpu"},
    {"PassExcludesAllCases", "assay run 'loop/zero_trips/*/cpu/forward' --pass backward",
     "no test case matches the selectors with --pass backward"},
    {"MissingFile", "assay run missing.py", "missing.py: cannot be read: No such file or directory"},
    {"FolderWithoutKernelFiles", "assay run folder.py", "folder.py: contains no file with a known suffix"},
    {"EmptyFile", "assay run empty.py", "empty.py: file is empty"},
    {"BinaryFile", "assay run binary.py", "file contains a zero byte and is not Python source"},
    {"FileWithoutKernels", "assay run plain.py",
     "plain.py: no kernel found; expected a function with the decorator @wp.kernel"},
    {"PythonSyntaxError", "assay run broken.py", "broken.py:"},
    {"UnknownKernelInFile", "assay run scale.py:scael",
     "unknown kernel 'scael'; the file defines scale; did you mean 'scale'?"},
    {"OutputIsAFile", "assay run scale.py --output plain.py", "plain.py: cannot create the output folder"},
    {"OutputCannotBeCreated", "assay run scale.py --output /proc/assay",
     "/proc/assay: cannot create the output folder"},
    {"OutputOnFullDisk", "mkdir out && ln -s /dev/full out/records.jsonl && assay run scale.py",
     "cannot be written: No space left on device"},
    {"MissingExpectations", "assay run loop --expect nowhere.csv",
     "nowhere.csv: cannot read expectations: No such file"},
    {"MalformedExpectations", "assay run loop --expect waivers.csv",
     "waivers.csv:2: outcome 'fial' is not allowed in a table of expected failures; must be one of fail, defect, "
     "inconclusive,"},
    {"MissingBaseline", "assay run loop --baseline nowhere", "nowhere/records.jsonl: cannot read records"},
    {"MalformedBaseline", "assay run loop --baseline waivers.csv", "expected the folder of a run or its failures.csv"},
    {"CompareMissingRuns", "assay compare nowhere nowhere", "nowhere/records.jsonl: cannot read records"},
    {"CompareSingleRun", "assay compare nowhere", "AFTER is required; see 'assay compare --help'"},
    {"ShardOutOfRange", "assay run loop --shard 3/2", "--shard: invalid value '3/2'; expected I/N with 1 <= I <= N"},
    {"ShardWithoutNumber", "assay run loop --shard two", "--shard: invalid value 'two'"},
    {"FailedInOptionForMissingRun", "assay run --failed-in nowhere", "nowhere/records.jsonl: cannot read records"},
    {"FailedInOptionWithSelector", "assay run loop --failed-in out", "excludes"},
    {"ReportSeveralFolders", "assay report one two", "expected one folder, got 2; use --merge to merge several"},
    {"MergeWithoutOutput", "assay report one two --merge", "--merge requires --output"},
    {"EmitSeveralKernels", "assay emit loop", "kernels; choose one of loop/"},
    {"EmitHostCodeForCpu", "assay emit scale.py --with-host", "requires --to cuda, got cpu"},
    {"EmitUnknownTarget", "assay emit scale.py --to fortran", "fortran not in"},
    {"EmitIntoMissingFolder", "assay emit scale.py -o nowhere/scale.cpp", "nowhere/scale.cpp"},
    {"EmitToFullDisk", "assay emit scale.py >/dev/full", "No space left on device"},
    {"DiffMissingFile", "assay diff missing.py", "missing.py"},
    {"ListUnknownSelector", "assay list nonsense", "nonsense"},
    {"ReportMissingRun", "assay report nowhere", "nowhere/records.jsonl"},
    {"LaunchesInMissingFolder", "assay run scale.py --launches nowhere",
     "nowhere: cannot read the folder of recorded launches: No such file or directory"},
    {"LaunchesInEmptyFolder", "mkdir empty && assay run scale.py --launches empty",
     "empty: the folder must contain recorded launches"},
    {"MalformedLaunch", "mkdir bad && echo '{}' > bad/a.json && assay run scale.py --launches bad",
     "bad/a.json: invalid recorded launch:"},
    {"CaptureWithoutCommand", "assay capture", "COMMAND is required; see 'assay capture --help'"},
    {"CaptureOfProgramOtherThanPython", "assay capture -- ./train.sh",
     "the command must start with a Python interpreter, such as python, got './train.sh'"},
    {"CaptureWithMissingInterpreter", "assay capture -- python-missing train.py",
     "cannot run 'python-missing': No such file or directory"},
    {"StateCommandOutsideRepository", "assay state",
     "run this command in Assay's repository, or give its folder with --root"},
};

void PrintTo(const BadInput& input, std::ostream* out) { *out << input.command; }

class BadInputTest : public ::testing::TestWithParam<BadInput> {
 protected:
  BadInputTest() : workshop_(ASSAY_PROGRAM) {
    workshop_.write("empty.py", "");
    workshop_.write("binary.py", std::string_view("\x7f"
                                                  "ELF\0\1",
                                                  6));
    workshop_.write("plain.py", "x = 1\n");
    workshop_.write("waivers.csv", "case,outcome,message\nloop,fial,*\n");
    workshop_.write("broken.py", "def (:\n  ]]\n");
    workshop_.write("folder.py/inside", "");
    workshop_.write("scale.py",
                    "import warp as wp\n\n\n@wp.kernel\n"
                    "def scale(x: wp.array(dtype=float), out: wp.array(dtype=float)):\n"
                    "    i = wp.tid()\n    out[i] = 2.0 * x[i]\n");
  }

  Workshop workshop_;
};

TEST_P(BadInputTest, PrintsOneErrorLineAndExitsWithStatusTwo) {
  const CommandResult ran = workshop_.run(std::string(GetParam().command));
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, StartsWith("assay: error: "));
  EXPECT_THAT(ran.err, HasSubstr(std::string(GetParam().said)));
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_FALSE(std::filesystem::exists(workshop_.path() / "out/report.json"));
}

INSTANTIATE_TEST_SUITE_P(Usage, BadInputTest, ::testing::ValuesIn(kBadInputs),
                         [](const auto& row) { return std::string(row.param.name); });

/// Runs assay as a user who is not root, which could write and read everything.
CommandResult run_unprivileged(const Workshop& workshop, const std::string& arguments) {
  if (::geteuid() != 0) return workshop.run("assay " + arguments);
  return workshop.run(
      "chmod 755 .; export HOME=/nonexistent; "
      "setpriv --reuid 65534 --regid 65534 --clear-groups '" ASSAY_PROGRAM "' " +
      arguments);
}

TEST_F(BadInputTest, RejectsReadOnlyOutputFolder) {
  if (run_unprivileged(workshop_, "--version").status != 0) GTEST_SKIP() << "cannot give up root's privileges here";
  ASSERT_EQ(workshop_.run("mkdir locked && chmod 555 locked").status, 0);
  const CommandResult ran = run_unprivileged(workshop_, "run scale.py --output locked");
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.err, "assay: error: locked/records.jsonl: cannot be written: Permission denied\n");
}

TEST_F(BadInputTest, RejectsUnreadableFile) {
  if (run_unprivileged(workshop_, "--version").status != 0) GTEST_SKIP() << "cannot give up root's privileges here";
  ASSERT_EQ(workshop_.run("chmod 000 scale.py").status, 0);
  const CommandResult ran = run_unprivileged(workshop_, "run scale.py");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("scale.py: cannot be read: Permission denied"));
}

TEST_F(BadInputTest, FullDiskFailsRunAndWritesNoReport) {
  // A file system of 24 KiB of its own: the plan of a family fits, its records do not.
  const CommandResult able = workshop_.run("unshare --user --map-root-user --mount true");
  if (able.status != 0) GTEST_SKIP() << "this system allows no mount: " << able.err;
  const CommandResult ran = workshop_.run(
      "unshare --user --map-root-user --mount sh -c 'mkdir full && mount -t tmpfs -o size=24k none full && "
      "\"$0\" run multi_conditional --quick --output full; status=$?; ls full; exit $status' '" ASSAY_PROGRAM "'");
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr("full/records.jsonl: cannot be written: No space left on device"));
  EXPECT_THAT(ran.out, ::testing::EndsWith("records.jsonl\n"));
  EXPECT_THAT(ran.out, ::testing::Not(HasSubstr("report")));
}

TEST(QuickstartProgram, SupportsOnlyBasicCommands) {
  const Workshop workshop(ASSAY_PROGRAM "-quickstart");
  const CommandResult help = workshop.run("assay --help");
  EXPECT_EQ(help.status, 0);
  for (const char* command : {"run", "reduce", "reproduce", "report"})
    EXPECT_THAT(help.out, HasSubstr(std::string("\n  ") + command + " "));
  EXPECT_EQ(workshop.run("assay run conditional --quick").status, 0);
  const CommandResult other = workshop.run("assay mutate --score");
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("expected one of run, "));
}

}  // namespace
}  // namespace assay::cli
