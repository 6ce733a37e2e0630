#include "cli/environment.hpp"

#include <array>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <sys/utsname.h>

#include "backends/cuda/cupti/cupti.hpp"
#include "backends/cuda/driver/driver.hpp"
#include "backends/cuda/nvrtc/nvrtc.hpp"
#include "backends/device/build_cache.hpp"
#include "support/version/version.hpp"

namespace assay::cli {
namespace {

/// What follows the first `key` and `separator` at the start of a line of a file; empty where there is none.
std::string value_in(const char* file, std::string_view key, char separator) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t at = line.find(separator);
    if (!line.starts_with(key) || at == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \"", at + 1);
    const std::size_t end = line.find_last_not_of(" \"");
    return begin == std::string::npos ? "" : line.substr(begin, end - begin + 1);
  }
  return "";
}

std::string os_text() {
  utsname system{};
  ::uname(&system);
  const std::string name = value_in("/etc/os-release", "PRETTY_NAME", '=');
  return fmt::format("{}, {} {} {}", name.empty() ? "unknown system" : name, system.sysname, system.release,
                     system.machine);
}

std::string cpu_text() {
  const std::string model = value_in("/proc/cpuinfo", "model name", ':');
  return fmt::format("{}, {} threads", model.empty() ? "unknown model" : model, std::thread::hardware_concurrency());
}

harness::DeviceStatus look_at_device(std::string_view name, const DeviceOptions& options, const std::string& cpu) {
  const auto device = make_device(name, options);
  const backends::Capability build = device->can_build();
  const backends::Capability run = device->can_run();
  return {.name = std::string(name),
          .available = run.available,
          .reason = run.available ? "" : run.detail,
          .description = name == "cuda" && run.available ? run.detail : cpu,
          .toolkit = build.available ? build.detail : "",
          .confinement = run.available ? confinement_of(*device) : ""};
}

/// "no CUDA driver (libcuda.so.1: cannot open shared object file)".
std::string reason_text(const Error& error) {
  return error.where.empty() ? error.message : fmt::format("{} ({})", error.message, error.where);
}

Tool nvrtc_tool() {
  const Result<cuda::Nvrtc> nvrtc = cuda::Nvrtc::load();
  if (!nvrtc.ok()) return {"NVRTC", false, reason_text(nvrtc.error())};
  return {"NVRTC", true, fmt::format("{}, {}", nvrtc->version(), nvrtc->library())};
}

Tool driver_tool() {
  const Result<cuda::Driver> driver = cuda::Driver::load();
  if (!driver.ok()) return {"CUDA driver", false, reason_text(driver.error())};
  return {"CUDA driver", true,
          fmt::format("for CUDA {}, {} device{}", driver->version(), driver->device_count(),
                      driver->device_count() == 1 ? "" : "s")};
}

Tool cupti_tool() {
  const Result<cuda::Cupti> cupti = cuda::Cupti::load();
  if (!cupti.ok()) return {"CUPTI", false, reason_text(cupti.error())};
  return {"CUPTI", true,
          fmt::format("interface version {}, {}{}", cupti->version(), cupti->library(),
                      cupti->has_counters() ? "" : "; without hardware counters, for it is older than CUDA 12.6")};
}

Tool cache_tool() {
  const std::filesystem::path folder = backends::default_cache_directory();
  const auto cache = backends::BuildCache::open(folder, std::uint64_t{1} << 30);
  if (!cache.ok()) return {"build cache", false, cache.error().text()};
  return {"build cache", true,
          fmt::format("{}, {:.1f} MB", folder.string(), static_cast<double>((*cache)->measure()) / 1e6)};
}

}  // namespace

harness::Environment look_at_environment(const DeviceOptions& options) {
  harness::Environment environment{
      .os = os_text(), .cpu = cpu_text(), .nvrtc = "none", .commit = std::string(kCommit), .dirty = kDirty};
  for (const std::string_view name : kDeviceNames) {
    const harness::DeviceStatus& status =
        environment.devices.emplace_back(look_at_device(name, options, environment.cpu));
    if (name == "cpu") environment.compiler = status.toolkit.empty() ? status.reason : status.toolkit;
    if (name == "cuda" && !status.toolkit.empty()) environment.nvrtc = status.toolkit;
  }
  return environment;
}

std::vector<Tool> look_at_tools() { return {nvrtc_tool(), driver_tool(), cupti_tool(), cache_tool()}; }

}  // namespace assay::cli
