// The fault kind of a launch whose result bits differ between two devices.
#pragma once

#include <string_view>

namespace assay::backends {

/// MemoryFault::kind of a launch whose results differ between two devices although their bits are determined.
inline constexpr std::string_view kDifferingBitsFault = "differing_bits";

}  // namespace assay::backends
