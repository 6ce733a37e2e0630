// A device whose every launch another device repeats, from the same bytes; where both must give the same bits and do
// not, the launch has failed: a MemoryFault of the kind kDifferingBits, whose finding names the instruction at which
// the two part.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/device/backend.hpp"
#include "backends/device/recording.hpp"

namespace assay::backends {

/// Launches of all sessions of a device, by what could be said of their bits.
struct CrossCheckCounts {
  std::atomic<std::size_t> compared = 0;
  std::atomic<std::size_t> differing = 0;     ///< of those compared
  std::atomic<std::size_t> undetermined = 0;  ///< approximations, fusing, or atomics in any order leave them open
};

class CrossCheckedDevice final : public Device {
 public:
  /// Kernels are built by `device`; `mirror` runs what that built, and observes what it executes (ExecutionProfile),
  /// which decides whether the bits of a launch are determined. `recording` makes code for both that records; without
  /// it no instruction is named.
  CrossCheckedDevice(std::unique_ptr<Device> device, std::unique_ptr<Device> cross_check,
                     MakeRecording recording = nullptr)
      : device_(std::move(device)), cross_check_(std::move(cross_check)), recording_(std::move(recording)) {}

  [[nodiscard]] std::string_view name() const override { return device_->name(); }
  [[nodiscard]] SourceTarget target() const override { return device_->target(); }
  [[nodiscard]] Capability can_build() const override { return device_->can_build(); }
  /// The device's; its reason when both lack something.
  [[nodiscard]] Capability can_run() const override;

  [[nodiscard]] std::string build_command(const BuildFlags& flags) const override {
    return device_->build_command(flags);
  }
  std::vector<BuildOutcome> build(std::span<const EmittedKernel> kernels, const BuildFlags& flags) override {
    return device_->build(kernels, flags);
  }
  Result<std::unique_ptr<Session>> open(const SessionLimits& limits) override;
  [[nodiscard]] std::string confinement() override { return device_->confinement(); }
  [[nodiscard]] std::filesystem::path compiler_file() const override { return device_->compiler_file(); }
  /// How many launches were compared, and what came of it; empty if the device cannot run.
  [[nodiscard]] std::string remark() const override;

  [[nodiscard]] const CrossCheckCounts& counts() const { return *counts_; }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Device> cross_check_;
  MakeRecording recording_;
  std::shared_ptr<CrossCheckCounts> counts_ = std::make_shared<CrossCheckCounts>();
};

}  // namespace assay::backends
