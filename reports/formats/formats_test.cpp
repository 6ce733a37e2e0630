// Machine-readable formats of runs with hostile texts.
#include "reports/formats/formats.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pugixml.hpp>
#include <unistd.h>

#include "reports/formats/markdown.hpp"
#include "reports/formats/text.hpp"
#include "reports/testing/synthetic_run.hpp"

namespace assay::reports {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::synthetic_run;

constexpr const char* kHostile =
    " \"'<script>alert(1)</script>]]>&amp;\x01\x1b[31m\xEF\xBF\xBE | `x` **b** "
    "[a](javascript:b)\n\xE2\x88\x82\xF0\x9F\x8E\x89";

std::size_t count_of(const Run& run, const std::set<Tone>& tones) {
  return static_cast<std::size_t>(std::count_if(run.cases.begin(), run.cases.end(),
                                                [&](const json& record) { return tones.contains(tone_of(record)); }));
}

const std::set<Tone> kRed = {Tone::unexpected, Tone::inconclusive, Tone::not_run};

TEST(Junit, ContainsEveryCaseAndCommandsToReproduceFailures) {
  const reports::Run run = synthetic_run({.hostile = kHostile});
  pugi::xml_document document;
  const std::string text = junit_xml(run);
  ASSERT_TRUE(document.load_string(text.c_str(), pugi::parse_full));
  EXPECT_EQ(document.select_nodes("//testcase").size(), run.cases.size());
  EXPECT_EQ(document.select_nodes("//failure | //error").size(), count_of(run, kRed));
  EXPECT_EQ(document.select_nodes("//skipped").size(), count_of(run, {Tone::unsupported}));
  EXPECT_EQ(document.select_node("/testsuites/@tests").attribute().as_uint(), run.cases.size());
  for (const auto& found : document.select_nodes("//testsuite")) {
    const pugi::xml_node suite = found.node();
    EXPECT_EQ(suite.attribute("tests").as_uint(), suite.select_nodes("testcase").size());
    EXPECT_EQ(suite.attribute("failures").as_uint(), suite.select_nodes("testcase/failure").size());
    EXPECT_EQ(suite.attribute("errors").as_uint(), suite.select_nodes("testcase/error").size());
    EXPECT_EQ(suite.attribute("skipped").as_uint(), suite.select_nodes("testcase/skipped").size());
  }
  const std::string failure = document.select_node("//failure[@type='fail(mismatch)']").node().text().get();
  EXPECT_THAT(failure, HasSubstr("assay run "));
}

// Jenkins' junit-10.xsd: the root has no count of skipped cases, and times are plain decimals.
TEST(Junit, HasOnlyAttributesOfTheJenkinsSchema) {
  const std::map<std::string, std::set<std::string>> known{
      {"testsuites", {"name", "time", "tests", "failures", "errors"}},
      {"testsuite", {"name", "time", "tests", "failures", "errors", "skipped", "timestamp", "hostname"}},
      {"testcase", {"name", "time", "classname"}},
      {"failure", {"message", "type"}},
      {"error", {"message", "type"}},
      {"skipped", {"message", "type"}}};
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(junit_xml(synthetic_run({.hostile = kHostile})).c_str()));
  for (const auto& found : document.select_nodes("//*")) {
    const auto element = known.find(found.node().name());
    ASSERT_NE(element, known.end()) << found.node().name();
    for (const pugi::xml_attribute attribute : found.node().attributes())
      EXPECT_TRUE(element->second.contains(attribute.name())) << element->first << " " << attribute.name();
  }
}

TEST(Junit, EscapesHostileText) {
  const reports::Run run = synthetic_run({.hostile = kHostile});
  const std::string text = junit_xml(run);
  EXPECT_THAT(text, Not(HasSubstr("<script")));
  EXPECT_THAT(text, Not(HasSubstr("\x01")));
  EXPECT_THAT(text, Not(HasSubstr("&#1;"))) << "a reference to a control character is as invalid as the character";
  EXPECT_THAT(text, Not(HasSubstr("\xEF\xBF\xBE")));
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(text.c_str()));
  bool survives = false;
  for (const auto& found : document.select_nodes("//failure | //error"))
    survives |= std::string_view(found.node().text().get()).find("\"'<script>alert(1)</script>]]>&amp;[31m") !=
                std::string_view::npos;
  EXPECT_TRUE(survives);
}

TEST(Ctrf, SummaryCountsMatchListedTests) {
  const reports::Run run = synthetic_run({.hostile = kHostile});
  const json report = ctrf_json(run, summarize(run));
  EXPECT_EQ(report.at("reportFormat"), "CTRF");
  const json& results = report.at("results");
  ASSERT_EQ(results.at("tests").size(), run.cases.size());
  std::map<std::string, int> counts;
  for (const json& test : results.at("tests")) {
    ++counts[test.at("status")];
    EXPECT_TRUE(test.at("duration").is_number_integer());
    EXPECT_EQ(test.at("suite").size(), 3U);
  }
  for (const auto& [status, count] : counts)
    EXPECT_EQ(results.at("summary").at(status), count) << status;
  EXPECT_EQ(results.at("summary").at("failed"), count_of(run, kRed));
  EXPECT_EQ(results.at("summary").at("tests"), run.cases.size());
  EXPECT_LT(results.at("summary").at("start"), results.at("summary").at("stop"));
}

// The published JSON Schema of version 0.0.0 allows no other members in these objects.
TEST(Ctrf, HasOnlyMembersOfItsSchema) {
  const std::set<std::string> of_a_test{"name",     "status", "duration",      "suite", "rawStatus",
                                        "filePath", "device", "message",       "line",  "trace",
                                        "retries",  "flaky",  "retryAttempts", "extra"};
  const std::set<std::string> of_the_summary{"tests", "passed", "failed", "skipped", "pending",
                                             "other", "flaky",  "suites", "start",   "stop"};
  const reports::Run run = synthetic_run({.hostile = kHostile});
  const json results = ctrf_json(run, summarize(run)).at("results");
  for (const auto& [member, value] : results.at("summary").items()) {
    EXPECT_TRUE(of_the_summary.contains(member)) << member;
    EXPECT_TRUE(value.is_number_integer()) << member;
  }
  for (const json& test : results.at("tests")) {
    for (const auto& [member, value] : test.items())
      EXPECT_TRUE(of_a_test.contains(member)) << member;
  }
}

TEST(Sarif, EveryResultHasFileAndLine) {
  const reports::Run run = synthetic_run({.hostile = kHostile});
  const json results = sarif_json(run, summarize(run)).at("runs").at(0).at("results");
  ASSERT_FALSE(results.empty());
  for (const json& result : results) {
    const json& place = result.at("locations").at(0).at("physicalLocation");
    EXPECT_GT(place.at("region").at("startLine"), 0);
    EXPECT_THAT(place.at("artifactLocation").at("uri").get<std::string>(), Not(HasSubstr(" ")));
    EXPECT_FALSE(result.at("message").at("text").get<std::string>().empty());
  }
  std::vector<std::string> notes;
  for (const json& result : results) {
    if (result.at("level") != "note") continue;
    notes.push_back(result.at("locations").at(0).at("physicalLocation").at("artifactLocation").at("uri"));
  }
  EXPECT_THAT(notes, ElementsAre(Not(HasSubstr("physics")), HasSubstr("physics")));
}

TEST(Sarif, OmitsKernelsWithoutFile) {
  reports::Run run = synthetic_run({});
  for (json& record : run.cases)
    record["source"]["file"] = "";
  EXPECT_TRUE(sarif_json(run, summarize(run)).at("runs").at(0).at("results").empty());
}

TEST(Markdown, EscapesHostileText) {
  const reports::Run run = synthetic_run({.hostile = kHostile});
  const std::string text = summary_markdown(run, summarize(run), nullptr);
  EXPECT_THAT(text, Not(HasSubstr("<script")));
  EXPECT_THAT(text, Not(HasSubstr("[a](javascript")));
  EXPECT_THAT(text, HasSubstr("| loop |"));
  EXPECT_THAT(text, HasSubstr("assay run "));
}

TEST(Markdown, LongSummaryStaysBelowSizeLimitAndReportsOmissions) {
  reports::Run run = synthetic_run({.cuda = false});
  const json failed = *std::find_if(run.cases.begin(), run.cases.end(),
                                    [](const json& record) { return record.at("outcome") == "fail"; });
  for (int i = 0; i < 10'000; ++i) {
    run.cases.push_back(failed);
    run.cases.back()["case"] = fmt::format("loop/r1_{}/f32/cpu/backward", i);
  }
  const std::string text = summary_markdown(run, summarize(run), nullptr);
  EXPECT_LE(text.size(), kMaxMarkdownBytes);
  EXPECT_GT(text.size(), kMaxMarkdownBytes / 2);
  EXPECT_THAT(text, HasSubstr("omitted to limit the size"));
  EXPECT_THAT(text, HasSubstr("| all |")) << "the grid is never left out";
}

TEST(FailuresCsv, HasOneLinePerFailure) {
  const reports::Run run = synthetic_run({});
  const std::string table = failures_csv(run);
  EXPECT_EQ(static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n')), 1 + count_of(run, kRed));
  EXPECT_EQ(table.substr(0, table.find('\r')), "case,outcome,kind,message");
}

struct Slice {
  std::string name;
  std::string category;
  int lane;
  std::int64_t begin;
  std::int64_t end;
};

std::vector<Slice> slices_of(const reports::Run& run) {
  std::vector<Slice> slices;
  const json trace = json::parse(chrome_trace(run));
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    const std::int64_t begin = event.at("ts");
    slices.push_back({event.at("name"), event.at("cat"), event.at("tid"), begin, begin + event.at("dur").get<int>()});
  }
  return slices;
}

TEST(Trace, CasesEndAtTheirRecordedTime) {
  const reports::Run run = synthetic_run({.hostile = kHostile});
  std::map<std::string, std::int64_t> ends;
  for (const Slice& slice : slices_of(run)) {
    if (slice.category == "case") ends[slice.name] = slice.end;
  }
  std::size_t judged = 0;
  for (const json& record : run.cases) {
    if (!record.contains("schedule")) continue;
    ++judged;
    ASSERT_TRUE(ends.contains(record.at("case"))) << record.at("case");
    EXPECT_NEAR(static_cast<double>(ends.at(record.at("case"))),
                record.at("schedule").at("done_ms").get<double>() * 1e3, 1);
  }
  EXPECT_EQ(ends.size(), judged);
  EXPECT_EQ(json::parse(chrome_trace(run)).at("otherData").at("cases_left_out"), run.cases.size() - judged);
}

// Trace viewers show slices that overlap without nesting under the wrong parent.
TEST(Trace, EventsInOneRowAreDisjointOrNested) {
  reports::Run run = synthetic_run({});
  const auto batch_of = [](json& record) {
    return std::pair(record["schedule"]["lane"], record["schedule"]["batch_ms"]);
  };
  for (json& record : run.cases) {  // as repeated runs record: a batch at once, when all of it is done
    if (!record.contains("schedule")) continue;
    for (json& other : run.cases) {
      if (other.contains("schedule") && batch_of(other) == batch_of(record))
        record["schedule"]["done_ms"] = std::max(record["schedule"]["done_ms"], other["schedule"]["done_ms"]);
    }
  }
  const std::vector<Slice> slices = slices_of(run);
  ASSERT_GT(slices.size(), 1000U);
  for (const Slice& one : slices) {
    EXPECT_LE(one.begin, one.end) << one.name;
    for (const Slice& other : slices) {
      if (&one == &other || one.lane != other.lane || one.end <= other.begin || other.end <= one.begin) continue;
      const bool within = one.begin >= other.begin && one.end <= other.end;
      const bool around = one.begin <= other.begin && one.end >= other.end;
      EXPECT_TRUE(within || around) << one.name << " and " << other.name;
    }
  }
}

TEST(Trace, IsEmptyIfRecordsContainNoExecutionTimes) {
  reports::Run run = synthetic_run({});
  for (json& record : run.cases)
    record.erase("schedule");
  EXPECT_TRUE(slices_of(run).empty());
}

TEST(Timestamp, IsParsedToEpochMilliseconds) {
  EXPECT_EQ(epoch_ms("1970-01-01T00:00:01Z"), 1000);
  EXPECT_EQ(epoch_ms("2026-11-21T03:47:02Z"), 1'795'232'822'000);
}

}  // namespace
}  // namespace assay::reports
