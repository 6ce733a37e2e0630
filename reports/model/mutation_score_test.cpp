#include "reports/model/mutation_score.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace assay::reports {
namespace {

nlohmann::json golden() {
  std::ifstream file(ASSAY_SOURCE_DIR "/testdata/schemas/certification.json");
  return nlohmann::json::parse(file);
}

TEST(MutationScore, RoundsPercentagesDown) {
  nlohmann::json mutation_score = golden();
  mutation_score["all"]["mutants"] = 100'000;
  mutation_score["all"]["killed"] = 99'999;
  const std::string table = mutation_table(mutation_score, false);
  const std::string all = table.substr(table.find("\nall "));
  EXPECT_NE(all.find("  99.9  "), std::string::npos) << all;
}

TEST(MutationScore, ShowsSurvivingMutantsWithPatches) {
  const std::string table = mutation_table(golden(), false);
  EXPECT_NE(table.find("survived  loop/horner#branch_negated.0, line 12: a branch is negated"), std::string::npos)
      << table;
  EXPECT_NE(table.find("+  if not(c) {"), std::string::npos);
  const std::string document = mutation_document(golden());
  EXPECT_NE(document.find("```diff\n-  if c {"), std::string::npos) << document;
  EXPECT_NE(document.find("10000 correct random kernels, 20000 cases; 0 rejected"), std::string::npos);
}

TEST(MutationScore, ShowsUndetectedInjectedFaults) {
  const std::string table = mutation_table(golden(), false);
  EXPECT_NE(table.find("not detected  bounds_times_ten: all bounds are 10 times as wide; the verdict was pass"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("1 of 2 detected"), std::string::npos);
  const std::string document = mutation_document(golden());
  EXPECT_NE(document.find("| sine_negated | oracle | d sin(x)/dx = -cos(x) | internal_error(oracle) | yes |"),
            std::string::npos)
      << document;
  nlohmann::json without = golden();
  without.erase("plants");
  EXPECT_EQ(mutation_table(without, false).find("noticed"), std::string::npos);
  EXPECT_EQ(mutation_document(without).find("injected into Assay"), std::string::npos);
}

TEST(MutationScore, RejectsFileThatViolatesSchema) {
  const std::filesystem::path dir = std::filesystem::temp_directory_path() / "assay-certification-test";
  std::filesystem::create_directories(dir);
  std::ofstream(dir / kMutationScoreFileName) << golden().dump();
  EXPECT_TRUE(read_mutation_score(dir).ok());
  nlohmann::json broken = golden();
  broken["all"]["killed"] = -1;
  std::ofstream(dir / kMutationScoreFileName) << broken.dump();
  const auto rejected = read_mutation_score(dir);
  ASSERT_FALSE(rejected.ok());
  EXPECT_NE(rejected.error().text().find("/all/killed"), std::string::npos) << rejected.error().text();
  std::filesystem::remove_all(dir);
  EXPECT_FALSE(read_mutation_score(dir).ok());
}

}  // namespace
}  // namespace assay::reports
