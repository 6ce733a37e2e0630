// Small datasets for tests, made without judging (testing_test.cpp).
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "harness/dataset/generate.hpp"

namespace assay::dataset::testing {

/// A temporary folder, removed with the object.
class Folder {
 public:
  Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// A plan without judging over a few families, in blocks of four rows.
DatasetPlan small_plan(std::uint64_t count);

/// Makes the dataset; a failure fails the test. The rows get no PTX unless there is a compiler for it.
FinishedDataset made(const DatasetPlan& plan, DatasetGenerationOptions options, RowPtxCompiler ptx_compiler = {});

/// The contents of all files in the folder by relative path; stats.json without its timing.
std::map<std::string, std::string> files_of(const std::filesystem::path& dir);

}  // namespace assay::dataset::testing
