// The devices of this build: one row each. Commands, plans, reports and datasets ask this table; nothing outside of
// backends/ compares the name of a device. To add a device, write its folder and list its row in backends/registry.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/device/backend.hpp"
#include "support/result.hpp"

namespace assay::backends {

/// What a user chooses about devices. A device ignores the options of the others.
struct DeviceOptions {
  std::string compiler;                     ///< of `cpu`: a command; empty: $CXX, else c++
  std::vector<std::string> no_checks = {};  ///< of `ptx`: names of DeviceRow::checks to leave out
  std::string gpu = "0";                    ///< of a GPU: its number, or "all" to share the work among all
  std::size_t device_bytes = 0;             ///< of a GPU: memory that a session may use; 0: as the session's buffers
  std::string cross_check = {};             ///< a device that repeats each launch to compare the bits; empty: none
  std::string tables = {};                  ///< of `ptx`: a file written by `assay calibrate --tables`; empty: none
  std::string cache = {};                   ///< of `cpu` and `ptx`: the build cache's folder; empty: the user's
};

/// The compiler that a device builds with.
enum class Toolkit : std::uint8_t { kHostCompiler, kNvrtc };

/// Everything about a device that is known without using it.
struct DeviceRow {
  std::string_view name;     ///< as in names of cases and after --device
  std::string_view summary;  ///< what it runs, for the help: "the C++ on this CPU"
  SourceTarget target = SourceTarget::kCpp;
  Toolkit toolkit = Toolkit::kHostCompiler;
  /// The compiler flags of a run that names none: "strict", or "both" where strict results do not determine the others.
  std::string_view default_mode = "strict";
  bool is_gpu = false;         ///< runs on hardware of its own, which --gpu chooses and which takes its own times
  bool is_repeatable = true;   ///< two launches from the same bytes give the same bytes
  bool optimises = false;      ///< --optimise and the sample at -O2 apply
  bool observes = false;       ///< fills in ExecutionProfile
  std::string_view same_bits;  ///< the device whose results have the same bits under strict flags; empty: none
  std::string_view agrees;     ///< the device whose results must agree within both error bounds; empty: none
  std::span<const std::string_view> checks = {};  ///< of memory and threads, made at run time, by their names
  Result<std::unique_ptr<Device>> (*make)(const DeviceOptions&) = nullptr;
};

/// All rows, in the order in which tables and reports show them.
std::span<const DeviceRow> devices();

/// The row of a device; null if no device has that name.
const DeviceRow* find_device(std::string_view name);
/// The same for a name that is known to exist.
const DeviceRow& device_row(std::string_view name);

std::vector<std::string> device_names();

/// The checks of all devices.
std::vector<std::string> check_names();

/// Makes a device by its name. Fails only if an option is invalid: what this machine lacks is reported by the device's
/// can_build() and can_run().
Result<std::unique_ptr<Device>> make_device(std::string_view name, const DeviceOptions& options = {});

}  // namespace assay::backends
