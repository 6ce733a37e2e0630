#include "support/csv.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/rng.hpp"

namespace assay {
namespace {

using ::testing::ElementsAre;

TEST(Csv, QuotesOnlyIfNecessary) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,\"b\"\n"), "\"a,\"\"b\"\"\n\"");
}

TEST(Csv, CountsLinesInsideQuotedFields) {
  const auto rows = read_csv("case,message\r\na,\"two\nlines\"\n\nb,\n");
  ASSERT_TRUE(rows.ok()) << rows.error().text();
  ASSERT_EQ(rows->size(), 3U);
  EXPECT_THAT((*rows)[0].fields, ElementsAre("case", "message"));
  EXPECT_THAT((*rows)[1].fields, ElementsAre("a", "two\nlines"));
  EXPECT_EQ((*rows)[1].line, 2);
  EXPECT_THAT((*rows)[2].fields, ElementsAre("b", ""));
  EXPECT_EQ((*rows)[2].line, 5);
}

TEST(Csv, ReportsLineOfMalformedField) {
  EXPECT_EQ(read_csv("a\nb,\"c\n\n").error().text(), "2: quoted field is not closed");
  EXPECT_EQ(read_csv("a\n\"b\"c\n").error().where, "2");
}

TEST(Csv, WrittenFieldsRoundTrip) {
  constexpr std::string_view kAlphabet = "ab,\"\n\r ;\xE2\x88\x82";
  Rng rng(4180);
  for (int table = 0; table < 300; ++table) {
    std::vector<std::vector<std::string>> written(rng.uniform_int<std::size_t>(1, 5));
    std::string text;
    for (auto& row : written) {
      row.resize(rng.uniform_int<std::size_t>(2, 4));
      for (std::size_t i = 0; i < row.size(); ++i) {
        for (auto left = rng.uniform_int(0, 6); left > 0; --left)
          row[i] += kAlphabet[rng.uniform_int<std::size_t>(0, kAlphabet.size() - 1)];
        text += csv_field(row[i]) + (i + 1 < row.size() ? "," : table % 2 == 0 ? "\r\n" : "\n");
      }
    }
    const auto read = read_csv(text);
    ASSERT_TRUE(read.ok()) << text;
    ASSERT_EQ(read->size(), written.size()) << text;
    for (std::size_t i = 0; i < written.size(); ++i)
      EXPECT_EQ((*read)[i].fields, written[i]) << text;
  }
}

}  // namespace
}  // namespace assay
