#include "harness/dataset/testing/generated.hpp"

#include <atomic>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "backends/source/print.hpp"
#include "generators/generator.hpp"
#include "support/files.hpp"

namespace assay::dataset::testing {

namespace fs = std::filesystem;

Folder::Folder() {
  static std::atomic<int> next = 0;
  path_ = fs::temp_directory_path() / fmt::format("assay-dataset-{}-{}", ::getpid(), next++);
  fs::remove_all(path_);  // a killed process with the same number may have left it
  fs::create_directories(path_);
}

Folder::~Folder() { fs::remove_all(path_); }

DatasetPlan small_plan(std::uint64_t count) {
  DatasetPlan plan{.generator_version = "0.1.0",
                   .kernel_generators_version = generators::kGeneratorVersion,
                   .row_count = count,
                   .family_shares = {{"arithmetic"}, {"loop"}, {"integer"}, {"struct_param"}},
                   .verifies_rows = false,
                   .judging_effort = "none",
                   .slots_per_block = 4};
  EXPECT_TRUE(distribute_rows(plan).ok());
  return plan;
}

FinishedDataset made(const DatasetPlan& plan, DatasetGenerationOptions options, RowPtxCompiler ptx_compiler) {
  const RowProducer producer(
      plan, {},
      {.pair_printer = source::print_cpp_and_cuda, .single_printer = {}, .ptx_compiler = std::move(ptx_compiler)},
      harness::JudgingPolicy::quick());
  const Result<FinishedDataset> finished = generate(plan, producer, options);
  EXPECT_TRUE(finished.ok()) << finished.error().text();
  return finished.ok() ? *finished : FinishedDataset{};
}

std::map<std::string, std::string> files_of(const fs::path& dir) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(dir)) {
    if (!entry.is_regular_file()) continue;
    const std::string name = fs::relative(entry.path(), dir).string();
    files[name] = read_file_text(entry.path()).value_or("unreadable");
    if (name != "stats.json") continue;
    auto stats = nlohmann::ordered_json::parse(files[name]);
    EXPECT_TRUE(stats.contains("timing"));
    stats.erase("timing");
    files[name] = stats.dump(2);
  }
  return files;
}

}  // namespace assay::dataset::testing
