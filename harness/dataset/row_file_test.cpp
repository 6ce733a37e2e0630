#include "harness/dataset/row_file.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/dataset/testing/generated.hpp"
#include "support/files.hpp"

namespace assay::dataset {
namespace {

namespace fs = std::filesystem;
using testing::Folder;
using ::testing::HasSubstr;

class OutputFolderTest : public ::testing::Test {
 protected:
  OutputFolderTest() {
    for (const char* const file : {"rows/journal.jsonl", "rows/data/train-00000-of-00001.jsonl.gz", "lone/a.jsonl"})
      EXPECT_TRUE(put_file(folder_ / file, "").ok());
  }

  Folder folder_;
};

TEST_F(OutputFolderTest, RejectsDatasetFolderAndFoldersInside) {
  fs::create_directory_symlink(folder_ / "rows", folder_ / "link");
  for (const char* const output : {"rows", "rows/", "rows/data", "rows/new/folder", "link", "lone/../rows"}) {
    const Result<void> checked = check_output_folder(folder_ / "rows", folder_ / output);
    ASSERT_FALSE(checked.ok()) << output;
    EXPECT_THAT(checked.error().text(), HasSubstr("the folder of the dataset that is read")) << output;
  }
  EXPECT_FALSE(check_output_folder(folder_ / "rows/data/train-00000-of-00001.jsonl.gz", folder_ / "rows").ok());
}

TEST_F(OutputFolderTest, RejectsFolderOfSingleInputFile) {
  const Result<void> checked = check_output_folder(folder_ / "lone/a.jsonl", folder_ / "lone");
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.error().text(), HasSubstr("output folder contains the input file a.jsonl"));
}

TEST_F(OutputFolderTest, AcceptsOtherFolders) {
  for (const char* const output : {"rows2", "other/rows", "lone", "."})
    EXPECT_TRUE(check_output_folder(folder_ / "rows", folder_ / output).ok()) << output;
  EXPECT_TRUE(check_output_folder(folder_ / "lone/a.jsonl", folder_ / "lone/parts").ok());
}

}  // namespace
}  // namespace assay::dataset
