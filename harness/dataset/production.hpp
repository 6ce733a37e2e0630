// Makes the plan of a dataset from options, and the devices that verify its rows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/device/backend.hpp"
#include "harness/dataset/generate.hpp"
#include "harness/dataset/plan.hpp"
#include "harness/dataset/producer.hpp"
#include "support/result.hpp"

namespace assay::dataset {

/// The rows to make, and how they are verified.
struct ProductionOptions {
  std::string emitter = "assay";          ///< code generator of the C++ and CUDA C++ (emitter.hpp)
  std::vector<std::string> devices;       ///< names of the devices that verify each row; empty: default_devices_of()
  std::uint64_t row_count = 0;            ///< number of rows
  std::vector<std::string> families;      ///< names or aliases of families; empty: all
  std::vector<std::string> weights;       ///< relative shares of families: "loop=2"
  std::vector<std::string> python_files;  ///< Python files whose kernels replace the random ones; empty: random kernels
  /// Kernels that were exported from a running Python, with their origins, instead of those of `python_files`.
  std::vector<UserKernel> imported_kernels;
  /// Python files or folders with kernels, such as the tasks of a benchmark. No row will nearly duplicate one of them.
  std::vector<std::string> excluded_files;
  std::uint64_t seed = 1;           ///< seed of the kernels, their inputs and the splits
  bool skips_verification = false;  ///< do not judge the rows
  /// Whether to judge on fewer inputs (JudgingPolicy::quick), by default only on one device.
  bool uses_few_inputs = false;
  bool uses_many_inputs = false;  ///< judge on more inputs (JudgingPolicy::thorough)
  std::string shard = "0/1";      ///< part of the dataset to make: its number, from 0, and the number of parts
  /// SPDX identifier; empty: kDefaultLicense, kUnknownLicense for kernels of files, or the licenses of the imported
  /// kernels.
  std::string license;
  std::string ptx_architecture;      ///< architecture of the rows' PTX, such as "compute_75"; empty: the rows have none
  std::string compression = "gzip";  ///< format of the data files: "gzip" or "zstd"
  std::string compiler;              ///< C++ compiler, as for --cxx; empty: the default
  int jobs = 0;                      ///< number of threads; 0: one for each core
};

/// The plan that the options ask for. Fails if an option is invalid, and with the source location of a kernel that
/// cannot be used.
Result<DatasetPlan> make_plan(const ProductionOptions& options);

/// Adds the devices, in the order of the registry, with their modes and compilers. No devices: the default devices of
/// the plan's emitter, or only the first of them if the plan's effort is "quick". Fails if a device does not run the
/// code of the emitter.
Result<void> add_devices(DatasetPlan& plan, const std::vector<std::string>& devices, const std::string& compiler);

/// Devices and a producer that uses them.
class ProducerSetup {
 public:
  /// `plan` must outlive it. Fails if a device of the plan cannot be made.
  static Result<ProducerSetup> make(const DatasetPlan& plan, const std::string& compiler);

  [[nodiscard]] const RowProducer& producer() const { return *producer_; }
  /// Why the plan's emitter is missing, or no device of the plan can run here; empty if one can, or the plan needs
  /// none.
  [[nodiscard]] std::string device_unavailable_reason() const;

 private:
  explicit ProducerSetup(const DatasetPlan& plan) : plan_(plan) {}

  const DatasetPlan& plan_;                                 ///< the plan of the dataset
  std::vector<std::unique_ptr<backends::Device>> devices_;  ///< devices that verify the rows
  std::unique_ptr<RowProducer> producer_;                   ///< uses `devices_`
};

/// Threads for the option --jobs: 0 means one for each core.
int jobs_of(int jobs);

/// The rows that the plan's shard makes.
std::uint64_t rows_of_shard(const DatasetPlan& plan);

/// A few lines on what was made and what was not verified, for the terminal.
std::string closing_text(const DatasetPlan& plan, const FinishedDataset& finished, const std::string& output);

}  // namespace assay::dataset
