// Partial runs: merged shards, --failed-in, --repeat and --resume.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing/command_runner.hpp"
#include "harness/records/record_reader.hpp"

namespace assay::cli {
namespace {

using testing::CommandResult;
using ::testing::HasSubstr;
using testing::Workshop;

class PartialRunTest : public ::testing::Test {
 protected:
  harness::RunRecords records(const std::string& dir) const {
    auto run = harness::read_records(workshop_.path() / dir);
    EXPECT_TRUE(run.ok()) << run.error().text();
    return run.take();
  }

  Workshop workshop_{ASSAY_PROGRAM};
};

TEST_F(PartialRunTest, MergedShardsEqualUnshardedRun) {
  const std::string run = "assay run loop --random 4 --quick --pass forward ";
  ASSERT_EQ(workshop_.run(run + "--output whole").status, 0);
  for (const std::string shard : {"1", "2", "3"})
    ASSERT_EQ(workshop_.run(run + "--shard " + shard + "/3 --output part" + shard).status, 0);
  const CommandResult merged = workshop_.run("assay report part1 part2 part3 --merge --output merged");
  EXPECT_EQ(merged.status, 0) << merged.err;
  EXPECT_GT(records("part1").cases.size(), 2U);
  const CommandResult compared = workshop_.run("assay compare whole merged");
  EXPECT_EQ(compared.status, 0) << compared.out;
  EXPECT_THAT(compared.out, HasSubstr(std::to_string(records("whole").cases.size()) + " the same"));
  EXPECT_EQ(workshop_.run("assay report part1 part3 --merge --output partly").err,
            "assay: error: shard 2 of 3 is missing\n");
}

TEST_F(PartialRunTest, RerunsOnlyCasesThatFailedInEarlierRun) {
  workshop_.write("two.py",
                  "import warp as wp\n\n\n@wp.kernel\n"
                  "def scale(x: wp.array(dtype=float), out: wp.array(dtype=float)):\n"
                  "    i = wp.tid()\n    out[i] = 2.0 * x[i]\n\n\n@wp.kernel\n"
                  "def races(x: wp.array(dtype=float), out: wp.array(dtype=float)):\n"
                  "    i = wp.tid()\n    out[0] = x[i]\n");
  ASSERT_EQ(workshop_.run("assay run two.py loop/r2_3 --quick --pass forward").status, 1);
  EXPECT_EQ(workshop_.run("assay run --failed-in out --quick --output again").status, 1);
  const harness::RunRecords again = records("again");
  ASSERT_EQ(again.cases.size(), 1U);
  EXPECT_EQ(again.cases[0].name, "user/two.races/f32/cpu/forward");
  ASSERT_EQ(workshop_.run("sed -i 's/out.0. =/out[i] =/' two.py").status, 0);
  ASSERT_EQ(workshop_.run("assay run --failed-in out --quick --output again").status, 0);
  const CommandResult nothing = workshop_.run("assay run --failed-in again");
  EXPECT_EQ(nothing.status, 4);
  EXPECT_THAT(nothing.err, HasSubstr("nothing failed on the device cpu in again"));
}

TEST_F(PartialRunTest, RepeatOptionRecordsOutcomeOfEachAttempt) {
  ASSERT_EQ(workshop_.run("assay run loop/r2_1 --quick --pass forward --repeat 3").status, 0);
  EXPECT_EQ(records("out").cases.at(0).attempt_outcomes.size(), 3U);
}

TEST_F(PartialRunTest, ResumingAFinishedRunChangesNothing) {
  const std::string run = "assay run loop/r2_1 --quick";
  ASSERT_EQ(workshop_.run(run + " --resume").status, 0) << "--resume without an earlier run starts one";
  const std::string before = workshop_.read("out/records.jsonl");
  EXPECT_EQ(workshop_.run(run + " --resume").status, 0);
  EXPECT_EQ(workshop_.read("out/records.jsonl"), before);
  const CommandResult other = workshop_.run(run + " --resume --seed 2");
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("cannot be resumed: the seed is '1' in one run and '2' in the other"));
  EXPECT_EQ(workshop_.read("out/records.jsonl"), before);
}

}  // namespace
}  // namespace assay::cli
