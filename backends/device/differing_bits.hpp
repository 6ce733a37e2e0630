// The fault kind of a launch whose result bits differ between two devices.
#pragma once

#include <string_view>

namespace assay::backends {

/// MemoryFault::kind of a launch whose result bits differ between two devices although they are determined, so that all
/// correct devices give the same bits.
inline constexpr std::string_view kDifferingBitsFault = "differing_bits";

}  // namespace assay::backends
