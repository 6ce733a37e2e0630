// Commands that need NVIDIA Warp. Skipped without Warp.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
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
using ::testing::Not;
using testing::Workshop;

class WarpRowsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { made_ = workshop_.run(kGenerate + " --jobs 1 --output rows"); }
  void SetUp() override {
    if (made_.status == 77) GTEST_SKIP() << made_.err;
    ASSERT_EQ(made_.status, 0) << made_.out << made_.err;
  }

  CommandResult expect_status(int status, const std::string& command) const {
    CommandResult ran = workshop_.run(command);
    EXPECT_EQ(ran.status, status) << command << "\n" << ran.out << ran.err;
    return ran;
  }
  std::vector<json> lines_of(const std::string& command) const {
    std::vector<json> lines;
    const std::string text = workshop_.run(command).out;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
      lines.push_back(json::parse(text.substr(at, text.find('\n', at) - at)));
    return lines;
  }
  /// Writes a copy of the rows, in which `change` was applied to the first row.
  template <class Change>
  void write_changed(const std::string& name, const Change& change) const {
    std::vector<json> rows = lines_of("gzip -dc rows/data/*.gz");
    change(rows.front());
    std::string text;
    for (const json& row : rows)
      text += row.dump() + "\n";
    workshop_.write(name, text);
  }

  // Seed 3 draws a kernel that overwrites an array, and one with `%`; Warp's gradients of both are incorrect.
  inline static const std::string kGenerate =
      "assay generate --emitter warp --count 20 --families arithmetic,struct_param,vector --quick --seed 3";
  inline static const Workshop workshop_{ASSAY_PROGRAM};
  inline static CommandResult made_;  ///< of the command that made the folder `rows`
};

TEST_F(WarpRowsTest, GeneratesVerifiedRowsThatContainCodeOfWarp) {
  const std::vector<json> rows = lines_of("gzip -dc rows/data/*.gz");
  ASSERT_EQ(rows.size(), 20U);
  for (const json& row : rows) {
    EXPECT_EQ(row.at("metadata").at("emitter"), "warp");
    EXPECT_THAT(row.at("metadata").at("emitter_version").get<std::string>(), HasSubstr("."));
    EXPECT_THAT(row.at("cpu_forward").get<std::string>(), HasSubstr("_cpu_kernel_forward("));
    EXPECT_THAT(row.at("cpu_source").get<std::string>(), HasSubstr(row.at("cpu_forward").get<std::string>()));
    EXPECT_THAT(row.at("cuda_forward").get<std::string>(), HasSubstr("_cuda_kernel_forward("));
    EXPECT_THAT(row.at("cuda_source").get<std::string>(), HasSubstr("__global__"));
    std::string verdicts;
    for (const json& one : row.at("evidence"))
      verdicts += one.at("device").get<std::string>() + " " + one.at("verdict").get<std::string>() + "\n";
    EXPECT_THAT(verdicts, AllOf(HasSubstr("warp-cpu pass"), HasSubstr("warp-ptx not_run"), Not(HasSubstr("\ncuda"))));
    // Each line of the kernel occurs as a comment in the code.
    std::string python = row.at("python_source");
    python = python.substr(python.rfind("wp.tid()"));
    python = python.substr(python.find('\n') + 1);
    const std::string statement = python.substr(python.find_first_not_of(" \n"));
    EXPECT_THAT(row.at("cpu_forward").get<std::string>(), HasSubstr("// " + statement.substr(0, statement.find('\n'))));
  }
  EXPECT_THAT(workshop_.read("rows/README.md"), HasSubstr("the code that NVIDIA Warp"));
  EXPECT_THAT(workshop_.read("rows/journal.jsonl"), HasSubstr("\"emitter\":\"warp\""));
}

TEST_F(WarpRowsTest, QuarantinesKernelsWithIncorrectGradients) {
  std::size_t gradients = 0;
  for (const json& rejected : lines_of("cat rows/quarantine/quarantine.jsonl")) {
    if (rejected.at("verdict") != "fail(wrong_gradient)" && rejected.at("verdict") != "fail(convention)") continue;
    ++gradients;
    EXPECT_THAT(rejected.at("message").get<std::string>(), HasSubstr("likely cause: "));
    const json& record = rejected.at("records").back();
    ASSERT_FALSE(record.at("failures").empty()) << record.dump(1);
    for (const char* value : {"expected", "got"})
      EXPECT_TRUE(record.at("failures").front().contains(value)) << record.at("failures").front().dump(1);
  }
  EXPECT_GT(gradients, 0U);
}

TEST_F(WarpRowsTest, SameOptionsGiveSameFiles) {
  const std::string few = "assay generate --emitter warp --no-verify --families loop,arithmetic --count 40 --seed 3";
  expect_status(0, few + " --jobs 1 --output one");
  expect_status(0, few + " --jobs 2 --output two");
  expect_status(0, "diff -r -x stats.json one two");
  expect_status(0, few + " --shard 0/2 --output part0");
  expect_status(0, few + " --shard 1/2 --output part1");
  expect_status(0, "assay dataset merge part0 part1 --output whole");
  expect_status(0, "diff -r -x stats.json one whole");
  expect_status(0, kGenerate + " --jobs 2 --resume --output rows");
}

TEST_F(WarpRowsTest, ValidateCommandRegeneratesCodeOfWarp) {
  EXPECT_THAT(expect_status(0, "assay validate rows").out, HasSubstr("0 errors, 0 warnings"));
  EXPECT_THAT(expect_status(0, "assay validate rows --rebuild 2").out, HasSubstr("2 rows judged again"));

  write_changed("changed.jsonl", [](json& row) {
    std::string text = row.at("cuda_source");
    text.replace(text.find("wp::adj_array_store("), 10, "wp::adj_other");
    row["cuda_source"] = text;
  });
  const std::string found = expect_status(1, "assay validate changed.jsonl").out;
  EXPECT_THAT(found, AllOf(HasSubstr("/cuda_source: found"), HasSubstr("generated by Warp from python_source")));
  EXPECT_THAT(found, HasSubstr("1 error, "));

  write_changed("older.jsonl", [](json& row) {
    row["metadata"]["emitter_version"] = "1.14.0";
    row["cuda_source"] = "// of Warp 1.14\n";
  });
  EXPECT_THAT(expect_status(0, "assay validate older.jsonl").out,
              AllOf(HasSubstr("warning: older.jsonl: found code of Warp 1.14.0 in 1 rows"),
                    HasSubstr("0 errors, 1 warning\n")));
}

/// A Python in which the packages `warp` and `numpy` have this text, and Warp this version.
void write_fake_warp(const Workshop& workshop, const std::string& version, const std::string& warp) {
  workshop.write("packages/warp_lang-" + version + ".dist-info/METADATA",
                 "Metadata-Version: 2.1\nName: warp-lang\nVersion: " + version + "\n");
  workshop.write("packages/warp/__init__.py", warp);
  workshop.write("packages/numpy/__init__.py", "class ndarray:\n    pass\n\n\nclass generic:\n    pass\n");
  workshop.write("python",
                 "#!/bin/sh\nPYTHONPATH='" + (workshop.path() / "packages").string() + "' exec python3 \"$@\"\n");
  const CommandResult made = workshop.run("chmod +x python");
  ASSERT_EQ(made.status, 0) << made.err;
  workshop.write("scale.py",
                 "import warp as wp\n\n\n@wp.kernel\ndef scale(x: wp.array(dtype=float), out: wp.array(dtype=float)):\n"
                 "    i = wp.tid()\n    out[i] = 2.0 * x[i]\n");
}

/// The lines of the output that contain a word.
std::vector<std::string> lines_with(const std::string& text, const std::string& word) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (line.find(word) != std::string::npos) lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

struct UnusableWarp {
  const char* name;
  const char* version;
  const char* package;  ///< text of warp/__init__.py
  const char* message;
};

class UnusableWarpTest : public ::testing::TestWithParam<UnusableWarp> {};

constexpr const char* kTypes = "class array:\n    pass\n\n\nclass config:\n    pass\n\n\nLOG_ERROR = 40\n\n\n";

INSTANTIATE_TEST_SUITE_P(
    Packages, UnusableWarpTest,
    ::testing::Values(
        UnusableWarp{"UnsupportedVersion", "1.14.0", "",
                     "Warp 1.14.0 is not supported; install a version from 1.15 to "},
        UnusableWarp{"NewerVersion", "2.0.1", "", "Warp 2.0.1 is not supported; install a version from 1.15 to 1.19"},
        UnusableWarp{"NoNativeLibrary", "1.19.0",
                     "def init():\n    raise RuntimeError(\"Failed to load the shared library 'warp.so'\")\n",
                     "Warp cannot start: RuntimeError: Failed to load the shared library 'warp.so'"},
        UnusableWarp{"BrokenPackage", "1.19.0", "import warp.no_such_module\n",
                     "Warp cannot start: ModuleNotFoundError: No module named 'warp.no_such_module'"},
        UnusableWarp{"CrashesAtStart", "1.19.0", "import os\n\n\ndef init():\n    os.abort()\n",
                     "Warp was killed by signal 6 when it started"}),
    [](const auto& test) { return test.param.name; });

TEST_P(UnusableWarpTest, ReportsReasonOnceAndMakesEveryCaseUnsupported) {
  const Workshop workshop(ASSAY_PROGRAM);
  write_fake_warp(workshop, GetParam().version, std::string(kTypes) + GetParam().package);
  for (const std::string device : {"warp-cpu", "warp-ptx"}) {
    const CommandResult ran = workshop.run("ASSAY_WARP_PYTHON=$PWD/python assay run scale.py --device " + device);
    EXPECT_EQ(ran.status, 77) << device << "\n" << ran.out << ran.err;
    const std::vector<std::string> lines = lines_with(ran.out + ran.err, GetParam().message);
    EXPECT_EQ(lines.size(), 1U) << device << "\n" << ran.out << ran.err;
  }
}

TEST(WarpCommands, RebuildDamagedFilesOfTheKernelCache) {
  const Workshop workshop(ASSAY_PROGRAM);
  workshop.write("scale.py",
                 "import warp as wp\n\n\n@wp.kernel\ndef scale(x: wp.array(dtype=float), out: wp.array(dtype=float)):\n"
                 "    i = wp.tid()\n    out[i] = 2.0 * x[i]\n");
  for (const std::string device : {"warp-cpu", "warp-ptx"}) {
    const std::string run = "XDG_CACHE_HOME=$PWD/cache assay run scale.py --quick --fresh --device " + device;
    const CommandResult first = workshop.run(run);
    if (first.status == 77) GTEST_SKIP() << first.out;
    ASSERT_EQ(first.status, 0) << first.out << first.err;
    const CommandResult damage = workshop.run(
        "for file in $(find cache -name '*.o' -o -name '*.ptx'); do head -c 100 $file > short; cp short $file; done");
    ASSERT_EQ(damage.status, 0) << damage.err;
    const CommandResult second = workshop.run(run);
    EXPECT_EQ(second.status, 0) << device << "\n" << second.out << second.err;
  }
}

TEST(WarpCommands, JudgeBackwardPasses) {
  const Workshop workshop(ASSAY_PROGRAM);
  const auto backward = [&](const std::string& selector) {
    return workshop.run("assay run " + selector +
                        " --random 0 --quick --fresh --reduce 0 --blame 0 --pass backward --device warp-cpu");
  };
  const CommandResult replay = backward("function/custom_replay");
  if (replay.status == 77) GTEST_SKIP() << replay.out;
  EXPECT_EQ(replay.status, 0) << replay.out << replay.err;
  const CommandResult number = backward("tile/block_sum");
  EXPECT_EQ(number.status, 0) << number.out << number.err;
  EXPECT_THAT(backward("tile/diagonal").out, HasSubstr("fail(wrong_gradient)  tile/diagonal"));
  EXPECT_THAT(backward("transform/set_functions").out, HasSubstr("fail(wrong_gradient)  transform/set_functions"));
}

TEST(WarpCommands, ReportUnusableKernelCache) {
  const Workshop workshop(ASSAY_PROGRAM);
  workshop.write("scale.py",
                 "import warp as wp\n\n\n@wp.kernel\ndef scale(x: wp.array(dtype=float)):\n"
                 "    x[wp.tid()] = 2.0\n");
  workshop.write("cache/assay/warp", "a file in place of the folder\n");
  for (const std::string device : {"warp-cpu", "warp-ptx"}) {
    const CommandResult ran = workshop.run("XDG_CACHE_HOME=$PWD/cache assay run scale.py --fresh --device " + device);
    EXPECT_EQ(ran.status, 77) << ran.out << ran.err;
    if (ran.out.find("Python has no Warp") != std::string::npos) GTEST_SKIP() << ran.out;
    EXPECT_EQ(lines_with(ran.out + ran.err, "cache/assay/warp: cannot create the folder").size(), 1U)
        << ran.out << ran.err;
  }
}

TEST(WarpCommands, MakeRowsOfTheKernelsOfPackage) {
  const Workshop workshop(ASSAY_PROGRAM);
  const std::string header = "# SPDX-FileCopyrightText: Copyright 2024 Ada\n# SPDX-License-Identifier: MIT\n";
  const std::string kernel =
      "import warp as wp\n\nFACTOR = 3.0\n\n\n@wp.kernel\ndef scale(x: wp.array(dtype=float), out: "
      "wp.array(dtype=float)):\n    i = wp.tid()\n    out[i] = FACTOR * x[i]\n";
  workshop.write("waves/__init__.py", "");
  workshop.write("waves/core.py", header + kernel);
  workshop.write(
      "waves/order.py",
      "import warp as wp\n\n\n@wp.kernel\ndef arrival(count: wp.array(dtype=int), out: wp.array(dtype=int)):\n"
      "    out[wp.tid()] = wp.atomic_add(count, 0, 1)\n");
  workshop.write("waves/twice.py", kernel);
  const std::string generate = "assay generate --import --module 'waves.*' --device cpu --quick --output ";
  const CommandResult made = workshop.run(generate + "rows");
  if (made.err.find("this Python has no Warp") != std::string::npos) GTEST_SKIP() << made.err;
  ASSERT_EQ(made.status, 0) << made.out << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("1 row in rows"), HasSubstr("quarantine: 1 inconclusive(race)"),
                              HasSubstr("duplicates left out: 1\n")));
  const CommandResult listed = workshop.run("gzip -dc rows/data/*.gz");
  json row = json::parse(listed.out.substr(0, listed.out.find('\n')));
  EXPECT_EQ(row.at("origin").at("file"), "waves/core.py");
  EXPECT_EQ(row.at("origin").at("attribution"), "waves, Copyright 2024 Ada, MIT");
  EXPECT_EQ(row.at("metadata").at("license"), "MIT");
  EXPECT_THAT(row.at("python_source").get<std::string>(),
              AllOf(HasSubstr("# source: waves/core.py:9\n"), HasSubstr("FACTOR = 3.0")));
}

TEST(WarpCommands, ReportMissingWarp) {
  const Workshop workshop(ASSAY_PROGRAM);
  for (const std::string options : {"", " --no-verify"}) {
    const CommandResult ran =
        workshop.run("ASSAY_WARP_PYTHON=/bin/true assay generate --emitter warp --count 1 --output rows" + options);
    EXPECT_EQ(ran.status, 77) << ran.out << ran.err;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("/bin/true: Python has no Warp"), HasSubstr("run ci/setup-warp")));
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  }
}

TEST(WarpCommands, RejectDevicesThatCannotRunCodeOfTheChosenEmitter) {
  const Workshop workshop(ASSAY_PROGRAM);
  const CommandResult cpu = workshop.run("assay generate --emitter warp --device cpu --count 1 --output rows");
  EXPECT_EQ(cpu.status, 2) << cpu.out;
  EXPECT_THAT(cpu.err, HasSubstr("device 'cpu' does not run code of the emitter 'warp'; expected one or more of "
                                 "warp-cpu, warp-ptx"));
  const CommandResult warp = workshop.run("assay generate --device warp-cpu --count 1 --output rows");
  EXPECT_EQ(warp.status, 2) << warp.out;
  EXPECT_THAT(warp.err, HasSubstr("device 'warp-cpu' does not run code of the emitter 'assay'"));
}

}  // namespace
}  // namespace assay::cli
