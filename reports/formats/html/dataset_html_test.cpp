#include "reports/formats/html/dataset_html.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::reports {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

dataset::DatasetOverview sample() {
  dataset::DatasetOverview overview{
      .name = "rows",
      .row_count = 1234,
      .licenses = {"CC-BY-4.0"},
      .emitters = {"assay 0.1.0"},
      .distributions = {{"Families", "", {{"loop", 1000}, {"math", 234}}}, {"Memory accesses", "A note.", {}}},
      .evidence = {{"cpu", "forward", "strict", 1234, 0, 5, 6, 7, 0.5}, {"ptx", "forward", "", 0, 1234, 0, 0, 0, 0}}};
  dataset::DatasetRow row;
  row.id = std::string(64, 'a');
  row.family = "loop";
  row.kernel_name = "sum_of_squares";
  row.python_source = "if a < b and c > d:\n";
  row.cuda_forward = "<forward>";
  overview.samples.push_back({"train", row});
  return overview;
}

TEST(DatasetPage, StatesWhatIsVerifiedAndEscapesSources) {
  const std::string page = dataset_html(sample(), "0.1.0");
  EXPECT_THAT(page, AllOf(HasSubstr("Dataset rows"), HasSubstr("all rows verified on cpu<"), HasSubstr("CC-BY-4.0"),
                          HasSubstr("50.0 %"), HasSubstr("if a &lt; b and c &gt; d:"), HasSubstr("sum_of_squares")));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<forward>")), Not(HasSubstr("A note.")), Not(HasSubstr("<script"))))
      << "sources are escaped, and measures without values are left out";
  EXPECT_THAT(page, Not(HasSubstr("CUDA C++, backward"))) << "the kernel has no backward function";
}

TEST(DatasetPage, ShowsNearMissesAndRejectedKernelsOnlyIfThereAreSome) {
  dataset::DatasetOverview overview = sample();
  const std::string without = dataset_html(overview, "0.1.0");
  EXPECT_THAT(without, AllOf(HasSubstr("No kernel was rejected"), Not(HasSubstr("id=\"near-misses\""))));
  overview.rejections.push_back({"fail(mismatch)", 2, "loop/r1_7", "out[0] is 1", "def k(): pass\n"});
  overview.near_misses = {
      3, 1, {{"wrong_sign", 3}}, {{"k", "cuda", "backward", "wrong_sign", "a sign", "differs", "+", "-"}}};
  const std::string with = dataset_html(overview, "0.1.0");
  EXPECT_THAT(with, AllOf(Not(HasSubstr("No kernel was rejected")), HasSubstr("fail(mismatch)"), HasSubstr("loop/r1_7"),
                          HasSubstr("tolerance 0.01 would accept 1 of them"), HasSubstr("id=\"near-misses\""),
                          HasSubstr("CUDA C++, backward"), HasSubstr("wrong_sign")));
}

}  // namespace
}  // namespace assay::reports
