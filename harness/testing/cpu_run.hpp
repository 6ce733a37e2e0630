// Runs the kernels of tests through all stages on the real CPU device, with faults injected into the emitted text.
//
//     CpuRun run({{.name = "good", .python = kScale},
//                 {.name = "bad", .python = kScale, .edits = {{R"(2\.0f)", "2.5f"}}}});
//     run.forward("bad").outcome == Outcome::fail
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/device/backend.hpp"
#include "harness/attacks/injection.hpp"
#include "harness/suite/run/batch.hpp"
#include "harness/testing/kernel_text.hpp"

namespace assay::harness::testing {

using attacks::at_thread_start;
using attacks::before_body;
using attacks::TextEdit;

/// A kernel to judge; `python` defines it as `def k(`, which is renamed.
struct TestKernel {
  std::string name;                  ///< name of the kernel in the records
  std::string python;                ///< source text, which defines the kernel as `def k(`
  std::vector<TextEdit> edits = {};  ///< faults to inject into the emitted text
};

KernelSource source_of(const TestKernel& test_kernel);

/// The CPU device with the worker built with the tests, and without a cache.
std::unique_ptr<backends::Device> cpu_device();

/// Base class for a CPU device with modified behavior.
class ChangedDevice : public backends::Device {
 public:
  [[nodiscard]] std::string_view name() const override { return device_->name(); }
  [[nodiscard]] backends::SourceTarget target() const override { return device_->target(); }
  [[nodiscard]] backends::Capability can_build() const override { return device_->can_build(); }
  [[nodiscard]] backends::Capability can_run() const override { return device_->can_run(); }
  [[nodiscard]] std::string build_command(const backends::BuildFlags& flags) const override {
    return device_->build_command(flags);
  }
  std::vector<backends::BuildOutcome> build(std::span<const backends::EmittedKernel> kernels,
                                            const backends::BuildFlags& flags) override {
    return device_->build(kernels, flags);
  }
  Result<std::unique_ptr<backends::DeviceSession>> open(const backends::SessionLimits& limits) override {
    return device_->open(limits);
  }

 private:
  std::unique_ptr<backends::Device> device_ = cpu_device();
};

/// Records the kernels that it builds. Not thread-safe.
class CountingDevice final : public ChangedDevice {
 public:
  std::vector<backends::BuildOutcome> build(std::span<const backends::EmittedKernel> kernels,
                                            const backends::BuildFlags& flags) override {
    for (const backends::EmittedKernel& kernel : kernels)
      built.push_back(kernel.name);
    return ChangedDevice::build(kernels, flags);
  }

  std::vector<std::string> built;  ///< names of the kernels, in build order
};

/// Prints for the CPU and applies the edits of the test kernels. An edit without a match fails the current test.
Printer faulty_printer(const std::vector<TestKernel>& test_kernels);

/// The records of one batch, in the order of the plan.
std::vector<CaseRecord> records_of(std::span<const KernelSource> sources, backends::Device& device,
                                   const Printer& printer, const RunOptions& options);

/// The records of a batch of test kernels.
class CpuRun {
 public:
  explicit CpuRun(const std::vector<TestKernel>& test_kernels, RunOptions options = quick());

  static RunOptions quick();
  const CaseRecord& forward(const std::string& name) const { return record(name, "forward"); }
  const CaseRecord& backward(const std::string& name) const { return record(name, "backward"); }
  const std::vector<CaseRecord>& records() const { return records_; }

 private:
  const CaseRecord& record(const std::string& name, const std::string& pass) const;

  std::vector<CaseRecord> records_;  ///< records of the batch, in the order of the plan
};

/// "fail(mismatch): ...", for test messages.
std::string summary(const CaseRecord& record);

}  // namespace assay::harness::testing
