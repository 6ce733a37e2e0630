#include <algorithm>
#include <fstream>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <sys/utsname.h>

#include "backends/device/registry.hpp"
#include "harness/suite/suite_run.hpp"
#include "support/version/version.hpp"

namespace assay::harness {
namespace {

/// The text after `key` and `separator` in the first line of a file that starts with `key`; empty if there is none.
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

DeviceStatus status_of(const backends::DeviceDescriptor& row, backends::Device& device, const std::string& cpu) {
  const backends::Capability build = device.can_build();
  const backends::Capability run = device.can_run();
  return DeviceStatus{.name = std::string(row.name),
                      .is_available = run.is_available,
                      .reason = run.is_available ? "" : run.tool_or_reason,
                      .description = row.is_gpu && run.is_available ? run.tool_or_reason : cpu,
                      .toolkit = build.is_available ? build.tool_or_reason : "",
                      .confinement = run.is_available ? device.confinement() : ""};
}

/// `devices` are those of a run; null: every device is described.
Result<RunEnvironment> environment_of(const backends::DeviceOptions& options,
                                      const std::span<backends::Device* const>* devices) {
  RunEnvironment environment{.os_name = os_text(),
                             .cpu_model = cpu_text(),
                             .nvrtc = "none",
                             .commit_hash = std::string(kCommitHash),
                             .has_uncommitted_changes = kHasUncommittedChanges};
  for (const backends::DeviceDescriptor& row : backends::all_devices()) {
    const bool is_used = row.is_selectable || !options.candidate_path.empty();
    if (!is_used) continue;
    backends::Device* device = nullptr;
    if (devices != nullptr) {
      const auto found = std::ranges::find(*devices, row.name, &backends::Device::name);
      if (found != devices->end()) device = *found;
    }
    std::unique_ptr<backends::Device> made;
    if (device == nullptr) {
      if (devices != nullptr && row.toolkit == backends::Toolkit::kWarp) continue;
      auto result = backends::make_device(row.name, options);
      if (!result.ok()) return result.error();
      made = result.take();
      device = made.get();
    }
    DeviceStatus status = status_of(row, *device, environment.cpu_model);
    if (row.toolkit == backends::Toolkit::kHostCompiler && environment.compiler.empty())
      environment.compiler = status.toolkit.empty() ? status.reason : status.toolkit;
    if (row.toolkit == backends::Toolkit::kNvrtc && !status.toolkit.empty()) environment.nvrtc = status.toolkit;
    environment.devices.push_back(std::move(status));
  }
  return environment;
}

}  // namespace

Result<RunEnvironment> find_environment(const backends::DeviceOptions& options) {
  return environment_of(options, nullptr);
}

Result<RunEnvironment> find_environment(const backends::DeviceOptions& options,
                                        std::span<backends::Device* const> devices) {
  return environment_of(options, &devices);
}

}  // namespace assay::harness
