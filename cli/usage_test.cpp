// What the command does with input that it cannot use: one clear line, the right exit status, nothing left behind.
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

using ::testing::HasSubstr;
using testing::Ran;
using ::testing::StartsWith;
using testing::Workshop;

struct BadInput {
  std::string_view name;
  std::string_view command;
  std::string_view said;  ///< part of the one line
};

constexpr BadInput kBadInputs[] = {
    {"NoCommand", "assay", "a command is required: one of run, emit"},
    {"UnknownCommand", "assay frobnicate", "unknown command or option 'frobnicate'"},
    {"NearCommand", "assay rnu loop", "did you mean 'run'"},
    {"NoSelector", "assay run", "SELECTOR is required; see assay run --help"},
    {"UnknownSelector", "assay run nonsense", "unknown family 'nonsense'; expected one of"},
    {"NearSelector", "assay run nested_lop", "did you mean 'nested_loop'"},
    {"NearKernel", "assay run loop/dynamic_prodcut", "did you mean 'dynamic_product'"},
    {"UnknownDevice", "assay run loop --device gpu", "gpu not in {cpu,cuda,ptx}"},
    {"UnknownPass", "assay run loop --pass sideways", "sideways not in"},
    {"NoNumber", "assay run loop --jobs many", "many not in range"},
    {"NegativeRandom", "assay run loop --random -1", "--random"},
    {"QuickAndThorough", "assay run loop --quick --thorough", "excludes"},
    {"OtherDevice", "assay run 'loop/*/*/cuda'", "asks for the device 'cuda', but --device is cpu"},
    {"NoCaseLeft", "assay run 'loop/zero_trips/*/cpu/forward' --pass backward",
     "no test case matches the selectors with --pass backward"},
    {"MissingFile", "assay run missing.py", "missing.py: cannot be read: No such file or directory"},
    {"UnreadableFile", "assay run folder.py", "folder.py: contains no file with a known suffix"},
    {"EmptyFile", "assay run empty.py", "empty.py: is empty"},
    {"BinaryFile", "assay run binary.py", "it is binary, not Python"},
    {"NoKernels", "assay run plain.py", "plain.py: no kernel found; expected a function with the decorator @wp.kernel"},
    {"BrokenPython", "assay run broken.py", "broken.py:"},
    {"MissingKernel", "assay run scale.py:scael",
     "unknown kernel 'scael'; the file defines scale; did you mean 'scale'?"},
    {"OutputIsAFile", "assay run scale.py --output plain.py", "plain.py: cannot make the output folder"},
    {"OutputCannotBeMade", "assay run scale.py --output /proc/assay", "/proc/assay: cannot make the output folder"},
    {"OutputIsFull", "mkdir out && ln -s /dev/full out/records.jsonl && assay run scale.py",
     "cannot be written: No space left on device"},
    {"NoExpectations", "assay run loop --expect nowhere.csv", "nowhere.csv: cannot read expectations: No such file"},
    {"ExpectationsOfAnotherForm", "assay run loop --expect waivers.csv",
     "waivers.csv:2: found the outcome 'fial', expected one of fail, defect, inconclusive,"},
    {"NoBaseline", "assay run loop --baseline nowhere", "nowhere/records.jsonl: cannot read records"},
    {"BaselineOfAnotherForm", "assay run loop --baseline waivers.csv",
     "expected a run's folder, or a run's failures.csv"},
    {"CompareWithNothing", "assay compare nowhere nowhere", "nowhere/records.jsonl: cannot read records"},
    {"CompareOne", "assay compare nowhere", "AFTER is required; see assay compare --help"},
    {"ShardOfNothing", "assay run loop --shard 3/2", "--shard: found '3/2', expected I/N with I from 1 to N"},
    {"ShardWithoutNumber", "assay run loop --shard two", "--shard: found 'two'"},
    {"FailedInNothing", "assay run --failed-in nowhere", "nowhere/records.jsonl: cannot read records"},
    {"FailedInAndSelector", "assay run loop --failed-in out", "excludes"},
    {"ReportOfSeveral", "assay report one two", "found 2 folders, expected one; or --merge them"},
    {"MergeIntoNothing", "assay report one two --merge", "--merge requires --output"},
    {"EmitSeveral", "assay emit loop", "kernels, expected one of loop/"},
    {"EmitHostForCpu", "assay emit scale.py --with-host", "needs --to cuda, got cpu"},
    {"EmitUnknownTarget", "assay emit scale.py --to fortran", "fortran not in"},
    {"EmitIntoMissingFolder", "assay emit scale.py -o nowhere/scale.cpp", "nowhere/scale.cpp"},
    {"EmitToFullDisk", "assay emit scale.py >/dev/full", "No space left on device"},
    {"DiffOfNothing", "assay diff missing.py", "missing.py"},
    {"ListOfNothing", "assay list nonsense", "nonsense"},
    {"ReportOfNothing", "assay report nowhere", "nowhere/records.jsonl"},
    {"StateElsewhere", "assay state", "run this in Assay's repository, or name it with --root"},
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

TEST_P(BadInputTest, IsOneLineAndStatusTwo) {
  const Ran ran = workshop_.run(std::string(GetParam().command));
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
Ran run_unprivileged(const Workshop& workshop, const std::string& arguments) {
  if (::geteuid() != 0) return workshop.run("assay " + arguments);
  return workshop.run(
      "chmod 755 .; export HOME=/nonexistent; "
      "setpriv --reuid 65534 --regid 65534 --clear-groups '" ASSAY_PROGRAM "' " +
      arguments);
}

TEST_F(BadInputTest, AReadOnlyOutputFolderIsRefused) {
  if (run_unprivileged(workshop_, "--version").status != 0) GTEST_SKIP() << "cannot give up root's privileges here";
  ASSERT_EQ(workshop_.run("mkdir locked && chmod 555 locked").status, 0);
  const Ran ran = run_unprivileged(workshop_, "run scale.py --output locked");
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.err, "assay: error: locked/records.jsonl: cannot be written: Permission denied\n");
}

TEST_F(BadInputTest, AFileWithoutPermissionIsRefused) {
  if (run_unprivileged(workshop_, "--version").status != 0) GTEST_SKIP() << "cannot give up root's privileges here";
  ASSERT_EQ(workshop_.run("chmod 000 scale.py").status, 0);
  const Ran ran = run_unprivileged(workshop_, "run scale.py");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("scale.py: cannot be read: Permission denied"));
}

TEST_F(BadInputTest, ADiskThatFillsUpMidwayLeavesNothingThatLooksWhole) {
  // A file system of 24 KiB of its own: the plan of a family fits, its records do not.
  const Ran able = workshop_.run("unshare --user --map-root-user --mount true");
  if (able.status != 0) GTEST_SKIP() << "this system allows no mount: " << able.err;
  const Ran ran = workshop_.run(
      "unshare --user --map-root-user --mount sh -c 'mkdir full && mount -t tmpfs -o size=24k none full && "
      "\"$0\" run multi_conditional --quick --output full; status=$?; ls full; exit $status' '" ASSAY_PROGRAM "'");
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr("full/records.jsonl: cannot be written: No space left on device"));
  EXPECT_THAT(ran.out, ::testing::EndsWith("records.jsonl\n"));
  EXPECT_THAT(ran.out, ::testing::Not(HasSubstr("report")));
}

}  // namespace
}  // namespace assay::cli
