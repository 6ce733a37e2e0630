// Near duplicates: rows whose programs share most of their text, found by MinHash and grouped into clusters.
//
// A program is represented by its set of shingles: sequences of kShingleLength tokens of the canonical IR, which has no
// user names. Two rows are near duplicates if the Jaccard index of their sets is at least kNearDuplicateSimilarity.
// Candidate pairs agree in one band of a MinHash signature (Broder 1997; one permutation and rotation, Shrivastava and
// Li, "Densifying one permutation hashing", ICML 2014); each candidate pair is then checked with the exact Jaccard
// index.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace assay::dataset {

inline constexpr int kShingleLength = 5;                 ///< number of tokens in a shingle
inline constexpr double kNearDuplicateSimilarity = 0.8;  ///< least Jaccard index of near duplicates

/// Hashes of the text's shingles, ascending and unique. A text shorter than a shingle is one shingle.
using Shingles = std::vector<std::uint32_t>;
using ShingleView = std::span<const std::uint32_t>;
Shingles shingles_of(std::string_view text);

/// |A and B| / |A or B|; 1 for two empty sets.
double jaccard(ShingleView a, ShingleView b);

/// For each row, the index of the first row of its cluster. Clusters are the transitive closure of near duplicates. A
/// pair with Jaccard index kNearDuplicateSimilarity is missed with a probability below 1 in 4,000.
std::vector<std::uint32_t> clusters_of(std::span<const ShingleView> rows);

}  // namespace assay::dataset
