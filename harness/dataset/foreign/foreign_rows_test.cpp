// Reading of mappings and of foreign rows.
#include "harness/dataset/foreign/foreign_rows.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/python/python_process.hpp"
#include "support/files.hpp"

namespace assay::foreign {
namespace {

using ::testing::HasSubstr;

FieldMapping mapping_of(const std::string& text) {
  Result<FieldMapping> mapping = parse_mapping(text, "map.json");
  EXPECT_TRUE(mapping.ok()) << mapping.error().text();
  return mapping.take();
}

class ForeignRowsTest : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    std::ofstream(folder_.path() / name) << text;
  }
  std::vector<ForeignRow> rows(const FieldMapping& mapping) const {
    std::vector<ForeignRow> result;
    const auto files = input_files(folder_.path());
    EXPECT_TRUE(files.ok()) << files.error().text();
    const Result<void> read = read_rows(*files, mapping, [&](ForeignRow row) -> Result<void> {
      result.push_back(std::move(row));
      return {};
    });
    EXPECT_TRUE(read.ok()) << read.error().text();
    return result;
  }

  python::ScratchFolder folder_;
  const FieldMapping mapping_ = mapping_of(R"({"fields": {"python": "py", "cpp": "c", "id": "name"}})");
};

TEST_F(ForeignRowsTest, ReadsPlainAndCompressedJsonFilesInOrderOfTheirNames) {
  write("b.jsonl", "{\"py\":\"p1\",\"c\":\"c1\",\"name\":\"one\"}\n{\"py\":\"p2\",\"c\":\"c2\",\"name\":7}\n");
  write("c/single.json", "{\"py\": \"p3\",\n \"c\": \"c3\", \"name\": \"three\"}");
  write("d.json", R"([{"py": "p4", "c": "c4", "name": "four"}, {"py": "p5", "c": "c5", "name": "five"}])");
  write("notes.txt", "not a row");
  const std::string_view line = R"({"py":"p0","c":"c0","name":"zero"})";
  ASSERT_TRUE(put_lines(folder_.path() / "a.jsonl.zst", std::span(&line, 1), 1).ok());
  std::vector<std::string> ids;
  for (const ForeignRow& row : rows(mapping_)) {
    EXPECT_EQ(row.damage, std::nullopt) << row.damage->message;
    EXPECT_EQ(row.row_index, ids.size());
    ids.push_back(row.id);
  }
  EXPECT_EQ(ids, (std::vector<std::string>{"zero", "one", "7", "three", "four", "five"}));
}

TEST_F(ForeignRowsTest, ReportsInvalidAndIncompleteRows) {
  write("rows.jsonl",
        "{\"py\": \"p\"\n"
        "[1]\n"
        "{\"py\":\"p\",\"name\":\"x\"}\n"
        "{\"py\":\" \\n\",\"c\":\"c\",\"name\":\"x\"}\n"
        "{\"py\":3,\"c\":\"c\",\"name\":\"x\"}\n"
        "{\"py\":\"p\",\"c\":\"c\"}\n"
        "{\"py\":\"p\",\"c\":\"c\",\"c\":\"d\",\"name\":\"x\"}\n");
  const std::vector<ForeignRow> found = rows(mapping_);
  ASSERT_EQ(found.size(), 7U);
  const auto expect = [&](std::size_t row, RowDamage damage, const std::string& message) {
    ASSERT_TRUE(found[row].damage.has_value()) << row;
    EXPECT_EQ(to_text(found[row].damage->damage), to_text(damage)) << row;
    EXPECT_THAT(found[row].damage->message, HasSubstr(message)) << row;
  };
  expect(0, RowDamage::kInvalidRow, "expected");
  expect(1, RowDamage::kInvalidRow, "the row must be a JSON object");
  expect(2, RowDamage::kMissingField, "cpp: the row has no member 'c'");
  expect(3, RowDamage::kMissingField, "python: member 'py' is empty");
  expect(4, RowDamage::kInvalidRow, "python: member 'py' must be a string");
  expect(5, RowDamage::kMissingField, "id: member 'name' must be a string that is not empty, or an integer");
  expect(6, RowDamage::kInvalidRow, "expected");
  EXPECT_EQ(found[5].id, "rows.jsonl:6");
}

TEST_F(ForeignRowsTest, FindsValuesByJsonPointerAndJoinsSeveralValuesOfOneField) {
  write("rows.jsonl", "{\"code\":{\"py\":\"p\",\"fwd\":\"f\",\"bwd\":\"b\"}}\n");
  const std::vector<ForeignRow> found =
      rows(mapping_of(R"({"fields": {"python": "/code/py", "cpp": ["/code/fwd", "/code/bwd"]}})"));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].python, "p");
  EXPECT_EQ(found[0].cpp_source, "f\nb");
  EXPECT_EQ(found[0].id, "rows.jsonl:1");
}

TEST_F(ForeignRowsTest, RejectsFolderWithoutRows) {
  write("notes.txt", "");
  const auto files = input_files(folder_.path());
  ASSERT_FALSE(files.ok());
  EXPECT_THAT(files.error().text(), HasSubstr("contains no .jsonl, .jsonl.gz, .jsonl.zst or .json file"));
  EXPECT_FALSE(input_files(folder_.path() / "missing.jsonl").ok());
}

TEST(FieldMapping, ReportsFirstErrorOfInvalidMappingFile) {
  const auto error_of = [](const std::string& text) {
    const Result<FieldMapping> mapping = parse_mapping(text, "map.json");
    return mapping.ok() ? "" : mapping.error().text();
  };
  EXPECT_THAT(error_of("{"), HasSubstr("map.json: mapping is not valid JSON"));
  EXPECT_THAT(error_of(R"({"fields": {"cpp": "c"}})"), HasSubstr("/fields"));
  EXPECT_THAT(error_of(R"({"fields": {"python": "p"}})"), HasSubstr("/fields"));
  EXPECT_THAT(error_of(R"({"fields": {"python": "p", "cpp": 3}})"), HasSubstr("/fields/cpp"));
  EXPECT_THAT(error_of(R"({"fields": {"python": "p", "cpp": "c", "other": "o"}})"), HasSubstr("/fields"));
  EXPECT_THAT(error_of(R"({"fields": {"python": "/a~2", "cpp": "c"}})"), HasSubstr("invalid JSON pointer '/a~2'"));
  EXPECT_THAT(error_of(R"({"fields": {"python": "p", "cpp": "c"}, "passes": ["backward"]})"), HasSubstr("/passes"));
}

TEST(FieldMapping, ReadsCodeGenerationOptionsAndListOfPasses) {
  const FieldMapping mapping =
      mapping_of(R"({"fields": {"python": "p", "cuda": "c"}, "options": {"block_dim": 128}, "passes": ["forward"]})");
  EXPECT_EQ(mapping.warp_module_options.at("block_dim"), 128);
  EXPECT_FALSE(mapping.has_backward);
  EXPECT_TRUE(mapping.cpp_source.empty());
}

}  // namespace
}  // namespace assay::foreign
