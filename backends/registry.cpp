#include "backends/device/registry.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "backends/candidate/device.hpp"
#include "backends/cpu/device.hpp"
#include "backends/cross_check/cross_checked_device.hpp"
#include "backends/cuda/device.hpp"
#include "backends/ptx/artifacts.hpp"
#include "backends/ptx/device.hpp"
#include "backends/warp/device.hpp"

namespace assay::backends {
namespace {

constexpr std::array kDevices{cpu::kDeviceEntry,      cuda::kDeviceEntry,    ptx::kDeviceEntry,
                              warp::kCpuDeviceEntry,  warp::kPtxDeviceEntry, warp::kCudaDeviceEntry,
                              candidate::kDeviceEntry};

}  // namespace

std::span<const DeviceDescriptor> all_devices() { return kDevices; }

/// The selectable devices come first.
std::span<const DeviceDescriptor> devices() {
  const auto end = std::ranges::find(kDevices, false, &DeviceDescriptor::is_selectable);
  return {kDevices.begin(), end};
}

const DeviceDescriptor* find_device(std::string_view name) {
  const auto found = std::ranges::find(kDevices, name, &DeviceDescriptor::name);
  return found == kDevices.end() ? nullptr : &*found;
}

const DeviceDescriptor& device_descriptor(std::string_view name) {
  const DeviceDescriptor* const row = find_device(name);
  if (row == nullptr) std::abort();
  return *row;
}

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (const DeviceDescriptor& row : devices())
    names.emplace_back(row.name);
  return names;
}

std::vector<std::string> emitted_code_devices() {
  std::vector<std::string> names;
  for (const DeviceDescriptor& row : devices())
    if (runs_emitted_code(row)) names.emplace_back(row.name);
  return names;
}

std::vector<std::string> check_names() {
  std::vector<std::string> names;
  for (const DeviceDescriptor& row : devices())
    names.insert(names.end(), row.check_names.begin(), row.check_names.end());
  return names;
}

Result<std::vector<NamedBuild>> resolve_builds(std::string_view device, const DeviceOptions& options,
                                               const BuildChoices& choices) {
  const DeviceDescriptor& row = device_descriptor(device);
  if (row.builds != nullptr) return row.builds(options, choices);
  DeviceOptions only = options;
  if (!choices.compilers.empty()) only.compiler = choices.compilers.front();
  return std::vector<NamedBuild>{{.name = "", .options = std::move(only)}};
}

std::string fastest_compiler(const std::string& compiler) {
  if (!cpu::uses_default_compiler(compiler)) return compiler;
  const Result<std::unique_ptr<BuildCache>> cache =
      BuildCache::open(default_cache_directory(), cpu::CpuOptions{}.max_cache_bytes);
  const std::optional<cpu::Compiler> found = cpu::Compiler::find_fastest(cache.ok() ? cache->get() : nullptr);
  return found ? found->program().string() : "";
}

Result<std::unique_ptr<Device>> make_device(std::string_view name, const DeviceOptions& options) {
  const DeviceDescriptor* const row = find_device(name);
  if (row == nullptr)
    return Error{fmt::format("unknown device '{}'; expected one of {}", name, fmt::join(device_names(), ", "))};
  Result<std::unique_ptr<Device>> device = row->make(options);
  if (!device.ok() || options.cross_check_device.empty()) return device;
  // The cross-check device only compares result bits, so its own checks are disabled.
  Result<std::unique_ptr<Device>> other =
      make_device(options.cross_check_device, {.compiler = options.compiler,
                                               .disabled_checks = check_names(),
                                               .approximation_tables_file = options.approximation_tables_file});
  if (!other.ok()) return other;
  return std::unique_ptr<Device>(
      std::make_unique<CrossCheckedDevice>(device.take(), other.take(), ptx::make_recording_code));
}

}  // namespace assay::backends
