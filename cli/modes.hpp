// The numeric modes that a run judges, each a part of its cases' names.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "harness/suite/run/run.hpp"

namespace assay::cli {

/// What --mode takes: strict, which names leave out; default, the compiler's own flags; both.
inline constexpr std::array<std::string_view, 3> kModeNames{"strict", "default", "both"};

/// The modes of a run on the device, by one of kModeNames; empty is strict, but both for ptx: PTX made with the
/// compiler's own flags leaves open what is fused, so neither of the two stands for the other. `optimise` is the level
/// of optimisation for the CPU, named where it is not 0.
std::vector<harness::Mode> modes_of(std::string_view device, std::string_view chosen, int optimise);

/// The option that chooses the mode by itself; empty for the one that the device has without it.
std::string mode_option(std::string_view device, const harness::Mode& mode);

std::vector<std::string> names_of(const std::vector<harness::Mode>& modes);

}  // namespace assay::cli
