// The alternative paths that a kernel's error bounds allow if a few decisions are uncertain.
#pragma once

#include <vector>

#include "harness/judge/input_set.hpp"

namespace assay::harness {

/// All 2^k paths are evaluated for at most this many uncertain decisions (docs/design/numerics.md, section 4).
inline constexpr std::int64_t kMaxUncertainDecisions = 3;

/// The oracle's results along every path other than that of `swept`, its result for `run`. Empty if no decision is
/// uncertain in this precision, if a path has more than kMaxUncertainDecisions of them, or if the kernel is undefined
/// on a path.
std::vector<reference::ReferenceResult> find_alternative_paths(const reference::Oracle& oracle,
                                                               const reference::OracleRun& run,
                                                               const reference::ReferenceResult& swept,
                                                               Precision precision);

}  // namespace assay::harness
