// What making rows takes: the devices that prove them, what builds for these, and the plan.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/device/backend.hpp"
#include "harness/dataset/generate.hpp"
#include "harness/dataset/plan.hpp"
#include "harness/dataset/producer.hpp"

namespace assay::cli {

struct ProductionOptions {
  std::vector<std::string> devices{"cpu"};
  std::uint64_t count = 0;
  std::vector<std::string> families;  ///< names or aliases; empty: all
  std::vector<std::string> weights;   ///< "loop=2"
  std::vector<std::string> from;      ///< Python files instead of random kernels
  std::uint64_t seed = 1;
  bool no_verify = false;
  bool quick = false;
  bool thorough = false;
  std::string shard = "0/1";
  std::string licence = "unknown";
  std::string compiler;
  int jobs = 0;
};

/// The plan that the options ask for. Fails with what is wrong about them, and with the place in a file whose kernels
/// cannot be used.
Result<dataset::Plan> plan_of(const ProductionOptions& options);

/// Adds the devices, in the order of kDeviceNames, with their modes and what builds for them.
void add_devices(dataset::Plan& plan, const std::vector<std::string>& devices, const std::string& compiler);

/// Devices and a producer that uses them.
class Production {
 public:
  /// `plan` must outlive it.
  Production(const dataset::Plan& plan, const std::string& compiler);

  [[nodiscard]] const dataset::Producer& producer() const { return *producer_; }
  /// Empty if some device of the plan can run here, or none is to; else why not.
  [[nodiscard]] std::string why_not() const;

 private:
  const dataset::Plan& plan_;
  std::vector<std::unique_ptr<backends::Device>> devices_;
  std::unique_ptr<dataset::Producer> producer_;
};

/// Threads for the option --jobs.
int jobs_of(int jobs);

/// Two lines or three on what was made, for the terminal.
std::string closing_text(const dataset::Finished& finished, const std::string& output);

}  // namespace assay::cli
