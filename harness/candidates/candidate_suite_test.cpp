#include "harness/candidates/candidate_suite.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/testing/temporary_directory.hpp"

namespace assay::harness {
namespace {

using ::testing::HasSubstr;

class CandidateListTest : public ::testing::Test {
 protected:
  CandidateListTest() {
    write("a.cu", "");
    write("b.cu", "");
    write("s.py", "");
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() / name, std::ios::binary) << text;
  }
  std::string error_of(const std::string& list) const {
    write("candidates.csv", list);
    const auto read = read_candidate_list(folder_.path());
    return read.ok() ? "no error" : read.error().text();
  }

  TemporaryDirectory folder_;
};

TEST_F(CandidateListTest, ReadsColumnsByName) {
  write("candidates.csv", "mistake,specification,candidate\nnone,s.py:k,a.cu\nlost tail,s.py,b.cu\n");
  const auto listed = read_candidate_list(folder_.path());
  ASSERT_TRUE(listed.ok()) << listed.error().text();
  ASSERT_EQ(listed->size(), 2U);
  EXPECT_EQ((*listed)[0].candidate_path, "a.cu");
  EXPECT_EQ((*listed)[0].specification_path, "s.py:k");
}

TEST_F(CandidateListTest, RejectsInvalidLists) {
  EXPECT_THAT(error_of("candidate,specification\nc.cu,s.py\n"),
              HasSubstr("candidates.csv:2: the candidate 'c.cu' does not exist"));
  EXPECT_THAT(error_of("candidate,specification\na.cu,t.py:k\n"),
              HasSubstr("the specification 't.py:k' does not exist"));
  EXPECT_THAT(error_of("candidate,specification\na.cu,s.py\na.cu,s.py\n"),
              HasSubstr("candidates.csv:3: the candidate 'a.cu' is listed twice"));
  EXPECT_THAT(error_of("candidate\na.cu\n"), HasSubstr("must contain the columns candidate and specification"));
  EXPECT_THAT(error_of("candidate,specification\na.cu\n"), HasSubstr("candidates.csv:2: the row has too few fields"));
  EXPECT_THAT(error_of("candidate,specification\n"), HasSubstr("the list has no candidates"));
  EXPECT_THAT(error_of(""), HasSubstr("the list is empty"));
}

TEST_F(CandidateListTest, MissingListIsReported) {
  EXPECT_THAT(read_candidate_list(folder_.path()).error().text(), HasSubstr("the folder has no list of candidates"));
}

CandidateVerdict verdict_of(Outcome outcome, std::vector<ToleranceComparison> comparisons) {
  return {.listed_candidate = {}, .outcome = outcome, .tolerance_comparisons = std::move(comparisons)};
}

TEST(ToleranceLines, CountRejectedCandidatesThatToleranceAccepts) {
  const std::vector<CandidateVerdict> verdicts{
      verdict_of(Outcome::pass, {{1e-2, 5, true}, {1e-4, 5, true}}),
      verdict_of(Outcome::fail, {{1e-2, 5, true}, {1e-4, 5, false}}),
      verdict_of(Outcome::memory_fault, {{1e-2, 5, false}, {1e-4, 5, false}}),
      verdict_of(Outcome::crashed, {}),
  };
  EXPECT_THAT(tolerance_lines(verdicts),
              ::testing::ElementsAre(
                  "a comparison with tolerance 0.01 accepts 1 of the 2 rejected candidates that returned results",
                  "a comparison with tolerance 0.0001 accepts 0 of the 2 rejected candidates that returned results"));
  EXPECT_TRUE(tolerance_lines({}).empty());
}

}  // namespace
}  // namespace assay::harness
