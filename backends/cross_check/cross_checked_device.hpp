// A device whose launches are repeated on a second device from the same input bytes. If the result bits are determined
// but differ, the launch fails with a MemoryFault of the kind kDifferingBitsFault, whose finding names the first
// instruction with a different result.
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

/// Numbers of launches of all sessions of a device, by the result of the comparison.
struct CrossCheckCounts {
  std::atomic<std::size_t> compared_launch_count = 0;   ///< number of launches whose result bits were compared
  std::atomic<std::size_t> differing_launch_count = 0;  ///< number of these launches whose result bits differ
  std::atomic<std::size_t> undetermined_launch_count =
      0;  ///< bits depend on approximations, contraction or unordered atomics
};

/// Runs each launch on a device and on its cross-check device, and compares the result bits.
class CrossCheckedDevice final : public Device {
 public:
  /// `device` builds the kernels. `cross_check` runs the same code and profiles its execution (ExecutionProfile), which
  /// decides whether the result bits of a launch are determined. `recording` generates recording code for both devices;
  /// without it, differing instructions are not located.
  CrossCheckedDevice(std::unique_ptr<Device> device, std::unique_ptr<Device> cross_check,
                     MakeRecording recording = nullptr)
      : primary_device_(std::move(device)),
        cross_check_device_(std::move(cross_check)),
        make_recording_code_(std::move(recording)) {}

  [[nodiscard]] std::string_view name() const override { return primary_device_->name(); }
  [[nodiscard]] SourceTarget target() const override { return primary_device_->target(); }
  [[nodiscard]] bool uses_cuda_math() const override { return primary_device_->uses_cuda_math(); }
  [[nodiscard]] double input_error() const override { return primary_device_->input_error(); }
  [[nodiscard]] bool computes_unrounded_values() const override { return primary_device_->computes_unrounded_values(); }
  [[nodiscard]] std::span<const ApproximateInstruction> approximate_instructions() const override {
    return primary_device_->approximate_instructions();
  }
  [[nodiscard]] bool derives_work_from_extents() const override { return primary_device_->derives_work_from_extents(); }
  [[nodiscard]] bool is_repeatable() const override { return primary_device_->is_repeatable(); }
  [[nodiscard]] Capability can_build() const override { return primary_device_->can_build(); }
  /// The capability of the device if that cannot run, otherwise of the cross-check device.
  [[nodiscard]] Capability can_run() const override;

  /// Returns the build command of the device.
  [[nodiscard]] std::string build_command(const BuildFlags& flags) const override {
    return primary_device_->build_command(flags);
  }
  /// Builds the kernels with the device; the cross-check device runs the same code.
  std::vector<BuildOutcome> build(std::span<const EmittedKernel> kernels, const BuildFlags& flags) override {
    return primary_device_->build(kernels, flags);
  }
  Result<std::unique_ptr<DeviceSession>> open(const SessionLimits& limits) override;
  [[nodiscard]] std::string confinement() override { return primary_device_->confinement(); }
  [[nodiscard]] std::vector<std::filesystem::path> compiler_files() const override {
    return primary_device_->compiler_files();
  }
  /// How many launches were compared and how many differ; empty if the device cannot run.
  [[nodiscard]] std::string remark() const override;

  [[nodiscard]] const CrossCheckCounts& counts() const { return *cross_check_counts_; }

 private:
  std::unique_ptr<Device> primary_device_;      ///< builds the kernels and runs each launch first
  std::unique_ptr<Device> cross_check_device_;  ///< repeats each launch
  MakeRecording make_recording_code_;           ///< generates recording code for both devices; may be null
  std::shared_ptr<CrossCheckCounts> cross_check_counts_ =
      std::make_shared<CrossCheckCounts>();  ///< shared with the sessions
};

}  // namespace assay::backends
