// The numeric modes that a run judges. A mode is a component of its cases' names.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "harness/suite/run/run.hpp"

namespace assay::harness {

/// The values of --mode: strict, which case names omit; default, the compiler's own flags; both.
inline constexpr std::array<std::string_view, 3> kModeNames{"strict", "default", "both"};

/// The modes of a run on the device. `chosen` is one of kModeNames; empty: DeviceRow::default_mode. `optimise` is the
/// -O level, which is part of the mode's name unless it is 0. A device that does not run Assay's code has one mode.
std::vector<Mode> modes_of(std::string_view device, std::string_view chosen, int optimise);

/// The command-line option that selects only this mode; empty for the device's default mode.
std::string mode_option(std::string_view device, const Mode& mode);

std::vector<std::string> names_of(const std::vector<Mode>& modes);

}  // namespace assay::harness
