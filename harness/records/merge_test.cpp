// Merging several runs into one: the result, and the rejected inputs.
#include "harness/records/merge.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "harness/records/record_reader.hpp"
#include "harness/records/record_writer.hpp"

namespace assay::harness {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MergeTest : public ::testing::Test {
 protected:
  ~MergeTest() override { fs::remove_all(dir_); }

  static RunStart start(int index, int of) {
    return {.run_id = fmt::format("r{}", index),
            .start_time = fmt::format("2026-11-21T03:47:{:02}Z", 10 - index),
            .environment = {.devices = {{.name = "cuda", .is_available = true, .description = "NVIDIA H200"}}},
            .inputs_hash = std::string(64, 'a'),
            .shard = {.index = index, .shard_count = of},
            .planned_case_names = {fmt::format("loop/k{}/f32/cuda/forward", index)}};
  }

  fs::path write(const RunStart& start, bool finished = true) const {
    const fs::path dir = dir_ / start.run_id;
    Result<RecordWriter> writer = RecordWriter::create(dir, start);
    EXPECT_TRUE(writer.ok());
    if (!finished) return dir;
    for (const std::string& name : start.planned_case_names) {
      CaseRecord record = record_of(name);
      record.outcome = Outcome::pass;
      record.judging_times = JudgingTimes{.job_index = 1, .batch_start_ms = 5, .decided_at_ms = 20};
      EXPECT_TRUE(writer->append(record).ok());
    }
    EXPECT_TRUE(writer->finish(fmt::format("2026-11-21T03:48:{:02}Z", start.shard.index), 50 + start.shard.index).ok());
    return dir;
  }

  std::string rejection_of(const std::vector<fs::path>& parts) const {
    const Result<void> merged = merge_records(parts, dir_ / "out");
    EXPECT_FALSE(merged.ok());
    EXPECT_FALSE(fs::exists(dir_ / "out"));
    return merged.ok() ? "" : merged.error().text();
  }

  fs::path dir_ = fs::temp_directory_path() / fmt::format("assay-merge-{}", ::getpid());
};

TEST_F(MergeTest, MergesShardsIntoOneRun) {
  const Result<void> merged = merge_records({write(start(1, 2)), write(start(2, 2))}, dir_ / "out");
  ASSERT_TRUE(merged.ok()) << merged.error().text();
  const Result<RunRecords> run = read_records(dir_ / "out");
  ASSERT_TRUE(run.ok()) << run.error().text();
  EXPECT_THAT(run->start.planned_case_names, ElementsAre("loop/k1/f32/cuda/forward", "loop/k2/f32/cuda/forward"));
  EXPECT_EQ(run->start.start_time, "2026-11-21T03:47:08Z");
  EXPECT_EQ(run->start.shard, Shard{});
  ASSERT_TRUE(run->end);
  EXPECT_EQ(run->end->end_time, "2026-11-21T03:48:02Z");
  EXPECT_EQ(run->end->wall_time_seconds, 52);
  EXPECT_EQ(run->exit_status(), ExitStatus::as_expected);
  ASSERT_TRUE(run->cases.at(0).judging_times && run->cases.at(1).judging_times);
  EXPECT_EQ(*run->cases[0].judging_times, (JudgingTimes{.job_index = 1, .batch_start_ms = 1005, .decided_at_ms = 1020}))
      << "started a second later";
  EXPECT_EQ(*run->cases[1].judging_times, (JudgingTimes{.job_index = 3, .batch_start_ms = 5, .decided_at_ms = 20}));
}

TEST_F(MergeTest, MergedRunIsUnfinishedIfAShardIsUnfinished) {
  ASSERT_TRUE(merge_records({write(start(1, 2), false), write(start(2, 2))}, dir_ / "out").ok());
  const Result<RunRecords> run = read_records(dir_ / "out");
  ASSERT_TRUE(run.ok());
  EXPECT_FALSE(run->end);
  EXPECT_EQ(run->exit_status(), ExitStatus::unexpected);
}

TEST_F(MergeTest, RejectsInputsOfDifferentRuns) {
  const fs::path first = write(start(1, 3));
  const fs::path second = write(start(2, 3));
  EXPECT_THAT(rejection_of({first, second}), HasSubstr("shard 3 of 3 is missing"));
  EXPECT_THAT(rejection_of({first, first}), HasSubstr("contains case loop/k1/f32/cuda/forward, which"));

  RunStart other = start(3, 3);
  other.environment.devices[0].description = "NVIDIA A100";
  EXPECT_THAT(rejection_of({first, second, write(other)}),
              HasSubstr("device cuda is 'NVIDIA H200, ' in one run and 'NVIDIA A100, ' in the other"));
  other = start(3, 3);
  other.inputs_hash[0] = 'b';
  EXPECT_THAT(rejection_of({first, second, write(other)}), HasSubstr("the selected kernels"));
  EXPECT_THAT(rejection_of({first, second, write(start(3, 4))}),
              HasSubstr("is shard 3 of 4, but the first input is a shard of 3"));
  EXPECT_THAT(merge_records({first, second}, first).error().text(), HasSubstr("is both an input and the output"));
  EXPECT_THAT(rejection_of({first, dir_ / "nowhere"}), HasSubstr("cannot read records"));
}

}  // namespace
}  // namespace assay::harness
