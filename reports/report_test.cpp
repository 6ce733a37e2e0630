// Summary, report.json and page text from records; browser_test.cpp opens the page.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "reports/formats/html/report_html.hpp"
#include "reports/formats/terminal.hpp"
#include "reports/model/wording.hpp"
#include "reports/report_files.hpp"
#include "reports/testing/synthetic_run.hpp"

namespace assay::reports {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Report : public ::testing::Test {
 protected:
  Report()
      : dir_(fs::temp_directory_path() / fmt::format("assay-report-{}-{}", ::getpid(),
                                                     ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::create_directories(dir_);
  }
  ~Report() override { fs::remove_all(dir_); }

  void write(const std::string& records) const { std::ofstream(dir_ / kRecordsFileName, std::ios::binary) << records; }

  RunSummary summary_of(const std::string& records) const {
    write(records);
    const Result<reports::Run> run = read_run(dir_);
    EXPECT_TRUE(run.ok()) << run.error().text();
    return summarize(*run);
  }

  static std::string text_of(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  fs::path dir_;
};

// Leaves out the lines that contain `word`.
std::string without_lines(const std::string& records, const std::string& word) {
  std::istringstream stream(records);
  std::string kept;
  for (std::string line; std::getline(stream, line);) {
    if (line.find("\"record\":\"run_start\"") != std::string::npos || line.find(word) == std::string::npos) {
      kept += line + "\n";
    }
  }
  return kept;
}

TEST_F(Report, VerdictOfFailedRunContainsReasonsAndTotals) {
  const RunSummary summary = summary_of(testing::synthetic_records({}));
  EXPECT_EQ(summary.verdict.status, "unexpected");
  EXPECT_EQ(summary.verdict.exit_status, 1);
  EXPECT_EQ(summary.verdict.headline, "8 of 504 cases are not as expected");
  EXPECT_THAT(summary.verdict.reasons, ElementsAre("1 crashed", "3 fail", "1 defect", "1 timed_out", "1 build_failed",
                                                   "1 inconclusive", "252 unsupported", "244 pass"));
  const CaseTotals& of = summary.case_totals;
  EXPECT_EQ(of.planned, 504);
  EXPECT_EQ(of.run, 504);
  EXPECT_EQ(of.supported, 252);
  EXPECT_EQ(of.compared, 249);
  EXPECT_EQ(of.values_compared, 249 * 5120);
  EXPECT_THAT(of.devices, ElementsAre("cpu"));
}

TEST_F(Report, RemovesReportsOfEarlierRun) {
  write(testing::synthetic_records({}));
  ASSERT_TRUE(write_reports(dir_).ok());
  std::ofstream(dir_ / "notes.txt") << "kept";
  remove_reports(dir_);
  std::vector<std::string> left;
  for (const fs::directory_entry& entry : fs::directory_iterator(dir_))
    left.push_back(entry.path().filename());
  EXPECT_THAT(left, ::testing::UnorderedElementsAre("notes.txt", "records.jsonl"));
}

TEST_F(Report, RunWithoutFailuresHasExitStatusZero) {
  EXPECT_EQ(summary_of(testing::synthetic_records({.failures = false})).verdict.headline,
            "All 252 cases that could run here pass");
  const RunSummary cpu = summary_of(testing::synthetic_records({.cuda = false, .failures = false}));
  EXPECT_EQ(cpu.verdict.headline, "All 252 cases pass");
  EXPECT_EQ(cpu.verdict.status, "as_expected");
  EXPECT_EQ(cpu.verdict.exit_status, 0);
}

/// The records of a passing run in which the cases that `selects` chooses are unsupported because of their kernel.
std::string with_unsupported_kernels(const testing::SyntheticRun& options, std::string_view kind,
                                     const std::function<bool(const json&)>& selects) {
  std::istringstream passing(testing::synthetic_records(options));
  std::string records;
  int changed = 0;
  int total = 0;
  for (std::string line; std::getline(passing, line);) {
    json record = json::parse(line);
    if (record.at("record") == "case") ++total;
    if (record.at("record") == "case" && selects(record)) {
      changed += record.at("outcome") == "pass" ? 1 : 0;
      record["outcome"] = "unsupported";
      record["kind"] = kind;
    }
    if (record.at("record") == "run_end") {
      json& counts = record.at("counts");
      counts["pass"] = counts.at("pass").get<int>() - changed;
      counts["unsupported"] = counts.value("unsupported", 0) + changed;
      if (counts.at("unsupported") == total) record["exit_status"] = 77;
    }
    records += record.dump() + "\n";
  }
  return records;
}

TEST_F(Report, UnsupportedKernelFailsRun) {
  const auto selects = [](const json& record) {
    return record.at("family") == "loop" &&
           (record.at("kernel") == "generated_1_0003" || record.at("kernel") == "generated_1_0020");
  };
  for (const char* const kind : {"reader", "launch", "printer", "oracle"}) {
    const RunSummary summary = summary_of(with_unsupported_kernels({.failures = false}, kind, selects));
    EXPECT_EQ(summary.verdict.headline, "2 kernels are not supported; 248 of 504 cases pass") << kind;
    EXPECT_EQ(summary.verdict.status, "unexpected");
    EXPECT_EQ(summary.verdict.exit_status, 1);
  }
}

TEST_F(Report, RunOfUnsupportedKernelsOnlyFailsInsteadOfBeingSkipped) {
  const auto all = [](const json&) { return true; };
  const RunSummary kernels = summary_of(with_unsupported_kernels({.cuda = false, .failures = false}, "reader", all));
  EXPECT_EQ(kernels.verdict.headline, "126 kernels are not supported; 0 of 252 cases pass");
  EXPECT_EQ(kernels.verdict.exit_status, 1);
  const RunSummary device =
      summary_of(with_unsupported_kernels({.cuda = false, .failures = false}, "no compiler", all));
  EXPECT_EQ(device.verdict.status, "all_unsupported");
  EXPECT_EQ(device.verdict.exit_status, 77);
}

TEST_F(Report, UnsupportedBackwardPassDoesNotFailRun) {
  const auto selects = [](const json& record) {
    return record.at("family") == "loop" && record.at("pass") == "backward";
  };
  const RunSummary summary =
      summary_of(with_unsupported_kernels({.cuda = false, .failures = false}, "adjoint", selects));
  EXPECT_EQ(summary.verdict.status, "as_expected");
  EXPECT_EQ(summary.verdict.exit_status, 0);
  // As in a run of backward passes only, in which no other case of the kernel ran.
  const auto one = [](const json& record) {
    return record.at("family") == "loop" && record.at("kernel") == "generated_1_0003";
  };
  EXPECT_EQ(
      summary_of(with_unsupported_kernels({.cuda = false, .failures = false}, "adjoint", one)).verdict.exit_status, 0);
}

TEST_F(Report, PageStatesLineOfFindingOnce) {
  std::string records = testing::synthetic_records({});
  const std::string_view access = "\"access\":\"";
  records.insert(records.find("\"access\":\"store out[3]\"") + access.size(), "line 9: ");
  write(records);
  ASSERT_TRUE(write_reports(dir_).ok());
  const std::string page = text_of(dir_ / kReportHtmlFileName);
  EXPECT_THAT(page, HasSubstr("<dt>Finding</dt><dd>line 9: store out[3]</dd>"));
}

TEST_F(Report, RunWithOneCaseUsesSingular) {
  std::istringstream all(testing::synthetic_records({.kernels_per_family = 1, .cuda = false, .failures = false}));
  std::string records;
  for (std::string line; std::getline(all, line);) {
    json record = json::parse(line);
    if (record.at("record") == "run_start") record["plan"] = {"loop/generated_1_0003/f32/cpu/forward"};
    if (record.at("record") == "run_end") record["counts"] = {{"pass", 1}};
    if (record.at("record") != "case" || record.at("case") == "loop/generated_1_0003/f32/cpu/forward")
      records += record.dump() + "\n";
  }
  write(records);
  const Result<WrittenReports> reports = write_reports(dir_);
  ASSERT_TRUE(reports.ok()) << reports.error().text();
  EXPECT_THAT(closing_table(reports->run, reports->summary, false),
              HasSubstr("\nThe only case passes\n1 case planned, 1 run, 1 supported, 1 compared; "));
  EXPECT_THAT(text_of(dir_ / "summary.md"), HasSubstr("\n1 case planned, 1 run, "));
}

TEST_F(Report, RunWithoutEndRecordIsIncomplete) {
  const RunSummary summary = summary_of(testing::synthetic_records({.failures = false, .finished = false}));
  EXPECT_EQ(summary.verdict.status, "incomplete");
  EXPECT_EQ(summary.verdict.exit_status, 1);
}

TEST_F(Report, MissingRecordMakesRunIncomplete) {
  const std::string all = testing::synthetic_records({.cuda = false, .failures = false});
  const RunSummary summary = summary_of(without_lines(all, "\"case\":\"loop/generated_1_0003/f32/cpu/forward\""));
  EXPECT_EQ(summary.verdict.status, "incomplete");
  EXPECT_EQ(summary.verdict.exit_status, 1);
  EXPECT_EQ(summary.counts.at("not_run"), 1);
  EXPECT_EQ(summary.case_totals.run, 251);
  ASSERT_EQ(summary.failure_groups.size(), 1U);
  EXPECT_EQ(summary.failure_groups[0].heading, "not_run(missing) in loop");
}

TEST_F(Report, FailureGroupsAreSortedBySeverity) {
  const RunSummary summary = summary_of(testing::synthetic_records({}));
  std::vector<std::string> signatures;
  for (const FailureGroup& group : summary.failure_groups)
    signatures.push_back(group.heading);
  EXPECT_THAT(signatures,
              ElementsAre("crashed(SIGSEGV) in control_flow", "fail(mismatch) in loop", "fail(mismatch) in nested_loop",
                          "defect(race) in scalar_param", "timed_out(run) in loop", "build_failed(compiler) in vector",
                          "inconclusive(domain) in scalar_param"));
  std::int64_t total = 0;
  for (const GridCell& cell : summary.grid)
    total += cell.counts.total();
  EXPECT_EQ(total, 504);
  EXPECT_EQ(summary.grid.size(), 36U);
}

TEST_F(Report, DamagedLinesAreReportedAndFailTheRun) {
  std::string records = testing::synthetic_records({.failures = false});
  records.replace(records.find("\"outcome\":\"pass\""), 16, "\"outcome\":\"fine\"");
  write(records + "{}\n{\n");
  const Result<WrittenReports> reports = write_reports(dir_);
  ASSERT_TRUE(reports.ok()) << reports.error().text();
  EXPECT_EQ(reports->summary.verdict.headline, "3 lines of records.jsonl cannot be used");
  EXPECT_EQ(reports->summary.verdict.exit_status, 1);
  EXPECT_EQ(reports->summary.counts.at("not_run"), 1) << "the case of the damaged line";
  const std::string closing = closing_table(reports->run, reports->summary, false);
  EXPECT_THAT(closing, HasSubstr("records.jsonl:2: /outcome: found \"fine\", expected one of"));
  const json errors = json::parse(text_of(dir_ / kReportJsonFileName)).at("schema_errors");
  ASSERT_EQ(errors.size(), 3U);
  EXPECT_EQ(errors[0].at("line"), 2);
  EXPECT_EQ(errors[0].at("pointer"), "/outcome");
  EXPECT_EQ(errors[2].at("message"), "the line is not valid JSON");
  EXPECT_THAT(text_of(dir_ / kReportHtmlFileName), HasSubstr("<td>2</td><td><code>/outcome</code></td>"));
}

TEST_F(Report, ReportsLineNumberOfDamagedLine) {
  // Lines are read a thousand at a time, on several threads.
  std::string records = testing::synthetic_records({.kernels_per_family = 40, .failures = false});
  constexpr int kNumber = 1203;
  std::size_t begin = 0;
  for (int line = 1; line < kNumber; ++line)
    begin = records.find('\n', begin) + 1;
  const std::string name = json::parse(records.substr(begin, records.find('\n', begin) - begin)).at("case");
  records.insert(begin, "[");
  write(records);
  const Result<WrittenReports> reports = write_reports(dir_);
  ASSERT_TRUE(reports.ok()) << reports.error().text();
  ASSERT_EQ(reports->run.damaged_lines.size(), 1U);
  EXPECT_EQ(reports->run.damaged_lines[0].line_number, kNumber);
  for (const json& record : reports->run.cases)
    EXPECT_EQ(record.at("outcome") == "not_run", record.at("case") == name) << record.at("case");
}

TEST_F(Report, RejectsBaselineWithDamagedLines) {
  std::string records = testing::synthetic_records({});
  records.replace(records.find("\"outcome\":\"pass\""), 16, "\"outcome\":\"fine\"");
  write(records);
  const Result<reports::Run> run = read_run(dir_);
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(run.error().text(), HasSubstr("records.jsonl:2: /outcome: found \"fine\", expected one of"));
}

TEST_F(Report, RejectsRunWithoutStartRecord) {
  const std::string records = testing::synthetic_records({});
  write("{}\n" + records.substr(records.find('\n') + 1));
  const Result<WrittenReports> reports = write_reports(dir_);
  ASSERT_FALSE(reports.ok());
  EXPECT_THAT(reports.error().text(), HasSubstr("records.jsonl:1: "));
  EXPECT_FALSE(fs::exists(dir_ / kReportHtmlFileName));
}

TEST_F(Report, ShowsMutationScoreAndFalsePositiveCorpus) {
  testing::write_synthetic_run(dir_, {});
  ASSERT_TRUE(write_reports(dir_).ok());
  EXPECT_THAT(text_of(dir_ / kReportHtmlFileName), HasSubstr("assay mutate"));
  const json mutation_score = json::parse(text_of(ASSAY_SOURCE_DIR "/testdata/schemas/certification.json"));
  ASSERT_TRUE(write_reports(dir_, {.mutation_score = mutation_score}).ok());
  const std::string page = text_of(dir_ / kReportHtmlFileName);
  for (const char* part : {"<b>99.7 %</b> of 412 mutants killed", "drop_contribution", "loop/horner#branch_negated.0",
                           "-  if c {", "Closest to being accepted was "})
    EXPECT_THAT(page, HasSubstr(part));
}

TEST_F(Report, ReadsRecordsOfAllVersions) {
  int versions = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(ASSAY_SOURCE_DIR "/testdata/schemas/records")) {
    write(text_of(entry.path() / kRecordsFileName));
    const Result<WrittenReports> reports = write_reports(dir_);
    ASSERT_TRUE(reports.ok()) << reports.error().text();
    EXPECT_EQ(reports->summary.verdict.headline, "1 of 2 cases is not as expected") << entry.path();
    ++versions;
  }
  EXPECT_GE(versions, 5);
}

TEST_F(Report, WritesFilesAtomically) {
  testing::write_synthetic_run(dir_, {});
  fs::create_directories(dir_ / kReportHtmlFileName / "in the way");
  const Result<WrittenReports> reports = write_reports(dir_);
  ASSERT_FALSE(reports.ok());
  EXPECT_THAT(reports.error().text(), HasSubstr("report.html: cannot be written: "));
  EXPECT_FALSE(fs::exists(dir_ / "report.html.partial"));
}

TEST_F(Report, JsonListsCasesInPlanOrder) {
  testing::write_synthetic_run(dir_, {});
  ASSERT_TRUE(write_reports(dir_).ok());
  const json report = json::parse(text_of(dir_ / kReportJsonFileName));
  EXPECT_EQ(report.at("cases").size(), 504U);
  EXPECT_EQ(report.at("cases").at(0).at("case"), "arithmetic/generated_1_0003/f32/cpu/forward");
  EXPECT_EQ(report.at("findings").at(1).at("threads"), json::array({"(3)", "(4)"}));
  EXPECT_EQ(report.at("counts").at("fail"), 3);
}

TEST_F(Report, SecurityPolicyAllowsOnlyEmbeddedStyleAndScript) {
  testing::write_synthetic_run(dir_, {});
  ASSERT_TRUE(write_reports(dir_).ok());
  const std::string page = text_of(dir_ / kReportHtmlFileName);
  EXPECT_THAT(page, HasSubstr("content=\"default-src &#39;none&#39;; script-src &#39;sha256-"));
  EXPECT_THAT(page, Not(HasSubstr("unsafe-inline")));
  const std::regex outside("(href|src)=\"(https?:|//)");
  EXPECT_FALSE(std::regex_search(page, outside)) << "no request may leave the file";
  EXPECT_EQ(page.find(" style="), std::string::npos) << "the policy would block it";
}

TEST_F(Report, PageStaysSmallIfAllCasesFail) {
  std::string records = testing::synthetic_records({.kernels_per_family = 24, .cuda = false, .failures = false});
  const std::string log = "\"log\":\"" + std::string(20000, 'x') + "\",\"outcome\":\"fail\"";
  for (std::size_t at = 0; (at = records.find("\"outcome\":\"pass\"", at)) != std::string::npos; at += log.size()) {
    records.replace(at, 16, log);
  }
  records = without_lines(records, "\"record\":\"run_end\"");
  write(records);
  ASSERT_TRUE(write_reports(dir_).ok());
  EXPECT_GT(records.size(), 8U << 20U);
  EXPECT_LT(fs::file_size(dir_ / kReportHtmlFileName), 3U << 20U);
  EXPECT_THAT(text_of(dir_ / kReportHtmlFileName), HasSubstr("40 more like these"));
}

TEST(CspHash, MatchesSpecificationExample) {
  // The example of the CSP specification: alert('Hello, world.');
  EXPECT_EQ(csp_hash("alert('Hello, world.');"), "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='");
}

TEST(ReportText, FormatsNumbersTimesAndLocations) {
  EXPECT_EQ(count_text(1234567), "1\u202f234\u202f567");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(time_text(0.44), "0.4 ms");
  EXPECT_EQ(time_text(3250), "3.25 s");
  EXPECT_EQ(time_text(125e3), "2 min 5 s");
  EXPECT_EQ(rho_text(json()), "");
  EXPECT_EQ(rho_text("inf"), "∞");
  EXPECT_EQ(rho_text(0.4216), "0.422");
  EXPECT_EQ(location_text({{"array", "x"}, {"index", {3, 0}}}), "x[3, 0]");
  EXPECT_EQ(location_text({{"array", "n"}, {"index", json::array()}}), "n");
  EXPECT_EQ(case_link("a/b c%\""), "#case=a/b%20c%25%22");
}

}  // namespace
}  // namespace assay::reports
