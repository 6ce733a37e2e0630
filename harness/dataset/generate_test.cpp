#include "harness/dataset/generate.hpp"

#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "backends/source/print.hpp"
#include "generators/generator.hpp"
#include "harness/dataset/journal.hpp"
#include "harness/dataset/naming.hpp"
#include "harness/dataset/render.hpp"
#include "harness/dataset/row_file.hpp"
#include "harness/dataset/testing/generated.hpp"
#include "harness/suite/select/random_kernels.hpp"
#include "schemas/embedded.hpp"
#include "schemas/validator.hpp"
#include "support/files.hpp"

namespace assay::dataset {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::Contains;
using testing::files_of;
using testing::Folder;
using ::testing::HasSubstr;
using ::testing::Key;
using testing::made;
using testing::small_plan;

std::vector<json> rows_of(const fs::path& dir) {
  std::vector<json> rows;
  for (const auto& entry : fs::directory_iterator(dir / kDataFolder)) {
    Result<LineReader> reader = LineReader::open(entry.path());
    EXPECT_TRUE(reader.ok());
    for (std::string line; reader->next(line).value_or(false);)
      rows.push_back(json::parse(line));
  }
  return rows;
}

TEST(DatasetGeneration, MakesNoRowThatIsANearDuplicateOfAnExcludedKernel) {
  const Folder folder;
  DatasetPlan plan = small_plan(12);
  made(plan, {.output = folder / "all"});
  const std::vector<json> all = rows_of(folder / "all");
  for (const std::size_t k : {0U, 5U}) {
    std::string renamed = all[k].at("python_source");
    const std::string name = all[k].at("kernel_name");
    renamed.replace(renamed.find("def " + name), 4 + name.size(), "def benchmark_task");
    plan.excluded_kernels.push_back({.name = fmt::format("user/task_{}", k), .python_source = renamed});
  }
  made(plan, {.output = folder / "some"});
  const std::vector<json> some = rows_of(folder / "some");
  EXPECT_EQ(some.size(), 12U) << "other kernels take the places of the excluded ones";
  for (const json& row : some) {
    EXPECT_NE(row.at("id"), all[0].at("id"));
    EXPECT_NE(row.at("id"), all[5].at("id"));
  }
  const std::string quarantine = read_file_text(folder / "some/quarantine/quarantine.jsonl").take();
  EXPECT_THAT(quarantine, HasSubstr("excluded(near_duplicate)"));
  EXPECT_THAT(quarantine, HasSubstr("a near duplicate of the excluded kernel user/task_5"));
}

TEST(DatasetGeneration, FilesMatchTheirSchemas) {
  const Folder folder;
  const FinishedDataset finished = made(small_plan(24), {.output = folder / "d"});
  EXPECT_EQ(finished.rows, 24U);
  const auto files = files_of(folder / "d");
  for (const char* name : {"README.md", "stats.json", "schema.json", "checksums.sha256", "journal.jsonl",
                           "quarantine/quarantine.jsonl", "data/train-00000-of-00001.jsonl.gz"})
    EXPECT_THAT(files, Contains(Key(name)));
  EXPECT_EQ(files.size(), 9U);
  EXPECT_EQ(files.at("schema.json"), schemas::kDatasetRowSchemaText);

  const schemas::Validator row_schema(schemas::kDatasetRowSchemaText);
  const std::vector<json> rows = rows_of(folder / "d");
  ASSERT_EQ(rows.size(), 24U);
  for (const json& row : rows) {
    const auto diagnostics = row_schema.diagnostics(row);
    EXPECT_TRUE(diagnostics.empty()) << diagnostics.front().text();
    EXPECT_EQ(json::parse(to_line(row_from(row))), row);
  }
  const json stats = json::parse(read_file_text(folder / "d" / "stats.json").value());
  EXPECT_TRUE(schemas::Validator(schemas::kStatsSchemaText).diagnostics(stats).empty());
  EXPECT_EQ(stats.at("families"), json({{"arithmetic", 6}, {"loop", 6}, {"integer", 6}, {"struct_param", 6}}));
}

TEST(DatasetGeneration, SkippingTheParserDoesNotChangeRowOfRandomKernel) {
  for (const generators::KernelFamilyDefinition& family : generators::families()) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const std::string name = generators::generate(family.family, seed).name;
      const auto rename = [](ir::Module& module) {
        name_variables(module);
        module.kernels[0].name = kernel_names(module).front();
      };
      Result<harness::KernelSource> read = harness::random_kernel(name, rename);
      Result<harness::KernelSource> unread = harness::unparsed_random_kernel(name, rename);
      ASSERT_TRUE(read.ok() && unread.ok()) << name;
      const Result<RenderedKernel> expected = render(read.take(), source::print_cpp_and_cuda);
      const Result<RenderedKernel> found = render(unread.take(), source::print_cpp_and_cuda);
      ASSERT_TRUE(expected.ok() && found.ok()) << name;
      EXPECT_EQ(to_line(found->row), to_line(expected->row)) << name;
      EXPECT_EQ(found->canonical_ir, expected->canonical_ir) << name;
    }
  }
}

TEST(DatasetGeneration, DatasetCardContainsSizeOfEachSplit) {
  const Folder folder;
  made(small_plan(24), {.output = folder / "d"});
  Result<LineReader> reader = LineReader::open(folder / "d" / "data/train-00000-of-00001.jsonl.gz");
  std::size_t bytes = 0;
  std::size_t rows = 0;
  for (std::string line; reader->next(line).value_or(false); ++rows)
    bytes += line.size() + 1;
  EXPECT_THAT(files_of(folder / "d").at("README.md"),
              HasSubstr(fmt::format("  - name: train\n    num_bytes: {}\n    num_examples: {}\n", bytes, rows)));
}

TEST(DatasetGeneration, RowsContainForwardAndBackwardCodeForCpuAndCuda) {
  const Folder folder;
  made(small_plan(8), {.output = folder / "d"});
  for (const json& row : rows_of(folder / "d")) {
    const std::string name = row.at("kernel_name");
    EXPECT_THAT(row.at("cpu_forward"), HasSubstr(name + "_forward(long long begin"));
    EXPECT_THAT(row.at("cuda_forward"), HasSubstr("__global__ void " + name + "_forward(long long count"));
    EXPECT_THAT(row.at("cpu_source"), HasSubstr(row.at("cpu_forward").get<std::string>()));
    EXPECT_THAT(row.at("cuda_source"), HasSubstr(row.at("cuda_forward").get<std::string>()));
    if (row.at("cpu_backward").is_null()) continue;
    EXPECT_THAT(row.at("cpu_source"), HasSubstr(row.at("cpu_backward").get<std::string>()));
    EXPECT_THAT(row.at("cuda_backward"), HasSubstr(name + "_backward("));
    EXPECT_THAT(row.at("cuda_forward"), ::testing::Not(HasSubstr("_backward(")));
  }
}

/// More rows than names that come first: some rows get another name at the end.
TEST(DatasetGeneration, KernelsHaveDistinctNamesInEverySource) {
  const Folder folder;
  made(small_plan(400), {.output = folder / "d", .jobs = 3});
  std::set<std::string> names;
  std::size_t renamed = 0;
  for (const json& row : rows_of(folder / "d")) {
    const std::string name = row.at("kernel_name");
    EXPECT_TRUE(names.insert(name).second) << name;
    for (const char* const member : {"python_source", "cpu_source", "cuda_source", "cpu_forward", "cuda_forward"})
      EXPECT_THAT(row.at(member), HasSubstr(name)) << member;
    const std::string number = row.at("metadata").at("name").get<std::string>();
    EXPECT_THAT(row.dump(), ::testing::Not(HasSubstr(number.substr(number.find('/') + 1) + "("))) << name;
    const Result<harness::KernelSource> source = harness::random_kernel(number, [&](ir::Module& module) {
      name_variables(module);
      renamed += kernel_names(module).front() == name ? 0 : 1;
    });
    ASSERT_TRUE(source.ok());
  }
  EXPECT_EQ(names.size(), 400U);
  EXPECT_GT(renamed, 20U);
}

/// Also of rows that get another name at the end.
TEST(DatasetGeneration, PtxIsCompiledFromTheFinalSource) {
  const Folder folder;
  DatasetPlan plan = small_plan(400);
  plan.ptx = {.architecture = "compute_75", .version = "NVRTC 13.0.88"};
  made(plan, {.output = folder / "d", .jobs = 3},
       [](const DatasetRow& row) -> Result<std::string> { return "PTX of " + row.cuda_source; });
  for (const json& row : rows_of(folder / "d"))
    EXPECT_EQ(row.at("ptx"), "PTX of " + row.at("cuda_source").get<std::string>());
  EXPECT_THAT(read_file_text(folder / "d" / "README.md").value_or(""),
              HasSubstr("NVRTC 13.0.88 compiled the CUDA C++ to PTX for `compute_75`."));
  EXPECT_THAT(read_file_text(folder / "d" / "journal.jsonl").value_or(""),
              HasSubstr(R"("ptx":{"architecture":"compute_75","compiler":"NVRTC 13.0.88"})"));
}

/// A plan with two families of short kernels, so that some rows are near duplicates.
DatasetPlan plan_with_near_duplicates(std::uint64_t count) {
  DatasetPlan plan = small_plan(count);
  plan.family_shares = {{.family = "integer"}, {.family = "reduction"}};
  EXPECT_TRUE(distribute_rows(plan).ok());
  return plan;
}

std::size_t near_duplicates_in(const fs::path& dir) {
  return json::parse(read_file_text(dir / "stats.json").value_or("")).at("near_duplicates").at("rows");
}

TEST(DatasetGeneration, ReplacesNearDuplicates) {
  const Folder folder;
  DatasetPlan plan = plan_with_near_duplicates(160);
  const FinishedDataset finished = made(plan, {.output = folder / "all", .jobs = 2});
  EXPECT_EQ(finished.rows, 160U);
  EXPECT_GT(finished.duplicate_count, 0U);
  EXPECT_EQ(near_duplicates_in(folder / "all"), 0U);
}

/// A shard keeps near duplicates, because it does not know which rows the merge will keep.
TEST(DatasetGeneration, ShardKeepsNearDuplicates) {
  const Folder folder;
  DatasetPlan plan = plan_with_near_duplicates(320);
  plan.shard = {.shard_index = 0, .shard_count = 2};
  made(plan, {.output = folder / "half", .jobs = 2});
  EXPECT_GT(near_duplicates_in(folder / "half"), 0U);
}

TEST(DatasetGeneration, KeepsNearDuplicatesAmongKernelsOfAUser) {
  const Folder folder;
  DatasetPlan plan = small_plan(2);
  const std::string kernel =
      "import warp as wp\n\n\n@wp.kernel\ndef scale(x: wp.array(dtype=float), y: wp.array(dtype=float)):\n"
      "    i = wp.tid()\n    a = x[i] * wp.sin(x[i]) + wp.cos(x[i])\n    y[i] = a * a * wp.exp(a) + 1.0\n";
  std::string other = kernel;
  other.replace(other.find("1.0"), 3, "2.0");
  plan.user_kernels = {{.name = "user/one", .python_source = kernel}, {.name = "user/two", .python_source = other}};
  plan.family_shares = {{.family = "user"}};
  ASSERT_TRUE(distribute_rows(plan).ok());
  EXPECT_EQ(made(plan, {.output = folder / "d"}).rows, 2U);
  EXPECT_EQ(near_duplicates_in(folder / "d"), 2U);
}

TEST(DatasetGeneration, OutputDoesNotDependOnJobCountOrSharding) {
  const Folder folder;
  DatasetPlan plan = plan_with_near_duplicates(160);  // enough rows for equal names
  made(plan, {.output = folder / "one", .jobs = 1});
  made(plan, {.output = folder / "eight", .jobs = 8});
  EXPECT_EQ(files_of(folder / "one"), files_of(folder / "eight"));

  std::vector<fs::path> shards;
  for (std::uint32_t index : {2U, 0U, 3U, 1U}) {
    DatasetPlan part = plan;
    part.shard = {.shard_index = index, .shard_count = 4};
    shards.push_back(folder / ("part" + std::to_string(index)));
    made(part, {.output = shards.back()});
  }
  const RowProducer producer(plan, {}, {.pair_printer = source::print_cpp_and_cuda, .single_printer = {}},
                             harness::JudgingPolicy::quick());
  const Result<FinishedDataset> merged = merge_shards(shards, producer, {.output = folder / "merged"});
  ASSERT_TRUE(merged.ok()) << merged.error().text();
  EXPECT_EQ(files_of(folder / "one"), files_of(folder / "merged"));

  shards.pop_back();
  EXPECT_THAT(merge_shards(shards, producer, {.output = folder / "three"}).error().text(),
              HasSubstr("merging requires all 4 shards, got 3"));
}

TEST(DatasetGeneration, DifferentSeedsGiveDifferentRows) {
  const Folder folder;
  DatasetPlan plan = small_plan(8);
  made(plan, {.output = folder / "one"});
  plan.seed = 2;
  made(plan, {.output = folder / "two"});
  EXPECT_NE(files_of(folder / "one").at("journal.jsonl"), files_of(folder / "two").at("journal.jsonl"));
}

/// Starts from the state of an interrupted run: its journal up to some block, and the rows of these blocks.
TEST(DatasetGeneration, ResumedDatasetEqualsUninterruptedDataset) {
  const Folder folder;
  const DatasetPlan plan = small_plan(24);
  const fs::path stopped = folder / "stopped";
  made(plan, {.output = folder / "whole"});

  struct Stop {};
  const RowProducer producer(plan, {}, {.pair_printer = source::print_cpp_and_cuda, .single_printer = {}},
                             harness::JudgingPolicy::quick());
  DatasetGenerationOptions options{.output = stopped};
  options.on_progress = [](std::uint64_t rows, std::uint64_t) {
    if (rows >= 12) throw Stop{};
  };
  EXPECT_THROW((void)generate(plan, producer, options), Stop);
  ASSERT_TRUE(fs::exists(block_file(stopped, 2)));
  // A truncated block, a block that is not in the journal, and a truncated journal line.
  std::ofstream(block_file(stopped, 1), std::ios::binary | std::ios::trunc) << "half";
  std::ofstream(block_file(stopped, 4), std::ios::binary) << "uncounted";
  std::ofstream(stopped / "journal.jsonl", std::ios::app) << R"({"record":"blo)";

  EXPECT_THAT(generate(plan, producer, {.output = stopped}).error().text(), HasSubstr("--resume"));
  made(plan, {.output = stopped, .resume = true});
  EXPECT_EQ(files_of(folder / "whole"), files_of(stopped));
  EXPECT_TRUE(made(plan, {.output = stopped, .resume = true}).was_already_complete);
}

TEST(DatasetGeneration, RejectsResumeWithDifferentPlan) {
  const Folder folder;
  DatasetPlan plan = small_plan(8);
  made(plan, {.output = folder / "d"});
  plan.seed = 2;
  const RowProducer producer(plan, {}, {.pair_printer = source::print_cpp_and_cuda, .single_printer = {}},
                             harness::JudgingPolicy::quick());
  EXPECT_THAT(generate(plan, producer, {.output = folder / "d", .resume = true}).error().text(),
              HasSubstr("a different 'seed'"));
}

TEST(DatasetGeneration, IsRejectedInFolderOfAnotherRunningGeneration) {
  const Folder folder;
  const DatasetPlan plan = small_plan(8);
  fs::create_directories(folder / "d");
  const Result<JournalWriter> running = JournalWriter::create(folder / "d", {.plan = plan, .blocks = {}});
  ASSERT_TRUE(running.ok()) << running.error().text();
  const std::string written = read_file_text(folder / "d" / kJournalFileName).value_or("");
  const Result<JournalWriter> second = JournalWriter::create(folder / "d", {.plan = small_plan(9), .blocks = {}});
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().text(), HasSubstr("is being written by another process"));
  EXPECT_EQ(read_file_text(folder / "d" / kJournalFileName).value_or(""), written);
}

/// Two slots with the same program: the later one tries its next candidate, or stays empty.
TEST(DatasetGeneration, DuplicateProgramGivesOnlyOneRow) {
  const Folder folder;
  const std::string python =
      "import warp as wp\n\n\n@wp.kernel\ndef f(x: wp.array(dtype=float)):\n    i = wp.tid()\n    x[i] = 2.0\n";
  std::string renamed = python;
  for (std::size_t at = renamed.find("x"); at != std::string::npos; at = renamed.find("x", at + 1))
    renamed[at] = 'y';
  DatasetPlan plan = small_plan(2);
  plan.family_shares = {{.family = "user", .weight = 1, .row_count = 2}};
  plan.user_kernels = {{"user/a.f", python}, {"user/b.f", renamed}};
  const FinishedDataset finished = made(plan, {.output = folder / "d"});
  EXPECT_EQ(finished.rows, 1U);
  EXPECT_EQ(finished.requested_rows, 2U);
}

TEST(DatasetGeneration, KernelsOfPackagesThatCannotBeRowsAreQuarantined) {
  const Folder folder;
  const live::KernelOrigin origin{"waves", "2.5", "waves/core.py", "MIT", "waves 2.5, Ada, MIT"};
  const std::string python =
      "import warp as wp\n\n\n@wp.kernel\ndef f(x: wp.array(dtype=float)):\n    i = wp.tid()\n    x[i] = 2.0\n";
  DatasetPlan plan = small_plan(3);
  plan.license = kLicensePerRow;
  plan.family_shares = {{.family = "user", .weight = 1, .row_count = 3}};
  plan.user_kernels = {{.name = "user/waves.f", .python_source = python, .origin = origin},
                       {.name = "user/waves.g", .python_source = "import numpy\n", .origin = origin},
                       {.name = "user/waves.h", .python_source = "", .export_error = "is generic"}};
  const FinishedDataset finished = made(plan, {.output = folder / "d"});
  EXPECT_EQ(finished.rows, 1U);
  EXPECT_EQ(finished.rejected_counts_by_verdict, (std::map<std::string, std::uint64_t>{{"unsupported(source)", 2}}));
  const auto files = files_of(folder / "d");
  EXPECT_THAT(files.at("quarantine/quarantine.jsonl"), HasSubstr("cannot be exported: is generic"));
  EXPECT_TRUE(for_each_row(folder / "d", [&](const std::string& line, const auto&, auto) {
                const DatasetRow row = row_from(nlohmann::json::parse(line));
                EXPECT_EQ(row.origin, origin);
                EXPECT_EQ(row.metadata.license, "MIT");
                return Result<bool>(true);
              }).ok());
}

TEST(DatasetSplits, ContainOnlyWholeClustersAndHaveExpectedSizes) {
  std::vector<std::string> names;
  std::vector<std::uint32_t> clusters;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    names.push_back("id" + std::to_string(i));
    clusters.push_back(i / 3 * 3);
  }
  const std::vector<std::string_view> ids(names.begin(), names.end());
  const std::vector<std::string_view> splits = assign_splits(ids, clusters, 1);
  for (std::size_t i = 0; i < splits.size(); ++i)
    EXPECT_EQ(splits[i], splits[clusters[i]]);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(splits, "test")), 50, 3);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(splits, "validation")), 50, 3);
  EXPECT_NE(splits, assign_splits(ids, clusters, 2));
}

}  // namespace
}  // namespace assay::dataset
