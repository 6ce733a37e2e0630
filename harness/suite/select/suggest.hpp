// Names close to a misspelt one, for error messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::harness {

/// "; did you mean 'loop' or 'nested_loop'?" with at most three of the known names, the closest first; empty where
/// none is close. Close is an edit distance (insertions, deletions, replacements, swaps) of at most a third of the
/// length, or to begin alike.
std::string did_you_mean(std::string_view found, const std::vector<std::string>& known);

}  // namespace assay::harness
