// Datasets that `assay generate` writes, with kernels judged on the CPU.
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/testing/command_runner.hpp"

namespace assay::cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using testing::CommandResult;
using ::testing::HasSubstr;
using testing::Workshop;

class GenerateTest : public ::testing::Test {
 protected:
  void expect_ok(const std::string& command) const {
    const CommandResult ran = workshop_.run(command);
    EXPECT_EQ(ran.status, 0) << command << "\n" << ran.out << ran.err;
  }
  /// All files but stats.json, which holds times.
  void expect_same(const std::string& a, const std::string& b) const {
    expect_ok("diff -r -x stats.json " + a + " " + b);
  }

  Workshop workshop_{ASSAY_PROGRAM};
};

TEST_F(GenerateTest, VerifiedRowsDoNotDependOnJobCount) {
  expect_ok("assay generate --count 6 --families loop,integer --weights loop=2 --quick --jobs 1 --output one");
  expect_ok("assay generate --count 6 --families loop,integer --weights loop=2 --quick --jobs 8 --output eight");
  expect_same("one", "eight");
  const json stats = json::parse(workshop_.read("one/stats.json"));
  EXPECT_EQ(stats.at("families"), json({{"integer", 2}, {"loop", 4}}));
  EXPECT_GT(stats.at("timing").at("compilers_s"), 0);
  expect_ok("cd one && sha256sum -c checksums.sha256");

  expect_ok("cat one/data/*.gz | gzip -dc | head -1 > row.json");
  const json row = json::parse(workshop_.read("row.json"));
  const json& evidence = row.at("evidence");
  const auto forward = std::ranges::find_if(
      evidence, [](const json& one) { return one.at("device") == "cpu" && one.at("pass") == "forward"; });
  ASSERT_NE(forward, evidence.end());
  EXPECT_THAT((*forward).at("verdict").get<std::string>(), HasSubstr("pass"));
  EXPECT_GT((*forward).at("values_compared"), 0);
  EXPECT_GT((*forward).at("controls_rejected"), 0);
  std::vector<std::string> checks;
  for (const json& check : (*forward).at("checks")) {
    checks.push_back(check.at("name"));
    EXPECT_GT(check.at("values_compared"), 0);
  }
  EXPECT_THAT(checks, ::testing::IsSupersetOf({"f64_promotion", "native_precision"}));
  EXPECT_FALSE((*forward).at("sizes").empty());
  const auto cuda = std::ranges::find_if(evidence, [](const json& one) { return one.at("device") == "cuda"; });
  EXPECT_EQ((*cuda).at("verdict"), "not_run");
  EXPECT_EQ((*cuda).at("reason"), "not asked for");
}

TEST_F(GenerateTest, RowsContainPtxOnRequest) {
  const std::string generate = "assay generate --count 6 --families loop,vector --no-verify --with-ptx ";
  const CommandResult made = workshop_.run(generate + "75 --output rows");
  if (made.err.find("--with-ptx needs NVRTC") != std::string::npos) GTEST_SKIP() << made.err;
  ASSERT_EQ(made.status, 0) << made.err;
  expect_ok(generate + "compute_75 --jobs 3 --output again");
  expect_same("rows", "again");
  expect_ok("cat rows/data/*.gz | gzip -dc > rows.jsonl");
  std::istringstream lines(workshop_.read("rows.jsonl"));
  std::string changed_text;
  std::string without_entry;
  for (std::string line; std::getline(lines, line);) {
    json row = json::parse(line);
    EXPECT_THAT(row.at("ptx").get<std::string>(),
                AllOf(HasSubstr(".target sm_75"),
                      HasSubstr(".entry " + row.at("kernel_name").get<std::string>() + "_forward(")));
    std::string& ptx = row.at("ptx").get_ref<std::string&>();
    ptx.replace(ptx.find("ret;"), 4, "trap;");
    changed_text += row.dump() + "\n";
    ptx.erase(ptx.find(".entry"));
    without_entry += row.dump() + "\n";
  }
  expect_ok("assay validate rows --rebuild 2");
  workshop_.write("changed.jsonl", changed_text);
  const CommandResult changed = workshop_.run("assay validate changed.jsonl --rebuild 6 --device cpu");
  EXPECT_EQ(changed.status, 1) << changed.out;
  EXPECT_THAT(changed.out, AllOf(HasSubstr("/ptx: found PTX with another hash"), HasSubstr("6 errors")));
  workshop_.write("without_entry.jsonl", without_entry);
  EXPECT_THAT(workshop_.run("assay validate without_entry.jsonl").out,
              AllOf(HasSubstr("/ptx: found no entry point"), HasSubstr("6 errors")));
}

TEST_F(GenerateTest, ReportsThatPtxCannotBeCompiled) {
  const std::string generate = "assay generate --count 2 --no-verify --output rows ";
  const auto error_of = [&](const std::string& command) {
    const CommandResult ran = workshop_.run(command);
    EXPECT_EQ(ran.status, 2) << ran.out << ran.err;
    return ran.err;
  };
  EXPECT_THAT(error_of(generate + "--with-ptx fast"), HasSubstr("must be an architecture such as 90, got 'fast'"));
  EXPECT_THAT(error_of("ASSAY_NVRTC=/nowhere/libnvrtc.so " + generate + "--with-ptx 75"),
              HasSubstr("--with-ptx needs NVRTC: "));
  EXPECT_THAT(error_of(generate + "--emitter warp --with-ptx 75"), HasSubstr("--with-ptx needs --emitter assay"));
}

TEST_F(GenerateTest, GeneratesRowsFromUserKernels) {
  workshop_.write("two.py", R"(import warp as wp

@wp.kernel
def scale(x: wp.array(dtype=float), factor: float, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = factor * x[i]

@wp.kernel
def count(n: wp.array(dtype=int)):
    i = wp.tid()
    n[i] = i
)");
  expect_ok("assay generate --from two.py --quick --output d && cat d/data/*.gz | gzip -dc > rows.jsonl");
  const std::string rows = workshop_.read("rows.jsonl");
  EXPECT_EQ(std::ranges::count(rows, '\n'), 2);
  EXPECT_THAT(rows, AllOf(HasSubstr(R"("family":"user")"), HasSubstr(R"("name":"user/two.count")"),
                          HasSubstr("the kernel has no float parameter")));
}

TEST_F(GenerateTest, QuarantinesUnsupportedKernelsOfFiles) {
  workshop_.write("mixed.py",
                  "import warp as wp\n\n\n@wp.kernel\ndef good(x: wp.array(dtype=float)):\n    i = wp.tid()\n"
                  "    x[i] = 2.0 * x[i]\n\n\n@wp.kernel\ndef bad(x: wp.array(dtype=float)):\n    i = wp.tid()\n"
                  "    x[i] = wp.unknown(x[i])\n");
  const CommandResult ran = workshop_.run("assay generate --from mixed.py --no-verify --output d");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("1 of 2 rows are missing because none of their candidate kernels passed"));
  EXPECT_THAT(workshop_.read("d/quarantine/quarantine.jsonl"),
              AllOf(HasSubstr("user/mixed.bad"), HasSubstr("unsupported(source)"),
                    HasSubstr("mixed.py:13:12: wp.unknown(...): unknown or unsupported function")));
  expect_ok("gzip -dc d/data/*.gz > rows.jsonl && assay validate d");
  EXPECT_THAT(workshop_.read("rows.jsonl"), HasSubstr(R"("name":"user/mixed.good")"));
}

TEST_F(GenerateTest, LicenseAndCompressionAreChosenByOptions) {
  const std::string make = "assay generate --count 40 --families math --no-verify --output ";
  expect_ok(make + "usual && gzip -dc usual/data/train-*.gz > usual.jsonl");
  expect_ok(make + "chosen --license Apache-2.0 --compression zstd && zstd -dc chosen/data/train-*.zst > chosen.jsonl");
  EXPECT_THAT(workshop_.read("usual/README.md"), HasSubstr("license: cc-by-4.0\n"));
  EXPECT_THAT(workshop_.read("usual.jsonl"), HasSubstr(R"("license":"CC-BY-4.0")"));
  EXPECT_THAT(workshop_.read("chosen/README.md"), HasSubstr("license: apache-2.0\n"));
  EXPECT_THAT(workshop_.read("chosen.jsonl"), HasSubstr(R"("license":"Apache-2.0")"));
  expect_ok("assay validate usual && assay validate chosen");
  // A kernel of a file belongs to whoever wrote it.
  workshop_.write("one.py",
                  "import warp as wp\n\n\n@wp.kernel\ndef one(x: wp.array(dtype=float)):\n    i = wp.tid()\n"
                  "    x[i] = 2.0 * x[i]\n");
  expect_ok("assay generate --from one.py --no-verify --output own");
  EXPECT_THAT(workshop_.read("own/README.md"), HasSubstr("license: unknown\n"));
  workshop_.write("other.py",
                  "import warp as wp\n\n\n@wp.kernel\ndef other(x: wp.array(dtype=float), n: int):\n"
                  "    i = wp.tid()\n    if i < n:\n        x[i] = wp.sin(x[i]) + float(i)\n");
  expect_ok(
      "assay generate --from one.py other.py --no-verify --output both && cat both/data/*.gz | gzip -dc > both.jsonl");
  EXPECT_EQ(std::ranges::count(workshop_.read("both.jsonl"), '\n'), 2);
}

TEST_F(GenerateTest, QuickRunReportsWhatItDoesNotVerify) {
  const CommandResult quick = workshop_.run("assay generate --count 2 --families math --quick --output quick");
  EXPECT_EQ(quick.status, 0) << quick.err;
  EXPECT_THAT(quick.out, AllOf(HasSubstr("not verified: No row ran on the device `ptx`"),
                               HasSubstr("not verified: The rows were judged on few inputs")));
  EXPECT_THAT(workshop_.read("quick/README.md"), HasSubstr("- No row ran on the device `ptx`"));
}

TEST_F(GenerateTest, RowsAreVerifiedOnEveryDeviceThatCanRun) {
  const CommandResult made = workshop_.run("assay generate --count 2 --families arithmetic --output d");
  EXPECT_EQ(made.status, 0) << made.err;
  expect_ok("gzip -dc d/data/*.gz > rows.jsonl");
  const std::string text = workshop_.read("rows.jsonl");
  const json row = json::parse(text.substr(0, text.find('\n')));
  EXPECT_THAT(row.at("metadata").at("device").dump(), HasSubstr("cpu"));
  const bool has_nvrtc = workshop_.run("assay generate --count 1 --device ptx --quick --output probe").status == 0;
  for (const json& one : row.at("evidence")) {
    if (one.at("device") == "ptx") {
      EXPECT_EQ(one.at("verdict") == "pass", has_nvrtc) << one;
    }
  }
  EXPECT_EQ(made.out.find("device `ptx`") == std::string::npos, has_nvrtc) << made.out;
}

TEST_F(GenerateTest, ResumedRunWritesSameBytesAsUninterruptedRun) {
  const std::string options = "generate --count 600 --no-verify --jobs 1 --output ";
  expect_ok("assay " + options + "whole");
  const CommandResult killed =
      workshop_.run("\"$program\" " + options +
                    "killed & job=$!; while ! ls killed/partial/*.zst >/dev/null 2>&1; do sleep 0.01; "
                    "done; kill -KILL $job; wait $job; test $? = 137");
  EXPECT_EQ(killed.status, 0) << "was too fast to be killed";
  expect_ok("assay " + options + "killed --resume");
  expect_same("whole", "killed");
}

TEST_F(GenerateTest, ValidateCommandRejudgesRowsAndDetectsEditedTestResults) {
  expect_ok("assay generate --count 3 --families loop --quick --output d");
  const CommandResult valid = workshop_.run("assay validate d --rebuild all");
  EXPECT_EQ(valid.status, 0) << valid.out << valid.err;
  EXPECT_THAT(valid.out, AllOf(HasSubstr("0 errors"), HasSubstr("3 rows judged again")));

  // Evidence that a second judgment contradicts.
  expect_ok(
      "gzip -dc d/data/train-00000-of-00001.jsonl.gz > rows && sed -i '1s/\"values_compared\":[0-9]*/"
      "\"values_compared\":3/' rows && gzip -c rows > d/data/train-00000-of-00001.jsonl.gz");
  const CommandResult edited = workshop_.run("assay validate d --rebuild all --format json");
  EXPECT_EQ(edited.status, 1);
  const json diagnostics = json::parse(edited.out).at("complaints");
  EXPECT_THAT(diagnostics.dump(), AllOf(HasSubstr("result of judging the row again"), HasSubstr("/evidence/0"),
                                        HasSubstr("according to checksums.sha256")));
  const CommandResult sarif = workshop_.run("assay validate d --format sarif");
  EXPECT_EQ(sarif.status, 1);
  EXPECT_EQ(json::parse(sarif.out).at("version"), "2.1.0");
  EXPECT_EQ(workshop_.run("assay validate nowhere").status, 2);
}

TEST_F(GenerateTest, DatasetCommandsMergeSplitCompareAndShowDatasets) {
  const std::string make = "assay generate --count 520 --no-verify --families math,loop --output ";
  expect_ok(make + "whole");
  expect_ok(make + "a --shard 0/2 && " + make + "b --shard 1/2 && assay dataset merge b a --output merged");
  expect_same("whole", "merged");
  expect_ok("assay dataset diff whole merged");
  EXPECT_EQ(workshop_.run("assay dataset diff whole a").status, 1);
  EXPECT_EQ(workshop_.run("assay dataset merge a --output c").status, 2);
  expect_ok("assay dataset split whole --output parts && test -s parts/loop.jsonl.gz && test -s parts/math.jsonl.gz");
  const CommandResult inside = workshop_.run("assay dataset split whole --output whole");
  EXPECT_EQ(inside.status, 2);
  EXPECT_THAT(inside.err, HasSubstr("output folder is the folder of the dataset that is read"));
  expect_ok("test ! -e whole/loop.jsonl.gz && assay validate whole");
  expect_ok("assay dataset stats whole | grep -q families");
  const CommandResult shown = workshop_.run("assay dataset show whole 1 --width 200");
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("\ndocstring: For each "), HasSubstr("\ninstruction: Write a kernel `"),
                               HasSubstr("\ndifficulty: {"), HasSubstr("@wp.kernel"), HasSubstr("long long begin"),
                               HasSubstr("blockIdx"), HasSubstr("cpu/forward: not_run, not verified")));
  EXPECT_THAT(workshop_.run("assay dataset show whole 9999").err, HasSubstr("has no row '9999'"));
}

TEST_F(GenerateTest, ExportsExamplesForTraining) {
  expect_ok("assay generate --count 4 --families math --no-verify --output d");
  const CommandResult sft = workshop_.run("assay dataset export d --format sft --output sft");
  EXPECT_EQ(sft.status, 0) << sft.err;
  EXPECT_THAT(sft.out, HasSubstr("sft/train.jsonl.gz: 4 examples\n"));
  EXPECT_EQ(workshop_.run("assay dataset export d --format parquet --output x").status, 2);
  EXPECT_EQ(workshop_.run("assay dataset export nowhere --format sft --output x").status, 2);
  const CommandResult near = workshop_.run("assay dataset export d --format preference --device cpu --output near");
  EXPECT_EQ(near.status, 0) << near.err;
  expect_ok("gzip -dc near/train.jsonl.gz > near.jsonl");
  const std::string text = workshop_.read("near.jsonl");
  const json first = json::parse(text.substr(0, text.find('\n')));
  EXPECT_EQ(first.at("language"), "c++");
  EXPECT_NE(first.at("chosen"), first.at("rejected"));
  EXPECT_FALSE(first.at("reason").at("message").get<std::string>().empty());
}

TEST_F(GenerateTest, FullDiskIsReportedAndWrittenRowsStayValid) {
  // Simulates a full disk by a limit on file sizes.
  const CommandResult full =
      workshop_.run("ulimit -f 200; assay generate --count 3000 --no-verify --jobs 1 --output full");
  EXPECT_EQ(full.status, 2);
  EXPECT_THAT(full.err, AllOf(HasSubstr("full/"), HasSubstr("cannot be written: File too large")));
  const CommandResult valid = workshop_.run("assay validate full");
  EXPECT_EQ(valid.status, 0) << valid.out;
  EXPECT_THAT(valid.out, HasSubstr("the dataset is not finished"));
}

TEST_F(GenerateTest, RejectsInvalidOptions) {
  struct Wrong {
    const char* options;
    const char* message;
  };
  workshop_.write("o\xe9.py",
                  "import warp as wp\n\n\n@wp.kernel\ndef one(out: wp.array(dtype=float)):\n    out[wp.tid()] = 1.0\n");
  for (const Wrong& wrong :
       {Wrong{"", "--count is required"}, Wrong{"--count 4 --families lop", "did you mean 'loop'"},
        Wrong{"--count 4 --families loop --weights math=2", "must begin with a selected family"},
        Wrong{"--count 4 --weights loop=0", "the weight of 'loop' must be from 0.001 to 1000000, got 0"},
        Wrong{"--count 4 --weights loop=nan", "the weight of 'loop' must be from 0.001 to 1000000, got nan"},
        Wrong{"--count 4 --weights loop=1e300", "the weight of 'loop' must be from 0.001 to 1000000, got 1e+300"},
        Wrong{"--count 4 --weights loop=1,loop=2", "--weights: 'loop=2' gives family 'loop' a second weight"},
        Wrong{"--count -1", "--count: Value -1 not in range"}, Wrong{"--count 0", "--count: Value 0 not in range"},
        Wrong{"--count 18446744073709551615", "--count: Value 18446744073709551615 not in range"},
        Wrong{"--count 100000000000", "--count: Value 100000000000 not in range"},
        Wrong{"--count 4 --shard 4/4", "--shard must be I/N"},
        Wrong{"--count 4 --from two.py", "cannot be combined with"}, Wrong{"--count 4 --device tpu", "tpu"},
        Wrong{"--from \"$(printf 'o\\351.py')\"", "the name of a file in a dataset must be UTF-8"},
        Wrong{"--count 4 --exclude \"$(printf 'o\\351.py')\"", "the name of a file in a dataset must be UTF-8"},
        Wrong{"--count 4 --license 'all rights reserved'", "--license must be an SPDX identifier"},
        Wrong{"--count 4 --compression bzip2", "bzip2"}}) {
    const CommandResult ran = workshop_.run(std::string("assay generate --output d ") + wrong.options);
    EXPECT_EQ(ran.status, 2) << wrong.options;
    EXPECT_THAT(ran.err, HasSubstr(wrong.message)) << wrong.options;
  }
}

}  // namespace
}  // namespace assay::cli
