// Suggestions for misspelled names in error messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::harness {

/// "; did you mean 'loop' or 'nested_loop'?" with at most three of the known names, the closest first; empty if none is
/// close. A name is close if its edit distance (insertions, deletions, replacements, swaps) is at most a third of the
/// length, or if it has a common prefix.
std::string did_you_mean(std::string_view found, const std::vector<std::string>& known);

}  // namespace assay::harness
