#include "harness/compilers/findings.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/device/scratch_directory.hpp"

namespace assay::compilers {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class CompilerFindingsPage : public ::testing::Test {
 protected:
  /// Writes a finding; `lists` are the members "incorrect", "correct" and "missing" as JSON.
  void write(const std::string& name, const std::string& lists, int lines) {
    const fs::path folder = folder_->path() / "round_0" / "compilers" / name;
    fs::create_directories(folder);
    std::ofstream(folder / "finding.json")
        << R"({"case": "user/)" << name << R"(/f32/ptx/backward", )" << lists << R"(, "lines_before": 290, "lines": )"
        << lines << R"(, "trials": 5, "minimal": true})";
    std::ofstream(folder / "reduced.cu") << "// source of " << name << "\n";
  }

  [[nodiscard]] std::string page() const {
    const auto text = findings_page(std::vector<fs::path>{folder_->path()});
    EXPECT_TRUE(text.ok());
    return text.ok() ? *text : "";
  }

  Result<backends::ScratchDirectory> folder_ = backends::ScratchDirectory::create(fs::temp_directory_path());
};

TEST_F(CompilerFindingsPage, StatesFirstCompilerVersionThatFixesTheBug) {
  write("a",
        R"("incorrect": ["NVRTC 13.2.86 compute_100", "NVRTC 9.2.1 compute_100"], "missing": ["setp"],
           "correct": ["NVRTC 13.5.37 compute_75", "NVRTC 13.10.2 compute_100", "NVRTC 13.5.37 compute_100"])",
        16);
  EXPECT_THAT(
      page(),
      HasSubstr("The first compared NVRTC version that compiles this kernel correctly for compute_100 is 13.5.37."));
}

TEST_F(CompilerFindingsPage, StatesIfNoNewerCompilerVersionFixesTheBug) {
  write("a",
        R"("incorrect": ["NVRTC 13.5.37 compute_100"], "missing": ["setp"],
           "correct": ["NVRTC 13.5.37 compute_75", "NVRTC 12.9.86 compute_100"])",
        16);
  EXPECT_THAT(
      page(),
      HasSubstr("No compared NVRTC version newer than 13.5.37 compiles this kernel correctly for compute_100."));
}

TEST_F(CompilerFindingsPage, GroupsFindingsByMissingInstructionsAndShowsTheShortestSource) {
  const std::string builds = R"("incorrect": ["NVRTC 13.0.88 compute_100"], "correct": [], "missing": )";
  write("longer", builds + R"(["selp", "setp"])", 19);
  write("shorter", builds + R"(["selp", "setp"])", 15);
  write("other", builds + R"(["add"])", 17);
  const std::string text = page();
  EXPECT_THAT(text, HasSubstr("## backward pass, the PTX lacks selp, setp: 2 findings"));
  EXPECT_THAT(text, HasSubstr("## backward pass, the PTX lacks add: 1 finding\n"));
  EXPECT_THAT(text, HasSubstr("// source of shorter"));
  EXPECT_THAT(
      text,
      HasSubstr("- `user/longer/f32/ptx/backward`: incorrect in NVRTC 13.0.88 for compute_100; reduced to 19 lines"));
  EXPECT_THAT(text, HasSubstr("| lines of a reduced source, median | 17 |"));
}

TEST_F(CompilerFindingsPage, ReportsFileOfInvalidFinding) {
  write("a", R"("incorrect": [)", 16);
  const auto text = findings_page(std::vector<fs::path>{folder_->path()});
  ASSERT_FALSE(text.ok());
  EXPECT_THAT(text.error().text(), HasSubstr("finding.json"));
}

}  // namespace
}  // namespace assay::compilers
