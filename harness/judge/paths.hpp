// The other paths that a kernel's bounds allow, where a few decisions are uncertain.
#pragma once

#include <vector>

#include "harness/judge/input_set.hpp"

namespace assay::harness {

/// Up to this many uncertain decisions all 2^k paths are followed (docs/design/numerics.md, section 4).
inline constexpr std::int64_t kForcedDecisions = 3;

/// What the oracle says along each path but `swept`'s own, `swept` being what it said of `run`. Empty if no decision is
/// uncertain in the lane, if more than kForcedDecisions are along some path, or if the kernel is not defined there.
std::vector<reference::Reference> other_paths(const reference::Oracle& oracle, const reference::Run& run,
                                              const reference::Reference& swept, Precision precision);

}  // namespace assay::harness
