#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "harness/records/record_reader.hpp"

namespace assay::harness {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ExpectationFileTest : public ::testing::Test {
 protected:
  ~ExpectationFileTest() override { fs::remove(file_); }

  Result<std::vector<ExpectedFailure>> read(const std::string& text) const {
    std::ofstream(file_, std::ios::binary) << text;
    return read_expectations(file_);
  }

  fs::path file_ = fs::temp_directory_path() / fmt::format("assay-expectations-{}.csv", ::getpid());
};

TEST_F(ExpectationFileTest, ReadsColumnsInAnyOrderAndRecordsLocation) {
  const auto read_back = read(
      "message,case,outcome,compiler,expires,reason\r\n"
      "\"grad_x is *, expected *\",loop/*/f64,fail,NVRTC 13.0.*,2027-02-28,\"a \"\"tie\"\"\"\r\n");
  ASSERT_TRUE(read_back.ok()) << read_back.error().text();
  EXPECT_THAT(*read_back, ::testing::ElementsAre(ExpectedFailure{.location = file_.string() + ":2",
                                                                 .pattern = "loop/*/f64",
                                                                 .outcome = "fail",
                                                                 .message = "grad_x is *, expected *",
                                                                 .compiler = "NVRTC 13.0.*",
                                                                 .reason = "a \"tie\"",
                                                                 .expiry_date = "2027-02-28"}));
}

TEST_F(ExpectationFileTest, AcceptsHeaderWithoutRows) {
  const auto none = read("case,outcome,kind,message\r\n");
  EXPECT_TRUE(none.ok() && none->empty());
}

struct Wrong {
  const char* text;
  int line;
  const char* said;
};

TEST_F(ExpectationFileTest, ReportsLineOfEachError) {
  for (const Wrong& wrong : std::initializer_list<Wrong>{
           {"case,outcome\n", 1, "missing column 'message'"},
           {"case,outcome,message,mesage\n", 1,
            "unknown or repeated column 'mesage'; the columns are case, outcome, kind"},
           {"case,case,outcome,message\n", 1, "unknown or repeated column 'case'"},
           {"case,outcome,message,expires\na,fail,*,\nb,fail\n", 3, "row has 2 fields, but the header has 4"},
           {"case,outcome,message,expires\n\na,fial,*,\n", 3,
            "outcome 'fial' is not allowed in a table of expected failures; must be one of fail, defect, incon"},
           {"case,outcome,message,expires\na,pass,*,\n", 2, "outcome 'pass' is not allowed"},
           {"case,outcome,message,expires\na,not_run,*,\n", 2, "outcome 'not_run' is not allowed"},
           {"case,outcome,message,expires\n,fail,*,\n", 2, "the case pattern is empty"},
           {"case,outcome,message,expires\na,fail,*,2027-02-29\n", 2, "invalid date '2027-02-29'; expected a date"},
           {"case,outcome,message,expires\na,fail,*,tomorrow\n", 2, "invalid date 'tomorrow'"},
           {"case,outcome,message,expires\na,fail,\"*\n", 2, "quoted field is not closed"}}) {
    const auto rejected = read(wrong.text);
    ASSERT_FALSE(rejected.ok()) << wrong.text;
    EXPECT_EQ(rejected.error().where, fmt::format("{}:{}", file_.string(), wrong.line)) << wrong.text;
    EXPECT_THAT(rejected.error().message, HasSubstr(wrong.said));
  }
  EXPECT_THAT(read("").error().message, HasSubstr("is empty"));
  EXPECT_THAT(read_expectations("/nowhere/waivers.csv").error().text(),
              HasSubstr("/nowhere/waivers.csv: cannot read expectations: No such file"));
  EXPECT_FALSE(read_expectations("/tmp").ok()) << "a folder is not a file";
}

}  // namespace
}  // namespace assay::harness
