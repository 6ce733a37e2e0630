// Near duplicates: rows whose programs share most of their text, found by MinHash and gathered into clusters.
//
// A program is the set of its shingles, runs of kShingle tokens of the canonical IR, in which names do not count. Two
// rows are near duplicates where the Jaccard index of their sets is at least kNear. Candidates are those that agree in
// one band of a MinHash signature (Broder 1997; one permutation and rotation, Shrivastava and Li, "Densifying one
// permutation hashing", ICML 2014); each candidate is then decided by the sets themselves.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace assay::dataset {

inline constexpr int kShingle = 5;
inline constexpr double kNear = 0.8;

/// Hashes of the text's shingles, ascending, each once. Texts shorter than a shingle are one.
using Shingles = std::vector<std::uint32_t>;
using ShingleView = std::span<const std::uint32_t>;
Shingles shingles_of(std::string_view text);

/// |A and B| / |A or B|; 1 for two empty sets.
double jaccard(ShingleView a, ShingleView b);

/// For each row the number of the first row of its cluster: near duplicates share one, and so do near duplicates of
/// near duplicates. Two rows at kNear are missed with a probability below 1 in 4,000.
std::vector<std::uint32_t> clusters_of(std::span<const ShingleView> rows);

}  // namespace assay::dataset
