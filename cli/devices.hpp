// The devices of this build. Nothing else names a concrete backend.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/device/backend.hpp"
#include "backends/ptx/execute/machine.hpp"

namespace assay::cli {

inline constexpr std::array<std::string_view, 3> kDeviceNames{"cpu", "cuda", "ptx"};

struct DeviceOptions {
  std::string compiler;                     ///< of the CPU; empty: $CXX, else c++
  std::vector<std::string> no_checks = {};  ///< of ptx: those of check_names() that are not made
  std::string gpu = "0";                    ///< of cuda: a number, or "all" to share the work out among all
  std::size_t device_bytes = 0;             ///< of cuda: a GPU's memory that a session may use; 0: as the session's
  std::string cross_check;                  ///< of cuda: a device that repeats each launch, for its bits; empty: none
  /// Of ptx, also as the mirror: whose answers approximate instructions give; null for the nearest numbers.
  std::shared_ptr<const ptx::Tables> tables = nullptr;
  std::string cache = {};  ///< of cpu and ptx: folder of what was built before; empty: the user's
};

/// The checks of the device ptx: "races", "uninitialised".
std::vector<std::string> check_names();
/// All of them but the named ones.
ptx::Checks checks_without(const std::vector<std::string>& names);

/// The device of one of kDeviceNames. Never fails: what is missing is told by its can_build() and can_run().
std::unique_ptr<backends::Device> make_device(std::string_view name, const DeviceOptions& options = {});

/// What generated code is held by on a device that can run, in words; empty where that is not known.
std::string confinement_of(backends::Device& device);

/// What a device has to say of a run that is over; empty where it is nothing.
std::string remark_of(const backends::Device& device);

}  // namespace assay::cli
