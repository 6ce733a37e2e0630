// docs/generated/warp_differences.md: where Warp's gradients depart from ours, and who is right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/warp_differences/exchange.hpp"
#include "harness/warp_differences/subject.hpp"

namespace assay::warp {

/// The whole document, in Markdown. `date` is that of the run: "2025-03-31".
std::string differences_document(const std::vector<Subject>& subjects, const Session& session, std::string_view date);

}  // namespace assay::warp
