// docs/generated/warp_differences.md: differences between Warp's gradients and ours, and which are correct.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/warp_differences/exchange.hpp"
#include "harness/warp_differences/subject.hpp"

namespace assay::warp {

/// The document in Markdown. `date` is the date of the run, such as "2025-03-31".
std::string differences_document(const std::vector<ComparedKernel>& subjects, const WarpAnswers& session,
                                 std::string_view date);

}  // namespace assay::warp
