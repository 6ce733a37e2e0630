#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "schemas/embedded.hpp"
#include "schemas/validator.hpp"

namespace assay::schemas {
namespace {

using nlohmann::json;

json golden(const std::string& name) {
  std::ifstream file(ASSAY_SOURCE_DIR "/testdata/schemas/" + name + ".json");
  EXPECT_TRUE(file.is_open()) << name;
  return json::parse(file);
}

std::string_view schema_of(const std::string& golden_name) {
  if (golden_name == "certification") return kMutationScoreSchemaText;
  if (golden_name == "report") return kReportSchemaText;
  if (golden_name == "state") return kStateSchemaText;
  if (golden_name.starts_with("dataset_row")) return kDatasetRowSchemaText;
  if (golden_name == "stats") return kStatsSchemaText;
  if (golden_name == "bench") return kBenchSchemaText;
  if (golden_name == "launch") return kLaunchSchemaText;
  if (golden_name == "candidate") return kCandidateSchemaText;
  if (golden_name == "candidate_verdicts") return kCandidateVerdictsSchemaText;
  if (golden_name == "foreign_map") return kForeignMapSchemaText;
  if (golden_name.starts_with("plan") || golden_name == "block" || golden_name == "rejected" || golden_name == "end")
    return kManifestSchemaText;
  return kRecordSchemaText;
}

std::string joined(const std::vector<SchemaError>& diagnostics) {
  std::ostringstream text;
  for (const SchemaError& diagnostic : diagnostics)
    text << diagnostic.text() << "\n";
  return text.str();
}

TEST(Schemas, AcceptGoldenDocuments) {
  for (const char* name : {"run_start",  "case_pass", "case_fail",     "run_end",
                           "report",     "state",     "dataset_row",   "dataset_row_1.2.0",
                           "stats",      "plan",      "plan_1.1.0",    "block",
                           "rejected",   "end",       "certification", "expectations",
                           "bench",      "launch",    "candidate",     "candidate_verdicts",
                           "foreign_map"}) {
    const std::vector<SchemaError> diagnostics = Validator(schema_of(name)).diagnostics(golden(name));
    EXPECT_TRUE(diagnostics.empty()) << name << "\n" << joined(diagnostics);
  }
}

TEST(Schemas, ReportJsonPointerOfEachError) {
  for (const json& row : golden("refused")) {
    const std::string name = row.at("of");
    const json document = golden(name).patch(row.at("patch"));
    const std::vector<SchemaError> diagnostics = Validator(schema_of(name)).diagnostics(document);
    ASSERT_FALSE(diagnostics.empty()) << row.at("why");
    EXPECT_EQ(diagnostics.front().pointer, row.at("pointer").get<std::string>()) << row.at("why") << "\n"
                                                                                 << joined(diagnostics);
    EXPECT_THAT(diagnostics.front().expected, testing::HasSubstr(row.at("expected").get<std::string>()))
        << row.at("why") << "\n"
        << joined(diagnostics);
    for (const SchemaError& diagnostic : diagnostics) {
      EXPECT_EQ(diagnostic.pointer, diagnostics.front().pointer) << row.at("why") << "\n" << joined(diagnostics);
    }
  }
}

TEST(Schemas, RejectInvalidSchemaTexts) {
  for (const char* text : {"", "{", R"({"type": 7})", R"({"$ref": "#/nowhere"})", R"({"required": "x"})"}) {
    EXPECT_FALSE(Validator::parse(text).ok()) << text;
  }
  EXPECT_TRUE(Validator::parse(R"({"type": "object"})").ok());
}

TEST(Schemas, RejectKeywordsOfLaterSchemaDrafts) {
  for (const char* text :
       {R"({"$defs": {}})", R"({"items": {"prefixItems": []}})", R"({"minContains": 1})",
        R"({"properties": {"x": {"unevaluatedProperties": false}}})", R"({"allOf": [{"dependentRequired": {}}]})"}) {
    const Result<Validator> parsed = Validator::parse(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_THAT(parsed.error().text(), testing::HasSubstr("a later JSON Schema draft")) << text;
  }
  // A member name is not a keyword.
  EXPECT_TRUE(Validator::parse(R"({"properties": {"deprecated": {"type": "boolean"}}})").ok());
}

TEST(Schemas, ErrorReportsPathActualValueAndExpectedType) {
  json document = golden("case_pass");
  document["tiers"]["t1"]["checks"] = "many";
  const std::vector<SchemaError> diagnostics = Validator(kRecordSchemaText).diagnostics(document);
  ASSERT_EQ(diagnostics.size(), 1U) << joined(diagnostics);
  EXPECT_EQ(diagnostics[0].text(),
            "/tiers/t1/checks: found \"many\", expected a value of type integer (values compared)");
}

TEST(Schemas, ErrorShortensLongValueAndEscapesJsonPointer) {
  json document = golden("report");
  document["time_ms"]["a/b~c"] = std::string(500, 'x');
  const std::vector<SchemaError> diagnostics = Validator(kReportSchemaText).diagnostics(document);
  ASSERT_EQ(diagnostics.size(), 1U) << joined(diagnostics);
  EXPECT_EQ(diagnostics[0].pointer, "/time_ms/a~1b~0c");
  EXPECT_LT(diagnostics[0].found.size(), 100U);
}

TEST(Schemas, ErrorsStateLimitsAndTypesInPlainWords) {
  struct Violation {
    const char* patch;
    const char* pointer;
    const char* expected;
  };
  const Violation violations[] = {
      {R"([{"op": "replace", "path": "/evidence/0/rho_max", "value": -0.5}])", "/evidence/0/rho_max",
       "a number of at least 0 ("},
      {R"([{"op": "replace", "path": "/evidence/0/rho_max", "value": "small"}])", "/evidence/0/rho_max",
       "a value of type number or null ("},
      {R"([{"op": "replace", "path": "/launch/rank", "value": 5}])", "/launch/rank", "a number of at most 4 ("},
      {R"([{"op": "replace", "path": "/metadata/license", "value": ""}])", "/metadata/license",
       "text with at least 1 characters ("},
      {R"([{"op": "replace", "path": "/cpu_backward", "value": 7}])", "/cpu_backward",
       "a value of type string or null ("},
      {R"([{"op": "add", "path": "/origin", "value": {"package": 7, "version": "", "file": "a.py", "license": "MIT",
          "attribution": "Ada"}}])",
       "/origin/package", "a value of type string ("},
  };
  for (const Violation& violation : violations) {
    const json document = golden("dataset_row").patch(json::parse(violation.patch));
    const std::vector<SchemaError> diagnostics = Validator(kDatasetRowSchemaText).diagnostics(document);
    ASSERT_EQ(diagnostics.size(), 1U) << violation.patch << "\n" << joined(diagnostics);
    EXPECT_EQ(diagnostics[0].pointer, violation.pointer) << joined(diagnostics);
    EXPECT_THAT(diagnostics[0].expected, testing::StartsWith(violation.expected));
  }
}

// Members of every object that the schema describes, with the path to each.
void collect_properties(const json& node, const std::string& path, std::vector<std::pair<std::string, json>>& out) {
  if (!node.is_object() && !node.is_array()) return;
  for (const auto& [key, child] : node.items()) {
    if (key == "if" || key == "examples" || key == "enum") continue;
    if (key == "properties") {
      for (const auto& [name, property] : child.items())
        out.emplace_back(path + "/" + name, property);
    }
    collect_properties(child, path + "/" + key, out);
  }
}

TEST(Schemas, EveryPropertyHasDescriptionAndValidExample) {
  for (const std::string_view text : {kRecordSchemaText, kReportSchemaText, kStateSchemaText, kDatasetRowSchemaText,
                                      kManifestSchemaText, kStatsSchemaText, kBenchSchemaText}) {
    const json schema = json::parse(text);
    std::vector<std::pair<std::string, json>> properties;
    collect_properties(schema, "", properties);
    EXPECT_GT(properties.size(), 10U);
    for (const auto& [path, property] : properties) {
      if (property.contains("$ref")) continue;
      EXPECT_TRUE(property.contains("description")) << path;
      ASSERT_TRUE(property.contains("examples")) << path;
      json alone = property;
      alone["definitions"] = schema.value("definitions", json::object());
      for (const json& example : property.at("examples")) {
        const std::vector<SchemaError> diagnostics = Validator(alone.dump()).diagnostics(example);
        EXPECT_TRUE(diagnostics.empty()) << path << "\n" << joined(diagnostics);
      }
    }
  }
}

}  // namespace
}  // namespace assay::schemas
