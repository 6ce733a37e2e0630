// Tests the writer and the reader of records.jsonl on real files.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness/records/record_reader.hpp"
#include "harness/records/record_writer.hpp"
#include "schemas/validator.hpp"

namespace assay::harness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RecordFile : public testing::Test {
 protected:
  RecordFile()
      : dir_(fs::temp_directory_path() / fmt::format("assay-record-{}-{}", ::getpid(),
                                                     testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(dir_);
  }
  ~RecordFile() override { fs::remove_all(dir_); }

  std::string text() const {
    std::ifstream stream(dir_ / kRecordsFileName);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void write(const std::string& text) const {
    fs::create_directories(dir_);
    std::ofstream(dir_ / kRecordsFileName) << text;
  }

  static RunStart start(std::vector<std::string> plan) {
    return {.run_id = make_run_id(),
            .start_time = utc_now(),
            .command_line = {"assay", "run"},
            .planned_case_names = std::move(plan)};
  }
  static CaseRecord record(const std::string& kernel, Outcome outcome) {
    return {.name = "loop/" + kernel + "/f32/cpu/forward",
            .family = "loop",
            .kernel = kernel,
            .parameter_types = "f32",
            .device = "cpu",
            .pass = "forward",
            .outcome = outcome,
            .values_compared = 10,
            .attempt_outcomes = {outcome}};
  }

  // A finished run of two cases; the second failed.
  void write_two() const {
    Result<RecordWriter> writer =
        RecordWriter::create(dir_, start({"loop/a/f32/cpu/forward", "loop/b/f32/cpu/forward"}));
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->append(record("b", Outcome::fail)).ok());
    ASSERT_TRUE(writer->append(record("a", Outcome::pass)).ok());
    ASSERT_TRUE(writer->finish().ok());
  }

  fs::path dir_;
};

TEST_F(RecordFile, ReadsCasesInPlanOrder) {
  write_two();
  const Result<RunRecords> run = read_records(dir_);
  ASSERT_TRUE(run.ok()) << run.error().text();
  ASSERT_EQ(run->cases.size(), 2U);
  EXPECT_EQ(run->cases[0], record("a", Outcome::pass));
  EXPECT_EQ(run->cases[1], record("b", Outcome::fail));
  EXPECT_FALSE(run->is_truncated);
  ASSERT_TRUE(run->end.has_value());
  EXPECT_EQ(run->end->exit_status, ExitStatus::unexpected);
  EXPECT_EQ(run->exit_status(), ExitStatus::unexpected);
}

// Each published version has a run here, which both this reader and that of the reports must read.
TEST(RecordVersions, EveryPublishedVersionCanBeRead) {
  const fs::path golden = ASSAY_SOURCE_DIR "/testdata/schemas/records";
  std::set<std::string> versions;
  for (const fs::directory_entry& entry : fs::directory_iterator(golden)) {
    const Result<RunRecords> run = read_records(entry.path());
    ASSERT_TRUE(run.ok()) << run.error().text();
    EXPECT_EQ(run->start.schema_version, entry.path().filename());
    ASSERT_EQ(run->cases.size(), 2U);
    EXPECT_EQ(run->cases[0].outcome, Outcome::pass);
    EXPECT_EQ(run->cases[1].mismatches.size(), 1U);
    EXPECT_EQ(run->exit_status(), ExitStatus::unexpected);
    versions.insert(run->start.schema_version);
  }
  EXPECT_GE(versions.size(), 5U);
  EXPECT_TRUE(versions.contains(std::string(schemas::kRecordSchemaVersion)))
      << "a new version needs a run in testdata/schemas/records";
}

TEST_F(RecordFile, SecondWriterIsRejectedUntilFirstOneEnds) {
  std::optional<Result<RecordWriter>> writer = RecordWriter::create(dir_, start({"loop/a/f32/cpu/forward"}));
  ASSERT_TRUE(writer->ok());
  ASSERT_TRUE((*writer)->append(record("a", Outcome::pass)).ok());
  const std::string written = text();
  for (const bool resumes : {false, true}) {
    const RunStart second = start({"loop/a/f32/cpu/forward"});
    const Result<RecordWriter> rejected =
        resumes ? RecordWriter::resume(dir_, second) : RecordWriter::create(dir_, second);
    ASSERT_FALSE(rejected.ok());
    EXPECT_THAT(rejected.error().text(), HasSubstr("is being written by another process"));
    EXPECT_EQ(text(), written);
  }
  writer.reset();
  EXPECT_TRUE(RecordWriter::create(dir_, start({"loop/a/f32/cpu/forward"})).ok());
}

TEST_F(RecordFile, AppendedRecordIsInFileImmediately) {
  Result<RecordWriter> writer = RecordWriter::create(dir_, start({"loop/a/f32/cpu/forward"}));
  ASSERT_TRUE(writer.ok());
  const std::size_t before = text().size();
  EXPECT_GT(before, 0U);
  ASSERT_TRUE(writer->append(record("a", Outcome::pass)).ok());
  EXPECT_GT(text().size(), before);
  EXPECT_EQ(text().back(), '\n');
}

TEST_F(RecordFile, PlannedCaseWithoutRecordFailsRun) {
  Result<RecordWriter> writer =
      RecordWriter::create(dir_, start({"loop/a/f32/cpu/forward", "loop/b/f64/cuda/backward/strict"}));
  ASSERT_TRUE(writer->append(record("a", Outcome::pass)).ok());
  const Result<RunEnd> end = writer->finish();
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->exit_status, ExitStatus::unexpected);

  const Result<RunRecords> run = read_records(dir_);
  ASSERT_TRUE(run.ok()) << run.error().text();
  const CaseRecord& missing = run->cases.at(1);
  EXPECT_EQ(missing.outcome, Outcome::not_run);
  EXPECT_EQ(missing.outcome_detail, "missing");
  EXPECT_EQ(
      missing.kernel + " " + missing.parameter_types + " " + missing.device + " " + missing.pass + " " + missing.mode,
      "b f64 cuda backward strict");
  EXPECT_EQ(run->exit_status(), ExitStatus::unexpected);
}

TEST_F(RecordFile, RunWithoutEndRecordHasFailureExitStatus) {
  Result<RecordWriter> writer = RecordWriter::create(dir_, start({"loop/a/f32/cpu/forward"}));
  ASSERT_TRUE(writer->append(record("a", Outcome::pass)).ok());
  const Result<RunRecords> run = read_records(dir_);
  ASSERT_TRUE(run.ok());
  EXPECT_FALSE(run->end.has_value());
  EXPECT_EQ(run->exit_status(), ExitStatus::unexpected);
}

TEST_F(RecordFile, OmitsTruncatedLastLine) {
  write_two();
  std::string half = text();
  half.resize(half.rfind("run_end"));
  write(half);
  const Result<RunRecords> run = read_records(dir_);
  ASSERT_TRUE(run.ok()) << run.error().text();
  EXPECT_TRUE(run->is_truncated);
  EXPECT_FALSE(run->end.has_value());
  EXPECT_EQ(run->counts().count_of(Outcome::pass), 1);
}

TEST_F(RecordFile, ReportsLineNumberOfDamagedLine) {
  write_two();
  std::string damaged = text();
  damaged.insert(damaged.find('\n') + 1, "{\"record\": \"case\",\n");
  write(damaged);
  const Result<RunRecords> run = read_records(dir_);
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(run.error().text(), HasSubstr("records.jsonl:2: the line is not valid JSON"));
}

TEST_F(RecordFile, RejectsLineThatViolatesSchema) {
  write_two();
  std::string wrong = text();
  wrong.replace(wrong.find("\"outcome\":\"fail\""), 16, "\"outcome\":\"okay\"");
  write(wrong);
  const Result<RunRecords> run = read_records(dir_);
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(run.error().text(), HasSubstr("records.jsonl:2: /outcome: found \"okay\", expected one of"));
}

TEST_F(RecordFile, RejectsRepeatedAndUnplannedCases) {
  Result<RecordWriter> writer = RecordWriter::create(dir_, start({"loop/a/f32/cpu/forward"}));
  ASSERT_TRUE(writer->append(record("a", Outcome::fail)).ok());
  EXPECT_FALSE(writer->append(record("a", Outcome::pass)).ok()) << "a case has only one record";
  EXPECT_FALSE(writer->append(record("b", Outcome::pass)).ok());

  const std::string one = text();
  write(one + one.substr(one.find('\n') + 1));
  EXPECT_THAT(read_records(dir_).error().text(), HasSubstr("has two records"));
}

TEST_F(RecordFile, RejectsEmptyOrMissingFile) {
  EXPECT_THAT(read_records(dir_).error().text(), HasSubstr("cannot read records: No such file"));
  write("");
  EXPECT_THAT(read_records(dir_).error().text(), HasSubstr("missing run_start record"));
}

TEST_F(RecordFile, ReportsFullDiskOnCreation) {
  fs::create_directories(dir_);
  fs::create_symlink("/dev/full", dir_ / kRecordsFileName);
  const Result<RecordWriter> writer = RecordWriter::create(dir_, start({"loop/a/f32/cpu/forward"}));
  ASSERT_FALSE(writer.ok());
  EXPECT_THAT(writer.error().text(), HasSubstr("cannot be written: No space left on device"));
}

TEST_F(RecordFile, KeepsOnlyCompleteLinesIfDiskIsFull) {
  Result<RecordWriter> writer = RecordWriter::create(dir_, start({"loop/a/f32/cpu/forward"}));
  ASSERT_TRUE(writer.ok());
  const std::string before = text();
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = before.size() + 10, .rlim_max = old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Result<void> appended = writer->append(record("a", Outcome::pass));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, previous);

  ASSERT_FALSE(appended.ok());
  EXPECT_EQ(text(), before) << "the incomplete line was removed";
  const Result<RunEnd> end = writer->finish();
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error(), appended.error());
  EXPECT_EQ(text(), before) << "no run end after a failed write";
}

TEST_F(RecordFile, ReportsFolderThatCannotBeCreatedOrWritten) {
  std::ofstream(dir_) << "a file";
  const Result<RecordWriter> under_file = RecordWriter::create(dir_ / "out", start({}));
  ASSERT_FALSE(under_file.ok());
  EXPECT_THAT(under_file.error().text(), HasSubstr("cannot create the output folder: Not a directory"));
  const Result<RecordWriter> read_only = RecordWriter::create("/proc/self", start({}));
  ASSERT_FALSE(read_only.ok());
  EXPECT_THAT(read_only.error().text(), HasSubstr("/proc/self/records.jsonl: cannot be written: "));
}

}  // namespace
}  // namespace assay::harness
