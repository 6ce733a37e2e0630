#include "harness/dataset/training/export.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "backends/cpu/device.hpp"
#include "harness/dataset/row_file.hpp"
#include "harness/dataset/testing/generated.hpp"
#include "harness/suite/emission.hpp"
#include "support/files.hpp"

namespace assay::dataset {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::files_of;
using testing::Folder;
using ::testing::HasSubstr;
using testing::made;
using testing::small_plan;

std::vector<json> lines_of(const fs::path& file) {
  std::vector<json> lines;
  Result<LineReader> reader = LineReader::open(file);
  EXPECT_TRUE(reader.ok()) << file;
  for (std::string line; reader.ok() && reader->next(line).value_or(false);)
    lines.push_back(json::parse(line));
  return lines;
}

std::map<std::string, json> rows_by_id(const fs::path& dataset) {
  std::map<std::string, json> rows;
  const Result<void> read = for_each_row(dataset, [&](const std::string& line, const fs::path& file, std::uint64_t) {
    json row = json::parse(line);
    row["split"] = split_of(file);
    rows[row.at("id")] = row;
    return Result<bool>(true);
  });
  EXPECT_TRUE(read.ok());
  return rows;
}

class TrainingTest : public ::testing::Test {
 protected:
  TrainingTest() { made(small_plan(24), {.output = folder_ / "d"}); }

  TrainingExport exported(TrainingFormat format, const std::string& name, int jobs = 2) {
    const Result<TrainingExport> done =
        export_for_training({.dataset = folder_ / "d", .output = folder_ / name, .format = format, .jobs = jobs}, &cpu_,
                            harness::printer());
    EXPECT_TRUE(done.ok()) << done.error().text();
    return done.ok() ? *done : TrainingExport{};
  }

  Folder folder_;
  cpu::CpuDevice cpu_{{.worker_executable = ASSAY_WORKER}};
};

TEST_F(TrainingTest, ConversationsAskForPythonKernelOrCudaTranslation) {
  const TrainingExport done = exported(TrainingFormat::kSft, "sft");
  EXPECT_EQ(done.rows, 24U);
  EXPECT_EQ(done.rows_without_example, 0U);
  const auto rows = rows_by_id(folder_ / "d");
  for (const auto& [split, count] : done.examples) {
    const std::vector<json> lines = lines_of(folder_ / "sft" / (split + ".jsonl.gz"));
    EXPECT_EQ(lines.size(), count);
    for (const json& line : lines) {
      const json& row = rows.at(line.at("id"));
      EXPECT_EQ(row.at("split"), split);
      const json& messages = line.at("messages");
      ASSERT_EQ(messages.size(), 2U);
      EXPECT_EQ(messages[0].at("role"), "user");
      EXPECT_EQ(messages[1].at("role"), "assistant");
      const bool writes = line.at("task") == "write";
      EXPECT_THAT(messages[0].at("content"), HasSubstr(row.at(writes ? "instruction" : "python_source")));
      EXPECT_THAT(messages[1].at("content"), HasSubstr(row.at(writes ? "python_source" : "cuda_source")));
    }
  }
  EXPECT_EQ(done.examples.at("train"), 2 * (24U - 2 * 2U));
}

TEST_F(TrainingTest, EachPairContainsOnePassInOneLanguage) {
  exported(TrainingFormat::kPairs, "pairs");
  const auto rows = rows_by_id(folder_ / "d");
  std::set<std::string> kinds;
  for (const json& line : lines_of(folder_ / "pairs" / "train.jsonl.gz")) {
    const std::string language = line.at("language");
    const std::string pass = line.at("pass");
    kinds.insert(language + "/" + pass);
    EXPECT_EQ(line.at("completion"), rows.at(line.at("id")).at((language == "cuda" ? "cuda_" : "cpu_") + pass));
    EXPECT_THAT(line.at("prompt"), HasSubstr(line.at("kernel_name").get<std::string>() + "_" + pass));
  }
  EXPECT_THAT(kinds, ::testing::ElementsAre("c++/backward", "c++/forward", "cuda/backward", "cuda/forward"));
}

/// Near misses are judged, so each has the launch that shows the mistake. Few rows, because each near miss takes
/// several runs of the compiler.
TEST_F(TrainingTest, PreferencePairsContainEvidenceAgainstRejectedKernel) {
  constexpr std::uint64_t kRows = 5;
  fs::remove_all(folder_ / "d");
  made(small_plan(kRows), {.output = folder_ / "d"});
  const TrainingExport done = exported(TrainingFormat::kPreference, "preference");
  const auto rows = rows_by_id(folder_ / "d");
  std::uint64_t examples = 0;
  std::uint64_t mismatches = 0, compared = 0, beyond_tolerance = 0;
  std::set<std::string> passes;
  for (const auto& [split, count] : done.examples) {
    for (const json& line : lines_of(folder_ / "preference" / (split + ".jsonl.gz"))) {
      ++examples;
      const json& row = rows.at(line.at("id"));
      EXPECT_EQ(line.at("chosen"), row.at("cpu_" + line.at("pass").get<std::string>()));
      EXPECT_NE(line.at("chosen"), line.at("rejected"));
      EXPECT_THAT(line.at("rejected"), HasSubstr(row.at("kernel_name").get<std::string>() + "_"));
      const json& reason = line.at("reason");
      EXPECT_FALSE(reason.at("kind").get<std::string>().empty());
      passes.insert(line.at("pass"));
      if (reason.at("array").is_null()) continue;
      ++mismatches;
      EXPECT_NE(reason.at("expected"), reason.at("got")) << line.dump(2);
      EXPECT_GT(line.at("launch").at("threads"), 0);
      EXPECT_GE(line.at("launch").at("arguments").size(), row.at("signature").size());
      EXPECT_EQ(line.at("launch").at("arguments").at(0).at("name"), row.at("signature").at(0).at("name"));
      const json& accepting = line.at("accepted_by_allclose");
      compared += accepting.is_array() ? 1 : 0;
      if (reason.at("message").get<std::string>().find("native precision, input set 0)") == std::string::npos) continue;
      const double expected = std::stod(reason.at("expected").get<std::string>());
      const double difference = std::abs(std::stod(reason.at("got").get<std::string>()) - expected);
      for (const double tolerance : {0.01, 0.0001}) {
        if (difference <= tolerance + tolerance * std::abs(expected)) continue;
        EXPECT_EQ(std::count(accepting.begin(), accepting.end(), json(tolerance)), 0) << line.dump(2);
        ++beyond_tolerance;
      }
    }
  }
  EXPECT_EQ(examples + done.rows_without_example, kRows);
  EXPECT_GE(examples, kRows - 1);
  EXPECT_GE(mismatches, kRows - 2);
  EXPECT_GE(compared, 1U);
  EXPECT_GE(beyond_tolerance, 1U);
  EXPECT_THAT(passes, ::testing::ElementsAre("backward", "forward"));

  exported(TrainingFormat::kPreference, "again", 1);
  EXPECT_EQ(files_of(folder_ / "preference"), files_of(folder_ / "again"));
}

TEST_F(TrainingTest, RejectsLinesThatAreNotDatasetRows) {
  const fs::path file = folder_ / "rows.jsonl";
  ASSERT_TRUE(put_file(file, "{\"id\": 7}\n").ok());
  const Result<TrainingExport> done =
      export_for_training({.dataset = file, .output = folder_ / "none"}, nullptr, harness::printer());
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().text(), HasSubstr("rows.jsonl:1: invalid dataset row"));
  EXPECT_FALSE(fs::exists(folder_ / "none"));
}

TEST_F(TrainingTest, RejectsOutputFolderInsideDataset) {
  const auto before = files_of(folder_ / "d");
  for (const char* const output : {"d", "d/data", "d/sft"}) {
    const Result<TrainingExport> done =
        export_for_training({.dataset = folder_ / "d", .output = folder_ / output}, nullptr, harness::printer());
    ASSERT_FALSE(done.ok()) << output;
    EXPECT_THAT(done.error().text(), HasSubstr("the folder of the dataset that is read"));
  }
  EXPECT_EQ(files_of(folder_ / "d"), before);
}

}  // namespace
}  // namespace assay::dataset
