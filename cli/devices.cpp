#include "cli/devices.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "backends/cpu/device.hpp"
#include "backends/cross_check/cross_checked_device.hpp"
#include "backends/cuda/device.hpp"
#include "backends/ptx/device.hpp"
#include "backends/ptx/recording.hpp"
#include "backends/worker/confinement.hpp"

namespace assay::cli {

ptx::Checks checks_without(const std::vector<std::string>& names) {
  ptx::Checks checks;
  for (const ptx::CheckRow& row : ptx::kChecks) {
    if (std::ranges::find(names, row.name) != names.end()) checks.*row.member = false;
  }
  return checks;
}

std::vector<std::string> check_names() {
  std::vector<std::string> names;
  for (const ptx::CheckRow& row : ptx::kChecks)
    names.emplace_back(row.name);
  return names;
}

namespace {

cuda::CudaOptions cuda_options(const DeviceOptions& options) {
  cuda::CudaOptions result{.device_bytes = options.device_bytes};
  if (options.gpu == "all") {
    result.gpus.reset();
  } else {
    result.gpus = {std::stoi(options.gpu)};
  }
  return result;
}

}  // namespace

std::unique_ptr<backends::Device> make_device(std::string_view name, const DeviceOptions& options) {
  if (name == "cuda") {
    auto device = std::make_unique<cuda::CudaDevice>(cuda_options(options));
    if (options.cross_check.empty()) return device;
    return std::make_unique<backends::CrossCheckedDevice>(
        std::move(device), make_device(options.cross_check, {.no_checks = check_names(), .tables = options.tables}),
        ptx::recording_code);
  }
  if (name == "ptx")
    return std::make_unique<ptx::PtxDevice>(ptx::PtxOptions{
        .checks = checks_without(options.no_checks), .tables = options.tables, .cache_directory = options.cache});
  return std::make_unique<cpu::CpuDevice>(
      cpu::CpuOptions{.compiler = options.compiler, .cache_directory = options.cache});
}

std::string confinement_of(backends::Device& device) {
  if (auto* const cpu = dynamic_cast<cpu::CpuDevice*>(&device)) {
    const Result<worker::Confinement> confinement = cpu->confinement();
    return confinement.ok() ? worker::describe(*confinement) : "";
  }
  // A GPU's code makes no system calls, and the driver that starts it needs many.
  return device.name() == "cuda" ? worker::describe({}) : "interpreted, never run as code of this machine";
}

std::string remark_of(const backends::Device& device) {
  const auto* const cross_checked = dynamic_cast<const backends::CrossCheckedDevice*>(&device);
  if (cross_checked == nullptr || !cross_checked->can_run().available) return "";
  const backends::CrossCheckCounts& counts = cross_checked->counts();
  return fmt::format(
      "bits: {} launches compared, {} differ; those of {} are not determined, for approximate functions or the order "
      "of "
      "atomics",
      counts.compared.load(), counts.differing.load(), counts.undetermined.load());
}

}  // namespace assay::cli
