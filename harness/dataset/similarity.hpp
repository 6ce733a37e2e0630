// Near duplicates: rows whose programs share most of their text, found by MinHash and grouped into clusters.
//
// A program is represented by its set of shingles: sequences of kShingleLength tokens of the canonical IR, which has no
// user names. Functions of Warp that are functions of the kernel language (ir/library.hpp) are left out, except for
// their names: two kernels with one call of wp.intersect_tri_tri each need not be similar. Two rows are near duplicates
// if the Jaccard index of their sets is at least kNearDuplicateSimilarity. Candidate pairs agree in one band of a
// MinHash signature (Broder 1997; one permutation and rotation, Shrivastava and Li, "Densifying one permutation
// hashing", ICML 2014); each candidate pair is then checked with the exact Jaccard index.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/module.hpp"

namespace assay::dataset {

inline constexpr int kShingleLength = 5;                 ///< number of tokens in a shingle
inline constexpr double kNearDuplicateSimilarity = 0.8;  ///< least Jaccard index of near duplicates

/// Hashes of the text's shingles, ascending and unique. A text shorter than a shingle is one shingle.
using Shingles = std::vector<std::uint32_t>;
using ShingleView = std::span<const std::uint32_t>;
Shingles shingles_of(std::string_view text);
/// The shingles of a program.
Shingles shingles_of(const ir::Module& module);

/// |A and B| / |A or B|; 1 for two empty sets.
double jaccard(ShingleView a, ShingleView b);

/// The pairs of near duplicates whose second row has at least the index `first_new`: (earlier row, later row), ordered
/// by the later row. A pair with Jaccard index kNearDuplicateSimilarity is missed with a probability below 1 in 4,000.
std::vector<std::pair<std::uint32_t, std::uint32_t>> near_duplicates(std::span<const ShingleView> rows,
                                                                     std::size_t first_new);

/// For each row, the index of the first row of its cluster. Clusters are the transitive closure of near duplicates.
std::vector<std::uint32_t> clusters_of(std::span<const ShingleView> rows);

}  // namespace assay::dataset
