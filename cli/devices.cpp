#include "cli/devices.hpp"

#include "backends/cpu/device.hpp"
#include "backends/cuda/device.hpp"
#include "backends/ptx/device.hpp"

namespace assay::cli {

std::unique_ptr<backends::Device> make_device(std::string_view name, const DeviceOptions& options) {
  if (name == "cuda") return std::make_unique<cuda::CudaDevice>(cuda::CudaOptions{});
  if (name == "ptx") return std::make_unique<ptx::PtxDevice>(ptx::PtxOptions{});
  return std::make_unique<cpu::CpuDevice>(cpu::CpuOptions{.compiler = options.compiler});
}

}  // namespace assay::cli
