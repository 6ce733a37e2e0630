// The builds that a comparison of compilers has.
#pragma once

#include <span>
#include <string>

#include "backends/device/registry.hpp"

namespace assay::compilers {

/// The choices, where a list of compilers that is empty is replaced by all compilers of this machine: for a device that
/// compiles C++, those on the path; for `ptx`, the default NVRTC and the versions that ci/setup-compilers installed.
/// `devices` are names.
backends::BuildChoices with_all_compilers(backends::BuildChoices choices, std::span<const std::string> devices);

}  // namespace assay::compilers
