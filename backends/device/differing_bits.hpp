// The kind of the fault of a launch that gave other bits than it must.
#pragma once

#include <string_view>

namespace assay::backends {

/// MemoryFault::kind of a launch on two devices whose results differ where they must not.
inline constexpr std::string_view kDifferingBits = "differing_bits";

}  // namespace assay::backends
