// Validates the reports with the published schemas of their formats (schemas/published).
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "reports/formats/formats.hpp"
#include "reports/testing/synthetic_run.hpp"
#include "schemas/validator.hpp"

namespace assay::reports {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kPublished = ASSAY_SOURCE_DIR "/schemas/published/";

// Runs of all kinds: with all kinds of failures, without failures, truncated, with hostile texts, with a kernel without
// a file, with differing attempts.
std::vector<Run> runs(const fs::path& dir) {
  const testing::SyntheticRun kinds[] = {
      {}, {.cuda = false, .failures = false}, {.finished = false}, {.hostile = "\"'<b>&\x01\x1b]]>\xE2\x88\x82\n"}};
  std::vector<Run> all;
  for (const testing::SyntheticRun& kind : kinds) {
    testing::write_synthetic_run(dir, kind);
    Result<Run> run = read_run(dir);
    EXPECT_TRUE(run.ok()) << run.error().text();
    all.push_back(run.take());
  }
  all.push_back(all.front());
  all.back().cases[0]["source"] = {{"file", ""}, {"line", 0}};
  all.back().cases[1]["attempts"] = {"crashed", "pass"};
  all.back().cases[2]["time_ms"]["build"] = 1.5e9;
  return all;
}

class PublishedSchemas : public ::testing::Test {
 protected:
  PublishedSchemas() { fs::create_directories(dir_); }
  ~PublishedSchemas() override { fs::remove_all(dir_); }

  static schemas::Validator validator(const std::string& name) {
    std::ifstream file(kPublished + name);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    Result<schemas::Validator> parsed = schemas::Validator::parse(text);
    EXPECT_TRUE(parsed.ok()) << name << ": " << parsed.error().text();
    return parsed.take();
  }

  static std::string first_diagnostic(const schemas::Validator& validator, const json& document) {
    const auto diagnostics = validator.diagnostics(document);
    return diagnostics.empty() ? "" : diagnostics.front().text();
  }

  // The output of xmllint for a text and a schema; empty if the text is valid.
  std::string xml_error(const std::string& text, const std::string& schema) const {
    const fs::path file = dir_ / "report.xml";
    const fs::path output = dir_ / "diagnostics";
    std::ofstream(file, std::ios::binary) << text;
    const int status = std::system(fmt::format("xmllint --noout --huge --schema '{}{}' '{}' > '{}' 2>&1", kPublished,
                                               schema, file.string(), output.string())
                                       .c_str());
    std::ifstream diagnostics(output);
    std::string first;
    std::getline(diagnostics, first);
    return status == 0 ? "" : first;
  }

  fs::path dir_ = fs::temp_directory_path() / fmt::format("assay-published-{}", ::getpid());
};

TEST_F(PublishedSchemas, AcceptSarifReport) {
  const schemas::Validator sarif = validator("sarif-schema-2.1.0.json");
  for (const reports::Run& run : runs(dir_))
    EXPECT_EQ(first_diagnostic(sarif, sarif_json(run, summarize(run))), "");

  json wrong = sarif_json(runs(dir_).front(), summarize(runs(dir_).front()));
  wrong["runs"][0]["results"][0]["level"] = "catastrophe";
  EXPECT_NE(first_diagnostic(sarif, wrong), "") << "the schema must reject an invalid document";
}

TEST_F(PublishedSchemas, AcceptCtrfReport) {
  const schemas::Validator ctrf = validator("ctrf.schema.json");
  for (const reports::Run& run : runs(dir_))
    EXPECT_EQ(first_diagnostic(ctrf, ctrf_json(run, summarize(run))), "");

  json wrong = ctrf_json(runs(dir_).front(), summarize(runs(dir_).front()));
  wrong["results"]["tests"][0]["verdict"] = "fine";
  EXPECT_NE(first_diagnostic(ctrf, wrong), "");
}

TEST_F(PublishedSchemas, AcceptJunitReportForJenkins) {
  if (std::system("xmllint --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no xmllint: run ci/setup";
  for (const reports::Run& run : runs(dir_))
    EXPECT_EQ(xml_error(junit_xml(run), "junit-10.xsd"), "");
  EXPECT_NE(xml_error("<testsuites skipped=\"0\"/>", "junit-10.xsd"), "");
}

}  // namespace
}  // namespace assay::reports
