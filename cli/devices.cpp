#include "cli/devices.hpp"

#include <utility>
#include <vector>

#include "backends/cpu/device.hpp"
#include "backends/cuda/device.hpp"

namespace assay::cli {
namespace {

using namespace backends;

/// A device that this build lacks: it has a name, so that its cases can be planned and end as unsupported.
class AbsentDevice final : public Device {
 public:
  AbsentDevice(std::string_view name, SourceTarget target, std::string reason)
      : name_(name), target_(target), reason_(std::move(reason)) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] SourceTarget target() const override { return target_; }
  [[nodiscard]] Capability can_build() const override { return {false, reason_}; }
  [[nodiscard]] Capability can_run() const override { return {false, reason_}; }
  std::vector<BuildOutcome> build(std::span<const EmittedKernel> kernels, const BuildFlags&) override {
    return std::vector<BuildOutcome>(kernels.size(), BuildFailed{BuildFailed::Kind::kResource, reason_});
  }
  Result<std::unique_ptr<Session>> open(const SessionLimits&) override { return Error{reason_}; }

 private:
  std::string_view name_;
  SourceTarget target_;
  std::string reason_;
};

}  // namespace

std::unique_ptr<Device> make_device(std::string_view name, const DeviceOptions& options) {
  if (name == "cuda") return std::make_unique<cuda::CudaDevice>(cuda::CudaOptions{});
  if (name == "ptx") return std::make_unique<AbsentDevice>("ptx", SourceTarget::kCuda, "no PTX executor in this build");
  return std::make_unique<cpu::CpuDevice>(cpu::CpuOptions{.compiler = options.compiler});
}

}  // namespace assay::cli
