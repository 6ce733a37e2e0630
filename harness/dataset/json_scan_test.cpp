#include "harness/dataset/json_scan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::dataset {
namespace {

using ::testing::HasSubstr;

std::optional<JsonScanError> scan(std::string_view line, std::size_t piece = ~std::size_t{0},
                                  JsonScanLimits limits = {}) {
  JsonScanner scanner(limits);
  for (std::size_t at = 0; at < line.size(); at += std::min(piece, line.size()))
    scanner.feed(line.substr(at, piece));
  return scanner.end();
}

TEST(JsonScanner, AcceptsValidJson) {
  for (const std::string_view line : {R"({"a":[1,-2.5e-3,"x\u00e9\n\"é日𝄞"],"b":{},"c":[],"d":null,"e":true})", "7",
                                      R"("")", " [ 1 , 2 ] ", R"({"é":"\ud834\udd1e","à":1})"}) {
    for (const std::size_t piece : {1U, 3U, 1000U})
      EXPECT_FALSE(scan(line, piece)) << line << ": " << scan(line, piece)->found_text;
  }
}

TEST(JsonScanner, ReadsSameValuesAsJsonLibrary) {
  for (const std::string_view line :
       {R"({"a":[1,-2.5e-3,"x\u00e9\n\"é日𝄞"],"b":{},"c":[],"d":null,"e":true})", "7", R"("")", " [ 1 , [2, {}], [] ] ",
        R"({"k\u00e9\ud834\udd1e\t":{"":[false,0.1,12345678901234567890,-9223372036854775808,"\\\/\b\f\r"]},"é":1})"}) {
    const auto value = read_json(line);
    ASSERT_TRUE(value) << line;
    EXPECT_EQ(*value, nlohmann::json::parse(line)) << line;
  }
  for (const std::string_view line : {"", "{", "[1,]", "1e999", R"(["\ud834"])", "nonsense"})
    EXPECT_FALSE(read_json(line)) << line;
}

struct Fault {
  std::string_view line;
  std::string_view json_pointer;
  std::string_view found_text;
};

TEST(JsonScanner, ReportsJsonPointerOfInvalidValue) {
  const Fault faults[] = {
      {R"({"a":{"b":[1,{"c":"x)"
       "\xff"
       R"("}]}})",
       "/a/b/1/c", "0xff"},
      {R"({"a":")"
       "\xc0\xaf"
       R"("})",
       "/a", "0xc0"},
      {R"({"a":")"
       "\xed\xa0\x80"
       R"("})",
       "/a", "0xa0"},
      {R"({"a":1,"b":2,"a":3})", "/a", "a duplicate member"},
      {R"({"a":[1,2)", "/a/1", "the end of the line"},
      {R"({"a":tru})", "/a", "'tru'"},
      {R"({"a":01})", "/a", "'01'"},
      {R"({"a":"\q"})", "/a", "'q'"},
      {"{\"a\":\"\x01\"}", "/a", "0x01"},
      {R"({"a" 1})", "/a", "'1'"},
      {R"({"a":"\ud834"})", "/a", "surrogate"},
      {R"({"a":"\ud834\n"})", "/a", "surrogate"},
      {R"({"a":"\ud834\u0041"})", "/a", "surrogate"},
      {R"({"a":"\udd1e"})", "/a", "surrogate"},
      {R"({"\u0061":1,"a":2})", "/a", "a duplicate member"},
      {R"({"a":1}})", "", "'}'"},
      {R"({"a":1,})", "", "'}'"},
      {R"({"x/y~z":[?]})", "/x~1y~0z", "'?'"},
      {"", "", "an empty line"},
      {"nonsense", "", "'nonsense'"},
  };
  for (const Fault& fault : faults) {
    for (const std::size_t piece : {1U, 1000U}) {
      const auto found = scan(fault.line, piece);
      ASSERT_TRUE(found) << fault.line;
      EXPECT_EQ(found->json_pointer, fault.json_pointer) << fault.line;
      EXPECT_THAT(found->found_text, HasSubstr(std::string(fault.found_text))) << fault.line;
    }
  }
}

TEST(JsonScanner, RejectsTooLongLinesTooLongStringsAndTooDeepNesting) {
  const JsonScanLimits limits{.max_line_bytes = 1000, .max_string_bytes = 100, .max_depth = 4};
  EXPECT_FALSE(scan(R"({"a":[[[1]]]})", 7, limits));
  EXPECT_EQ(scan(R"({"a":[[[[1]]]]})", 7, limits)->json_pointer, "/a/0/0");
  EXPECT_EQ(scan(R"({"a":")" + std::string(101, 'x') + R"("})", 7, limits)->json_pointer, "/a");
  EXPECT_EQ(scan(R"({"a":[)" + std::string(1000, ' ') + "]}", 7, limits)->found_text, "a line that is too long");
}

TEST(JsonScanner, AcceptsValidLineAfterInvalidLine) {
  JsonScanner scanner;
  scanner.feed("{");
  EXPECT_TRUE(scanner.end());
  scanner.feed("{}");
  EXPECT_FALSE(scanner.end());
}

}  // namespace
}  // namespace assay::dataset
