// Observations of a device: findings on the page and the terminal, profiles in a table.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "reports/formats/terminal.hpp"
#include "reports/model/measurements.hpp"
#include "reports/model/profiles.hpp"
#include "reports/report_files.hpp"
#include "reports/testing/synthetic_run.hpp"

namespace assay::reports {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const json kMeasurement = {{"target", "sm_90"},
                           {"threads", 16777216},
                           {"measures",
                            {{"time_ns", 51234.0},
                             {"time_lower_ns", 51000.0},
                             {"time_upper_ns", 52100.0},
                             {"bytes", 134217728.0},
                             {"bytes_per_second", 2.6e12},
                             {"of_copy", 0.912},
                             {"registers", 24.0},
                             {"local_bytes", 16.0},
                             {"occupancy", 1.0},
                             {"backward_over_forward", 1.25},
                             {"ceiling_bytes_per_second", 2.85e12},
                             {"ceiling_operations_per_second", 6.0e13}}}};
const json kNotMeasured = {{"target", ""},
                           {"threads", 0},
                           {"measures", json::object()},
                           {"remark", "neither records nor <hardware> counters: no CUPTI"}};

/// A run whose first failed case has the golden record's finding and profile.
class ObservationReport : public ::testing::Test {
 protected:
  ObservationReport()
      : dir_(fs::temp_directory_path() / fmt::format("assay-observation-{}-{}", ::getpid(),
                                                     ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::ifstream file(ASSAY_SOURCE_DIR "/testdata/schemas/case_fail.json");
    golden_ = json::parse(file);
    fs::create_directories(dir_);
    std::ofstream records(dir_ / kRecordsFileName, std::ios::binary);
    std::istringstream lines(testing::synthetic_records({}));
    for (std::string line; std::getline(lines, line);) {
      json record = json::parse(line);
      if (name_.empty() && record.value("outcome", "") == "fail") {
        name_ = record.at("case");
        record["faults"] = golden_.at("faults");
        record["profiles"] = golden_.at("profiles");
        record["measurements"] = json::array({kMeasurement, kNotMeasured});
      }
      records << record.dump() << '\n';
    }
  }
  ~ObservationReport() override { fs::remove_all(dir_); }

  reports::Run run() const {
    Result<reports::Run> read = read_run(dir_);
    EXPECT_TRUE(read.ok()) << read.error().text();
    return read.take();
  }
  json record() const {
    for (const json& each : run().cases) {
      if (each.at("case") == name_) return each;
    }
    return {};
  }

  fs::path dir_;
  json golden_;
  std::string name_;
};

TEST_F(ObservationReport, HtmlPageShowsMemoryErrorsAndProfiles) {
  const Result<WrittenReports> written = write_reports(dir_);
  ASSERT_TRUE(written.ok()) << written.error().text();
  std::ifstream file(written->html_path, std::ios::binary);
  const std::string page(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(page, HasSubstr("st.global.f32 [%rd4], %f2"));
  EXPECT_THAT(page, HasSubstr("PTX line 57, source line 31, thread (4, 0, 0) of block (0, 0, 0)"));
  EXPECT_THAT(page, HasSubstr("grad_x: access to 4 bytes at byte 128 of 132 (global address 0x48000000080)"));
  EXPECT_THAT(page, HasSubstr("ld.global.f32 %f1, [%rd4]"));
  EXPECT_THAT(page, HasSubstr("id=\"profile\""));
  EXPECT_THAT(page, HasSubstr("<td>compute_75</td>"));
}

TEST_F(ObservationReport, TerminalShowsEachFindingOnce) {
  json failed = record();
  const std::string text = golden_.at("faults")[0].at("text");
  EXPECT_THAT(unexpected_lines(failed, false), HasSubstr("\n    " + text + "\n"));
  failed["message"] = "memory fault: " + text;
  EXPECT_THAT(unexpected_lines(failed, false), Not(HasSubstr("\n    " + text)));
}

TEST_F(ObservationReport, HtmlPageShowsGpuMeasurements) {
  const Result<WrittenReports> written = write_reports(dir_);
  ASSERT_TRUE(written.ok()) << written.error().text();
  std::ifstream file(written->html_path, std::ios::binary);
  const std::string page(std::istreambuf_iterator<char>(file), {});
  const std::size_t start = page.find("<section id=\"measurements\"");
  ASSERT_NE(start, std::string::npos);
  const std::string section = page.substr(start, page.find("</section>", start) - start);
  EXPECT_THAT(section, AllOf(HasSubstr(">" + name_ + "</a>"), HasSubstr("<td>sm_90</td>"), HasSubstr(">16777216</td>"),
                             HasSubstr(">51.2</td>"), HasSubstr(">51.0..52.1</td>"), HasSubstr(">134.2</td>")));
  EXPECT_THAT(section,
              AllOf(HasSubstr(">91.2</td>"), HasSubstr(">24</td>"), HasSubstr(">16</td>"), HasSubstr(">100</td>"),
                    HasSubstr(">1.25</td>"), HasSubstr("2850.0 GB/s copied, 60000.0 Gop/s")));
  EXPECT_THAT(section, HasSubstr("neither records nor &lt;hardware&gt; counters: no CUPTI"));
  EXPECT_THAT(section, Not(HasSubstr("waits for"))) << "there are no hardware counters";

  reports::Run without = run();
  for (json& each : without.cases)
    each.erase("measurements");
  EXPECT_TRUE(measurements_view(without).is_null());
  for (json& each : without.cases)
    each["measurements"] = json::array({kMeasurement});
  const json view = measurements_view(without);
  EXPECT_EQ(view.at("rows").size(), std::min<std::size_t>(without.cases.size(), 400));
}

TEST_F(ObservationReport, TerminalShowsProfileTable) {
  const std::string table = profile_table(run(), false);
  EXPECT_THAT(table, AllOf(HasSubstr(name_), HasSubstr("compute_75"), HasSubstr("30.0"), HasSubstr("41"),
                           HasSubstr("approximate"), HasSubstr("arithmetic intensity")));
  reports::Run without = run();
  for (json& each : without.cases)
    each.erase("profiles");
  EXPECT_THAT(profile_table(without, false), HasSubstr("no profile"));
}

}  // namespace
}  // namespace assay::reports
