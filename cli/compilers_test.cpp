// Runs with several compilers: each is a mode of its own, and the results are shown side by side.
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/testing/command_runner.hpp"
#include "harness/records/record_reader.hpp"

namespace assay::cli {
namespace {

using testing::CommandResult;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Workshop;

constexpr std::string_view kKernel = R"(import warp as wp


@wp.kernel
def scale(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 3.25 * x[i]
)";

constexpr std::string_view kWrongCompiler = R"(#!/bin/sh
for argument; do
  case $argument in *.cpp) sed -i 's/3\.25/3.5/g' "$argument" ;; esac
done
exec c++ "$@"
)";

class CompilersTest : public ::testing::Test {
 protected:
  CompilersTest() : workshop_(ASSAY_PROGRAM) {
    workshop_.write("scale.py", kKernel);
    write_compiler("wrong", kWrongCompiler);
    write_compiler("right", "#!/bin/sh\nexec c++ \"$@\"\n");
  }

  void write_compiler(const std::string& name, std::string_view script) const {
    workshop_.write(name, script);
    std::filesystem::permissions(workshop_.path() / name, std::filesystem::perms::owner_all);
  }

  /// "strict@right pass" for each record, in the order of the plan.
  [[nodiscard]] std::vector<std::string> outcomes() const {
    const auto read = harness::read_records(workshop_.path() / "out");
    std::vector<std::string> texts;
    if (!read.ok()) return texts;
    for (const std::string& name : read->start.planned_case_names) {
      for (const harness::CaseRecord& record : read->cases)
        if (record.name == name) texts.push_back(record.mode + " " + std::string(to_text(record.outcome)));
    }
    return texts;
  }

  Workshop workshop_;
};

TEST_F(CompilersTest, JudgesEachCompilerInSeparateCase) {
  const CommandResult run =
      workshop_.run("assay run scale.py --quick --pass forward --reduce 0 --blame 0 --cxx \"$PWD/right,$PWD/wrong\"");
  EXPECT_EQ(run.status, 1) << run.err;
  EXPECT_THAT(outcomes(), ElementsAre("strict@right pass", "strict@wrong fail"));
  EXPECT_THAT(run.out, HasSubstr("1 case with different results"));
  EXPECT_THAT(run.out, HasSubstr("wrong: fail(mismatch); 1 pass"));
  const auto table = nlohmann::json::parse(workshop_.read("out/compilers.json"));
  EXPECT_EQ(table.at("columns").size(), 2U);
  EXPECT_THAT(workshop_.read("out/report.html"), HasSubstr("Compilers side by side"));
  EXPECT_THAT(workshop_.read("out/summary.md"), HasSubstr("| wrong | 0/1 | 1 |"));
}

TEST_F(CompilersTest, JudgesEachOptimizationLevelWithEachCompiler) {
  const CommandResult run =
      workshop_.run("assay compilers scale.py --device cpu --pass forward --cxx \"$PWD/right,c++\" --optimise 0,2");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(outcomes(), ElementsAre("strict@right pass", "strict@c++ pass", "O2@right pass", "O2@c++ pass"));
  EXPECT_THAT(run.out, HasSubstr("Every case has the same result in all builds."));
}

TEST_F(CompilersTest, ReproducesFailureWithTheCompilerThatCausedIt) {
  const CommandResult run =
      workshop_.run("assay run scale.py --quick --pass forward --blame 0 --reduce 5 --cxx \"$PWD/right,$PWD/wrong\"");
  EXPECT_EQ(run.status, 1) << run.err;
  const CommandResult again = workshop_.run("assay reproduce out/failures/*");
  EXPECT_EQ(again.status, 0) << again.out << again.err;
  EXPECT_THAT(workshop_.read("out/report.json"), HasSubstr("/wrong' 'scale.py:scale' --device cpu"));
}

TEST_F(CompilersTest, CaseNameOmitsTheCompilerIfOnlyOneIsChosen) {
  const CommandResult run = workshop_.run("assay run scale.py --quick --pass forward --cxx 'c++ -Wp,-DUNUSED=1'");
  EXPECT_THAT(run.out, Not(HasSubstr("@"))) << "a comma in an option does not separate compilers";
  EXPECT_THAT(run.out, Not(HasSubstr("different results")));
}

TEST_F(CompilersTest, ErrorNamesTheMissingCompiler) {
  const CommandResult run = workshop_.run("assay compilers scale.py --device cpu --cxx c++,no-such-compiler");
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("--cxx no-such-compiler: "));
}

TEST_F(CompilersTest, RejectsCompilerThatIsChosenTwice) {
  const CommandResult run = workshop_.run("assay compilers scale.py --device cpu --cxx c++,c++");
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("--cxx c++: the compiler c++ is chosen twice"));
}

TEST_F(CompilersTest, RejectsVersionOfNvrtcThatIsNotInstalled) {
  const CommandResult run = workshop_.run("assay compilers scale.py --nvrtc 1.2.3,1.2.4");
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("--nvrtc 1.2.3: "));
}

}  // namespace
}  // namespace assay::cli
