// Names, messages and sources round-trip through every format and are never interpreted as markup. Uses random texts
// made of pieces that are special in some format.
#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pugixml.hpp>
#include <unistd.h>

#include "reports/formats/formats.hpp"
#include "reports/formats/html/report_html.hpp"
#include "reports/formats/html/template.hpp"
#include "reports/formats/markdown.hpp"
#include "reports/formats/terminal.hpp"
#include "reports/formats/text.hpp"
#include "reports/testing/synthetic_run.hpp"
#include "support/csv.hpp"
#include "support/rng.hpp"

namespace assay::reports {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

constexpr std::array<std::string_view, 40> kPieces{"\"",
                                                   "'",
                                                   "<",
                                                   ">",
                                                   "&",
                                                   "&amp;",
                                                   "&#1;",
                                                   "]]>",
                                                   "<!--",
                                                   "-->",
                                                   "</script>",
                                                   "<script>",
                                                   "<b>",
                                                   "{{name}}",
                                                   "{{{x}}}",
                                                   "\\",
                                                   "`",
                                                   "|",
                                                   "*",
                                                   "_",
                                                   "[a](b)",
                                                   "#",
                                                   "~",
                                                   ",",
                                                   ";",
                                                   "\n",
                                                   "\t",
                                                   "\x01",
                                                   "\x1b[31m",
                                                   "\x7f",
                                                   "\xC3\xA9",
                                                   "\xE6\xBC\xA2",
                                                   "\xF0\x9F\x8E\x89",
                                                   "\xE2\x80\xA8",
                                                   "\xE2\x80\xAE",
                                                   "\xEF\xBB\xBF",
                                                   "%2F",
                                                   "word",
                                                   " ",
                                                   "\xEF\xBF\xBE"};

std::string random_text(Rng& rng) {
  std::string text = "x";
  for (int left = rng.uniform_int(1, 12); left > 0; --left)
    text += kPieces.at(rng.uniform_int(std::size_t{0}, kPieces.size() - 1));
  return text + "y";
}

// The texts of one case that every format must preserve.
struct Texts {
  std::string name;
  std::string message;
  std::string file;
  std::string log;
};

// A run with a failed case that has these texts.
struct Sample {
  Run run;
  Texts texts;

  [[nodiscard]] RunSummary summary() const { return summarize(run); }
};

Run base() {
  const fs::path dir = fs::temp_directory_path() / fmt::format("assay-property-{}", ::getpid());
  testing::write_synthetic_run(dir, {.kernels_per_family = 7, .cuda = false});
  Result<Run> run = read_run(dir);
  fs::remove_all(dir);
  return run.take();
}

Sample sample(const Run& base, std::uint64_t seed) {
  Rng rng(seed);
  Sample made{.run = base,
              .texts = {.name = fmt::format("loop/{}/f32/cpu/backward", random_text(rng)),
                        .message = random_text(rng),
                        .file = random_text(rng),
                        .log = random_text(rng)}};
  for (json& record : made.run.cases) {
    if (record.at("outcome") != "fail") continue;
    record["case"] = made.texts.name;
    record["message"] = made.texts.message;
    record["source"]["file"] = made.texts.file;
    record["log"] = made.texts.log;
    record["artifact"]["python"] = made.texts.log;
    break;
  }
  return made;
}

void in_junit(const Sample& sample) {
  pugi::xml_document document;
  const std::string text = junit_xml(sample.run);
  ASSERT_TRUE(document.load_string(text.c_str(), pugi::parse_default & ~pugi::parse_wconv_attribute));
  const std::string name = without_illegal_xml(sample.texts.name);
  const pugi::xml_node found = document.find_node([&](const pugi::xml_node& node) {
    return std::string_view(node.name()) == "testcase" && node.attribute("name").value() == name;
  });
  ASSERT_TRUE(found);
  EXPECT_EQ(found.child("failure").attribute("message").value(), without_illegal_xml(sample.texts.message));
  EXPECT_THAT(found.child("failure").text().get(), HasSubstr(without_illegal_xml(sample.texts.log)));
}

// The document after parsing its file text.
json written(const json& document) {
  return json::parse(document.dump(-1, ' ', false, json::error_handler_t::replace));
}

void in_ctrf(const Sample& sample) {
  const json report = written(ctrf_json(sample.run, sample.summary()));
  for (const json& test : report.at("results").at("tests")) {
    if (test.at("name") != sample.texts.name) continue;
    EXPECT_EQ(test.at("message"), sample.texts.message);
    EXPECT_EQ(test.at("filePath"), sample.texts.file);
    EXPECT_EQ(test.at("trace"), sample.texts.log);
    return;
  }
  ADD_FAILURE() << "no such test";
}

void in_sarif(const Sample& sample) {
  const json report = written(sarif_json(sample.run, sample.summary()));
  for (const json& result : report.at("runs").at(0).at("results")) {
    if (result.at("partialFingerprints").at("case/v1") != sample.texts.name) continue;
    EXPECT_EQ(result.at("message").at("text"), sample.texts.message);
    const std::string uri =
        result.at("locations").at(0).at("physicalLocation").at("artifactLocation").at("uri").get<std::string>();
    EXPECT_EQ(uri.find_first_of(" \"<>\\^`{|}\n"), std::string::npos) << uri;
    return;
  }
  ADD_FAILURE() << "no such result";
}

void in_table(const Sample& sample) {
  const auto rows = read_csv(failures_csv(sample.run));
  ASSERT_TRUE(rows.ok()) << rows.error().text();
  for (const CsvRow& row : *rows) {
    if (row.fields.front() == sample.texts.name) {
      EXPECT_EQ(row.fields.back(), sample.texts.message);
      return;
    }
  }
  ADD_FAILURE() << "no such row";
}

// The rendered Markdown.
std::string shown(std::string_view markdown) {
  constexpr std::array<std::pair<std::string_view, char>, 3> kEntities{{{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}}};
  std::string text;
  for (std::size_t i = 0; i < markdown.size(); ++i) {
    if (markdown[i] == '\\') {
      text += markdown[++i];
      continue;
    }
    const auto* const entity = std::find_if(kEntities.begin(), kEntities.end(), [&](const auto& candidate) {
      return markdown.substr(i).starts_with(candidate.first);
    });
    text += entity == kEntities.end() ? markdown[i] : entity->second;
    if (entity != kEntities.end()) i += entity->first.size() - 1;
  }
  return text;
}

std::string in_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n' || c == '\t') line += ' ';
    else if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) line += c;
  }
  return line;
}

void in_markdown(const Sample& sample) {
  const std::string text = summary_markdown(sample.run, sample.summary(), nullptr);
  EXPECT_EQ(text.find('<'), std::string::npos);
  EXPECT_THAT(shown(text), HasSubstr(in_one_line(sample.texts.message)));
  EXPECT_THAT(shown(text), HasSubstr(in_one_line(sample.texts.name)));
}

void in_json(const Sample& sample) {
  const json report = written(report_json(sample.run, sample.summary(), nullptr));
  bool found = false;
  for (const json& line : report.at("cases"))
    found |= line.at("case") == sample.texts.name && line.at("message") == sample.texts.message;
  EXPECT_TRUE(found);
  bool traced = false;
  const json trace = json::parse(chrome_trace(sample.run));
  for (const json& event : trace.at("traceEvents"))
    traced |= event.at("name") == sample.texts.name;
  EXPECT_TRUE(traced);
}

std::size_t occurrences(std::string_view text, std::string_view of) {
  std::size_t count = 0;
  for (std::size_t at = text.find(of); at != std::string_view::npos; at = text.find(of, at + 1))
    ++count;
  return count;
}

void in_html(const Sample& sample) {
  const std::string page = report_html(sample.run, sample.summary(), nullptr, nullptr);
  for (const std::string& text : {sample.texts.name, sample.texts.message, sample.texts.log})
    EXPECT_NE(page.find(escape_html(text)), std::string::npos) << text;
  EXPECT_EQ(occurrences(page, "<script"), 2U);
  EXPECT_EQ(occurrences(page, "</script"), 2U);
}

void on_the_terminal(const Sample& sample) {
  for (const json& record : sample.run.cases) {
    if (record.at("case") != sample.texts.name) continue;
    for (const char c : unexpected_lines(record, false))
      EXPECT_TRUE(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f)) << int(c);
  }
}

TEST(HostileTexts, RoundTripThroughEveryFormat) {
  const reports::Run plain = base();
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Sample one = sample(plain, seed);
    SCOPED_TRACE(fmt::format("seed {}: {} | {}", seed, one.texts.name, one.texts.message));
    in_junit(one);
    in_ctrf(one);
    in_sarif(one);
    in_table(one);
    in_markdown(one);
    in_json(one);
    in_html(one);
    on_the_terminal(one);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace assay::reports
