#include "harness/dataset/checksums.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/dataset/testing/generated.hpp"
#include "support/files.hpp"

namespace assay::dataset {
namespace {

namespace fs = std::filesystem;
using testing::Folder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::made;
using ::testing::SizeIs;
using testing::small_plan;

class ChecksumsTest : public ::testing::Test {
 protected:
  ChecksumsTest() : dir_(folder_ / "d") {
    made(small_plan(4), {.output = dir_});
    text_ = read_file_text(dir_ / kChecksumFileName).value_or("");
  }

  std::vector<RowError> errors_of(const std::string& text) const {
    EXPECT_TRUE(put_file(dir_ / kChecksumFileName, text).ok());
    std::vector<RowError> errors;
    check_checksums(dir_, errors);
    return errors;
  }
  /// The number of the line that ends with the file name, and the line with its newline.
  std::pair<std::uint64_t, std::string> line_of(std::string_view name) const {
    const std::size_t end = text_.find(fmt::format("  {}\n", name)) + 2 + name.size() + 1;
    const std::size_t begin = text_.rfind('\n', end - 2) + 1;
    return {std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(begin), '\n') + 1,
            text_.substr(begin, end - begin)};
  }
  std::string without(const std::string& line) const {
    std::string text = text_;
    return text.erase(text.find(line), line.size());
  }

  Folder folder_;
  fs::path dir_;
  std::string text_;
};

TEST_F(ChecksumsTest, AcceptsGeneratedFile) { EXPECT_THAT(errors_of(text_), IsEmpty()); }

TEST_F(ChecksumsTest, ReportsEveryChangedByte) {
  for (std::size_t at = 0; at < text_.size(); ++at) {
    for (const int bit : {0x01, 0x20}) {
      std::string changed = text_;
      changed[at] = static_cast<char>(changed[at] ^ bit);
      EXPECT_FALSE(errors_of(changed).empty()) << "byte " << at << ", bit " << bit;
    }
  }
}

TEST_F(ChecksumsTest, RequiresOneLineForEachFile) {
  for (const char* const name : {"README.md", "schema.json", "journal.jsonl", "quarantine/quarantine.jsonl",
                                 "data/train-00000-of-00001.jsonl.gz"}) {
    const auto [number, line] = line_of(name);
    const std::vector<RowError> missing = errors_of(without(line));
    ASSERT_THAT(missing, SizeIs(1)) << name;
    EXPECT_EQ(missing[0].file, name);
    EXPECT_THAT(missing[0].found_text, HasSubstr("checksums.sha256 does not list"));
    const std::vector<RowError> twice = errors_of(text_ + line);
    ASSERT_THAT(twice, SizeIs(1)) << name;
    EXPECT_THAT(twice[0].found_text, HasSubstr(fmt::format("a second line for \"{}\"", name)));
    EXPECT_THAT(twice[0].expected, HasSubstr(fmt::format("the first is line {}", number)));
  }
}

TEST_F(ChecksumsTest, RejectsFilesOutsideOfDataset) {
  const std::string sum(64, '0');
  for (const char* const name : {"/dev/null", "../README.md", "data/../README.md", "./README.md", ""}) {
    const std::vector<RowError> errors = errors_of(text_ + sum + "  " + name + "\n");
    ASSERT_THAT(errors, SizeIs(1)) << name;
    EXPECT_THAT(errors[0].expected, HasSubstr("hexadecimal digits, two spaces")) << name;
  }
}

}  // namespace
}  // namespace assay::dataset
