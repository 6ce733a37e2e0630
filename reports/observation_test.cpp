// What a device observed: findings in the page and on the terminal, profiles in a table.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "reports/profiles.hpp"
#include "reports/report_files.hpp"
#include "reports/terminal.hpp"
#include "reports/testing/synthetic_run.hpp"

namespace assay::reports {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A run whose first failed case has the golden record's finding and profile.
class Observation : public ::testing::Test {
 protected:
  Observation()
      : dir_(fs::temp_directory_path() / fmt::format("assay-observation-{}-{}", ::getpid(),
                                                     ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::ifstream file(ASSAY_SOURCE_DIR "/schemas/golden/case_fail.json");
    golden_ = json::parse(file);
    fs::create_directories(dir_);
    std::ofstream records(dir_ / kRecordsFile, std::ios::binary);
    std::istringstream lines(testing::synthetic_records({}));
    for (std::string line; std::getline(lines, line);) {
      json record = json::parse(line);
      if (name_.empty() && record.value("outcome", "") == "fail") {
        name_ = record.at("case");
        record["faults"] = golden_.at("faults");
        record["profiles"] = golden_.at("profiles");
      }
      records << record.dump() << '\n';
    }
  }
  ~Observation() override { fs::remove_all(dir_); }

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

TEST_F(Observation, ThePageHasFindingsWithTheirPlacesAndProfiles) {
  const Result<Reports> written = write_reports(dir_);
  ASSERT_TRUE(written.ok()) << written.error().text();
  std::ifstream file(written->html, std::ios::binary);
  const std::string page(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(page, HasSubstr("st.global.f32 [%rd4], %f2"));
  EXPECT_THAT(page, HasSubstr("PTX line 57, source line 31, thread (4, 0, 0) of block (0, 0, 0)"));
  EXPECT_THAT(page, HasSubstr("grad_x, 4 bytes at byte 128 of 132 (global 0x48000000080)"));
  EXPECT_THAT(page, HasSubstr("ld.global.f32 %f1, [%rd4]"));
  EXPECT_THAT(page, HasSubstr("id=\"profile\""));
  EXPECT_THAT(page, HasSubstr("<td>compute_75</td>"));
}

TEST_F(Observation, TheTerminalTellsEachFindingOnce) {
  json told = record();
  const std::string text = golden_.at("faults")[0].at("text");
  EXPECT_THAT(unexpected_lines(told, false), HasSubstr("\n    " + text + "\n"));
  told["message"] = "memory fault: " + text;
  EXPECT_THAT(unexpected_lines(told, false), Not(HasSubstr("\n    " + text)));
}

TEST_F(Observation, ProfilesAreATable) {
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
