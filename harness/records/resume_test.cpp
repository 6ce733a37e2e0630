// Resuming the records of a run that was interrupted at any point.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "harness/records/record_json.hpp"
#include "harness/records/record_reader.hpp"
#include "harness/records/record_writer.hpp"

namespace assay::harness {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ResumeTest : public ::testing::Test {
 protected:
  ~ResumeTest() override { fs::remove_all(dir_); }

  static RunStart start() {
    return {
        .run_id = "r",
        .start_time = "2026-11-21T03:47:02Z",
        .environment = {.compiler = "g++", .devices = {{.name = "cpu", .is_available = true, .description = "EPYC"}}},
        .inputs_hash = std::string(64, 'a'),
        .shard = {.index = 2, .shard_count = 3},
        .expectations = {{.location = "w.csv:2", .pattern = "loop", .outcome = "fail", .message = "*"}},
        .planned_case_names = {"loop/a/f32/cpu/forward", "loop/b/f32/cpu/forward"}};
  }
  static CaseRecord record(const std::string& name) {
    CaseRecord made = record_of(name);
    made.outcome = Outcome::pass;
    made.selector = "loop/" + made.kernel;
    made.attempt_outcomes = {Outcome::pass};
    return made;
  }
  static void finish(RecordWriter& writer) {
    for (const std::string& name : start().planned_case_names) {
      if (!writer.is_pending(name)) continue;
      ASSERT_TRUE(writer.append(record(name)).ok());
    }
    ASSERT_TRUE(writer.finish("2026-11-21T03:48:00Z", 58).ok());
  }
  std::string text() const {
    std::ifstream stream(dir_ / kRecordsFileName, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  fs::path dir_ = fs::temp_directory_path() / fmt::format("assay-resume-{}", ::getpid());
};

TEST_F(ResumeTest, ResumedRunWritesSameBytesAsUninterruptedRun) {
  {
    Result<RecordWriter> whole = RecordWriter::create(dir_, start());
    ASSERT_TRUE(whole.ok());
    finish(*whole);
  }
  const std::string expected = text();
  for (std::size_t cut = expected.size() % 13; cut <= expected.size(); cut += 13) {
    std::ofstream(dir_ / kRecordsFileName, std::ios::binary | std::ios::trunc) << expected.substr(0, cut);
    Result<RecordWriter> resumed = RecordWriter::resume(dir_, start());
    ASSERT_TRUE(resumed.ok()) << resumed.error().text();
    finish(*resumed);
    ASSERT_EQ(text(), expected) << "cut after " << cut << " bytes";
  }
}

TEST_F(ResumeTest, RejectsRecordsOfAnotherRunWithoutChangingThem) {
  ASSERT_TRUE(RecordWriter::create(dir_, start()).ok());
  const std::string before = text();
  const auto rejection_of = [&](auto change) {
    RunStart other = start();
    change(other);
    const Result<RecordWriter> rejected = RecordWriter::resume(dir_, other);
    EXPECT_FALSE(rejected.ok());
    return rejected.ok() ? "" : rejected.error().text();
  };
  EXPECT_THAT(rejection_of([](RunStart& s) { s.environment.devices[0].description = "Xeon"; }),
              HasSubstr("cannot be resumed: device cpu is 'EPYC, ' in one run and 'Xeon, ' in the other"));
  EXPECT_THAT(rejection_of([](RunStart& s) { s.environment.devices.pop_back(); }), HasSubstr("device cpu"));
  EXPECT_THAT(rejection_of([](RunStart& s) { s.environment.devices.push_back({.name = "cuda"}); }),
              HasSubstr("device cuda"));
  EXPECT_THAT(rejection_of([](RunStart& s) { s.inputs_hash[0] = 'b'; }), HasSubstr("the selected kernels"));
  EXPECT_THAT(rejection_of([](RunStart& s) { s.seed = 9; }),
              HasSubstr("the seed is '0' in one run and '9' in the other"));
  EXPECT_THAT(rejection_of([](RunStart& s) { s.expectations.clear(); }), HasSubstr("the expected failures differ"));
  EXPECT_THAT(rejection_of([](RunStart& s) { s.planned_case_names.pop_back(); }),
              HasSubstr("the planned cases differ"));
  EXPECT_EQ(text(), before);
}

TEST_F(ResumeTest, PreservesRunStartRecord) {
  ASSERT_TRUE(RecordWriter::create(dir_, start()).ok());
  const Result<RunRecords> run = read_records(dir_);
  ASSERT_TRUE(run.ok()) << run.error().text();
  RunStart read = run->start;
  read.schema_version = "";
  EXPECT_EQ(read, start());
}

TEST_F(ResumeTest, RejectsDamagedLineBeforeLastLine) {
  ASSERT_TRUE(RecordWriter::create(dir_, start()).ok());
  std::ofstream(dir_ / kRecordsFileName, std::ios::app) << "half a line\n"
                                                        << to_line(record(start().planned_case_names[0])) << "\n";
  EXPECT_THAT(RecordWriter::resume(dir_, start()).error().text(),
              HasSubstr("records.jsonl:2: the line is not valid JSON"));
}

}  // namespace
}  // namespace assay::harness
