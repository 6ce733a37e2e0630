// Writes and reads failure folders.
#include "harness/reduce/failure.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/reduce/failure_folder.hpp"
#include "harness/reduce/failure_values.hpp"
#include "harness/testing/kernel_text.hpp"

namespace assay::reduce {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FailureFolder : public ::testing::Test {
 protected:
  FailureFolder()
      : root_(fs::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(root_);
  }
  ~FailureFolder() override { fs::remove_all(root_); }

  static Failure failure() {
    return {.name = "user/wave.step/f32/cpu/backward/O2",
            .kernel = "step",
            .failure_class = {.outcome = harness::Outcome::fail,
                              .outcome_detail = "mismatch",
                              .mismatched_array = "grad_x",
                              .normalized_message = ""},
            .message = "grad_x[3] is 1, expected \"2\"",
            .conditions = {.device = "cpu",
                           .pass = "backward",
                           .mode = "O2",
                           .judging_effort = "thorough",
                           .seed = 18'446'744'073'709'551'615U,
                           .compiler = "/opt/c++",
                           .disabled_checks = {"races"}},
            .reduction_summary = ReductionSummary{.message = "m",
                                                  .judging_effort = "quick",
                                                  .statements_before = 90,
                                                  .statements_after = 2,
                                                  .candidate_count = 40,
                                                  .seconds = 1.5,
                                                  .is_minimal = true}};
  }
  static std::string text_of(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  fs::path root_;
};

TEST_F(FailureFolder, FailureAndSourceFilesRoundTripThroughFolder) {
  const fs::path folder = root_ / "failures" / folder_name(failure().name);
  EXPECT_EQ(folder.filename(), "user.wave.step.f32.cpu.backward.O2");
  ASSERT_TRUE(
      write_failure_folder(folder, failure(), {{".py", "k"}, {".cpp", "c"}, {".ptx", ""}}, Evidence{{".py", "r"}})
          .ok());
  const Result<Failure> read = read_failure(folder);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(to_json(*read), to_json(failure()));
  EXPECT_EQ(read->failure_class, failure().failure_class);
  EXPECT_EQ(read->conditions.parsed_pass(), backends::Pass::kBackward);
  EXPECT_EQ(read->conditions.policy().input_sets(), harness::JudgingPolicy::thorough().input_sets());
  EXPECT_EQ(text_of(folder / "kernel.cpp"), "c");
  EXPECT_EQ(read_evidence(folder, "reduced"), (Evidence{{".py", "r"}}));
  EXPECT_FALSE(fs::exists(folder / "kernel.ptx")) << "empty evidence must not be written";
  EXPECT_NE(fs::status(folder / "reproduce.sh").permissions() & fs::perms::owner_exec, fs::perms::none);
  EXPECT_THAT(text_of(folder / "reproduce.sh"), HasSubstr("fail(mismatch) in grad_x"));
}

TEST_F(FailureFolder, ScriptHasNoLineFromNameOfCase) {
  Failure failure = FailureFolder::failure();
  failure.name = "user/x\ntouch PWNED; exit 0 #/step/f32/cpu/forward";
  ASSERT_TRUE(write_failure_folder(root_ / "f", failure, {}, std::nullopt).ok());
  EXPECT_THAT(text_of(root_ / "f" / "reproduce.sh"),
              HasSubstr("\n# user/x touch PWNED; exit 0 #/step/f32/cpu/forward\n"));
}

TEST_F(FailureFolder, IsReplacedAtomically) {
  ASSERT_TRUE(write_failure_folder(root_ / "f", failure(), {{".cpp", "old"}}, std::nullopt).ok());
  ASSERT_TRUE(write_failure_folder(root_ / "f", failure(), {{".cu", "new"}}, std::nullopt).ok());
  EXPECT_FALSE(fs::exists(root_ / "f" / "kernel.cpp"));
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), {}), 1) << "no partial folder may remain";
}

TEST_F(FailureFolder, OmitsFilesAboveSizeLimit) {
  const Evidence large{{".cpp", std::string(kMaxEvidenceFileBytes + 1, ' ')}, {".py", "k"}};
  ASSERT_TRUE(write_failure_folder(root_ / "f", failure(), large, std::nullopt).ok());
  EXPECT_FALSE(fs::exists(root_ / "f" / "kernel.cpp"));
  EXPECT_TRUE(fs::exists(root_ / "f" / "kernel.py"));
}

TEST_F(FailureFolder, ReportsWriteErrors) {
  fs::create_directories(root_);
  std::ofstream(root_ / "file") << "no folder";
  const Result<void> put = write_failure_folder(root_ / "file" / "f", failure(), {}, std::nullopt);
  ASSERT_FALSE(put.ok());
  EXPECT_THAT(put.error().text(), HasSubstr("file"));
}

TEST_F(FailureFolder, ReportsReadErrors) {
  EXPECT_THAT(read_failure(root_).error().text(), HasSubstr("expected a failure folder"));
  const std::string good = to_json(failure());
  fs::create_directories(root_);
  for (const std::string& bad :
       {std::string("no json"), std::string("{}"), std::string(good).replace(good.find('1'), 1, "9"),
        std::string(good).replace(good.find("\"fail\""), 6, "\"fial\"")}) {
    std::ofstream(root_ / kFailureFileName) << bad;
    const Result<Failure> read = read_failure(root_);
    ASSERT_FALSE(read.ok()) << bad;
    EXPECT_THAT(read.error().text(), HasSubstr("failure.json"));
  }
}

TEST(CounterexampleValues, AreWrittenInHexadecimal) {
  const harness::KernelSource source = harness::testing::kernel_of(
      "@wp.kernel\ndef k(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):\n    i = wp.tid()\n"
      "    out[i] = x[i]\n");
  const ir::Module& module = *source.module;
  harness::Counterexample counterexample{
      .input_set_index = 2, .precision = backends::Precision::kPromoted, .threads = 2};
  counterexample.launch_arguments.push_back(
      {.name = "x", .content = ir::make_argument(module, ir::kF32.array_of(1), {2})});
  ir::write_float(ir::Scalar::kF32, counterexample.launch_arguments[0].content.bytes.data() + 4, 0.75);
  counterexample.launch_arguments.push_back({.name = "n", .content = ir::make_argument(module, ir::kI32)});
  ir::write_integer(ir::Scalar::kI32, counterexample.launch_arguments[1].content.bytes.data(), -3);
  counterexample.array_name = "out";
  counterexample.got = {{.value = 1}, {.value = 0.5}};
  counterexample.expected = {{.value = 1, .bound = 0.25}, {.value = 0.75L, .bound = 0x1p-20}};
  const nlohmann::json json = nlohmann::json::parse(values_json(module, counterexample));
  EXPECT_EQ(json, nlohmann::json::parse(R"({"input_set": 2, "lane": "lift", "threads": 2,
      "given": [{"name": "x", "type": "array<f32,1>", "shape": [2], "values": ["0x0p+0", "0x1.8p-1"]},
                {"name": "n", "type": "i32", "values": [-3]}],
      "compared": {"array": "out", "differing": [1], "actual": ["0x1p+0", "0x1p-1"],
                   "expected": ["0x1p+0", "0x1.8p-1"], "bound": ["0x1p-2", "0x1p-20"]}})"));
}

TEST(CounterexampleValues, ReportNumberOfOmittedValues) {
  const harness::KernelSource source =
      harness::testing::kernel_of("@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    i = wp.tid()\n    x[i] = 1.0\n");
  harness::Counterexample counterexample;
  counterexample.launch_arguments.push_back(
      {.name = "x",
       .content = ir::make_argument(*source.module, ir::kF32.array_of(1),
                                    {static_cast<std::int32_t>(kMaxValuesPerArray) + 5})});
  const nlohmann::json json = nlohmann::json::parse(values_json(*source.module, counterexample));
  EXPECT_EQ(json["given"][0]["values"].size(), kMaxValuesPerArray);
  EXPECT_EQ(json["given"][0]["left_out"], 5);
  EXPECT_FALSE(json.contains("compared"));
}

}  // namespace
}  // namespace assay::reduce
