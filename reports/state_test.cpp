#include "reports/state.hpp"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "reports/testing/synthetic_run.hpp"

namespace assay::reports {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::synthetic_run;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  EXPECT_TRUE(stream.is_open()) << file;
  return {std::istreambuf_iterator<char>(stream), {}};
}

class CudaStateTest : public ::testing::Test {
 protected:
  CudaStateTest() : dir_(fs::temp_directory_path() / fmt::format("assay-state-{}", ::getpid())) {
    fs::create_directories(dir_);
  }
  ~CudaStateTest() override { fs::remove_all(dir_); }

  static Result<void> update(ProjectState& state, const reports::Run& run) {
    return update_state(state, run, summarize(run));
  }

  fs::path dir_;
};

ProjectState empty_state() { return {.phase = "first", .next_action = "run", .blockers = {"no GPU available"}}; }

// The committed page must match the committed state. Run `assay state` to update it.
TEST(CommittedCudaState, PageMatchesStateFile) {
  const Result<ProjectState> state = read_state(ASSAY_SOURCE_DIR "/conformance/state.json");
  ASSERT_TRUE(state.ok()) << state.error().text();
  EXPECT_EQ(text_of(ASSAY_SOURCE_DIR "/CUDA_STATE.md"), state_page(*state)) << "stale: run `assay state`";
}

TEST_F(CudaStateTest, PageMatchesGoldenFile) {
  ProjectState state = empty_state();
  ASSERT_TRUE(update(state, synthetic_run({})).ok());
  EXPECT_EQ(state_page(state), text_of(ASSAY_SOURCE_DIR "/testdata/reports/cuda_state.md"));
}

TEST_F(CudaStateTest, UpdatingTwiceWithSameRunChangesNothing) {
  ProjectState state = empty_state();
  const reports::Run run = synthetic_run({});
  ASSERT_TRUE(update(state, run).ok());
  const ProjectState once = state;
  ASSERT_TRUE(update(state, run).ok());
  EXPECT_EQ(state, once);
}

TEST_F(CudaStateTest, StateRoundTripsThroughFile) {
  ProjectState state = empty_state();
  ASSERT_TRUE(update(state, synthetic_run({})).ok());
  ASSERT_TRUE(write_state(dir_ / "state.json", state).ok());
  const Result<ProjectState> read = read_state(dir_ / "state.json");
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(*read, state);
}

TEST_F(CudaStateTest, UnsupportedCasesAreNotRecorded) {
  ProjectState state = empty_state();
  ASSERT_TRUE(update(state, synthetic_run({})).ok());
  for (const LatestRunResult& cell : state.latest_results)
    EXPECT_EQ(cell.device, "cpu");
  EXPECT_THAT(state_page(state), HasSubstr("No kernel has run on a GPU yet."));
}

TEST_F(CudaStateTest, OlderRunDoesNotReplaceNewerRun) {
  ProjectState state = empty_state();
  const reports::Run run = synthetic_run({});
  ASSERT_TRUE(update(state, run).ok());
  const ProjectState newer = state;
  reports::Run older = run;
  older.start["run_id"] = "20200101T000000Z-00000000";
  older.start["started"] = "2020-01-01T00:00:00Z";
  ASSERT_TRUE(update(state, older).ok());
  EXPECT_EQ(state.latest_results, newer.latest_results);
  EXPECT_EQ(state.run_log.front().run_date, "2020-01-01") << "the log is in the order of the runs";
}

TEST_F(CudaStateTest, ShowsDateAndToolkitOfGpuRun) {
  reports::Run run = synthetic_run({.kernels_per_family = 1, .failures = false});
  run.start["environment"]["devices"][1]["toolkit"] = "NVRTC 12.8 | <b>";
  run.start["environment"]["devices"][1]["description"] = "NVIDIA H200, sm_90";
  for (nlohmann::json& record : run.cases) {
    if (record.at("device") == "cuda") record["outcome"] = "pass";
  }
  ProjectState state = empty_state();
  ASSERT_TRUE(update(state, run).ok());
  const std::string page = state_page(state);
  EXPECT_THAT(page,
              HasSubstr("Kernels last ran on a GPU on 2026-11-21, with NVRTC 12.8 \\| &lt;b> on NVIDIA H200, sm_90."));
  EXPECT_THAT(page, HasSubstr("| 1 of 1 pass; 2026-11-21, NVRTC 12.8 \\| &lt;b> on NVIDIA H200, sm_90 | never ran |"));
}

TEST_F(CudaStateTest, RejectsRunOnFakeGpu) {
  reports::Run run = synthetic_run({.failures = false});
  run.start["environment"]["devices"][1]["description"] = "fake GPU (PTX executed on the CPU), sm_75";
  ProjectState state = empty_state();
  EXPECT_THAT(update(state, run).error().text(), HasSubstr("used a fake GPU"));
  EXPECT_EQ(state, empty_state());
}

TEST_F(CudaStateTest, RejectsUnfinishedOrEmptyRun) {
  ProjectState state = empty_state();
  EXPECT_THAT(update(state, synthetic_run({.finished = false})).error().text(), HasSubstr("the run did not finish"));
  reports::Run run = synthetic_run({.failures = false});
  for (nlohmann::json& record : run.cases)
    record["outcome"] = "unsupported";
  EXPECT_THAT(update(state, run).error().text(), HasSubstr("no supported case ran"));
  EXPECT_EQ(state, empty_state());
}

TEST_F(CudaStateTest, RejectsFileThatViolatesSchema) {
  std::ofstream(dir_ / "state.json") << R"({"schema_version": "1.0.0"})";
  EXPECT_THAT(read_state(dir_ / "state.json").error().text(), HasSubstr("expected the member"));
}

}  // namespace
}  // namespace assay::reports
