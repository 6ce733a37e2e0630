// Making rows: the plan that options ask for, and the devices that verify the rows.
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

struct ProductionOptions {
  std::vector<std::string> devices{"cpu"};
  std::uint64_t count = 0;
  std::vector<std::string> families;      ///< names or aliases; empty: all
  std::vector<std::string> weights;       ///< "loop=2"
  std::vector<std::string> python_files;  ///< Python files to use instead of random kernels
  std::uint64_t seed = 1;
  bool no_verify = false;
  bool quick = false;
  bool thorough = false;
  std::string shard = "0/1";
  std::string licence = "unknown";
  std::string compiler;
  int jobs = 0;
};

/// The plan that the options ask for. Fails if an option is invalid, and with the source location of a kernel that
/// cannot be used.
Result<Plan> make_plan(const ProductionOptions& options);

/// Adds the devices, in the order of the registry, with their modes and compilers. Fails on an unknown device.
Result<void> add_devices(Plan& plan, const std::vector<std::string>& devices, const std::string& compiler);

/// Devices and a producer that uses them.
class ProducerSetup {
 public:
  /// `plan` must outlive it. Fails if a device of the plan cannot be made.
  static Result<ProducerSetup> make(const Plan& plan, const std::string& compiler);

  [[nodiscard]] const Producer& producer() const { return *producer_; }
  /// Why no device of the plan can run here; empty if one can, or the plan needs none.
  [[nodiscard]] std::string why_not() const;

 private:
  explicit ProducerSetup(const Plan& plan) : plan_(plan) {}

  const Plan& plan_;
  std::vector<std::unique_ptr<backends::Device>> devices_;
  std::unique_ptr<Producer> producer_;
};

/// Threads for the option --jobs: 0 means one for each core.
int jobs_of(int jobs);

/// The rows that the plan's shard makes.
std::uint64_t rows_of_shard(const Plan& plan);

/// Two or three lines on what was made, for the terminal.
std::string closing_text(const FinishedDataset& finished, const std::string& output);

}  // namespace assay::dataset
