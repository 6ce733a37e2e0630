#include "harness/dataset/similarity.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ir/library.hpp"
#include "ir/text.hpp"
#include "support/concat.hpp"
#include "support/hash.hpp"

namespace assay::dataset {
namespace {

constexpr std::size_t kBins = 64;
constexpr std::size_t kBand = 4;  ///< bins in a band: 1 - (1 - 0.8^4)^16 = 0.99978 of pairs at 0.8 agree in one
constexpr std::uint32_t kEmpty = ~std::uint32_t{0};

using Signature = std::array<std::uint32_t, kBins>;

enum class Class : std::uint8_t { kOther, kBlank, kWord };

/// Class of each character.
constexpr std::array<Class, 256> kClasses = [] {
  std::array<Class, 256> classes{};
  for (const char c : std::string_view(" \f\n\r\t\v"))
    classes[static_cast<unsigned char>(c)] = Class::kBlank;
  for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."))
    classes[static_cast<unsigned char>(c)] = Class::kWord;
  return classes;
}();

Class class_of(char c) { return kClasses[static_cast<unsigned char>(c)]; }

/// Hashes of the tokens: words, numbers, and single other characters except blanks.
std::vector<std::uint64_t> tokens_of(std::string_view text) {
  std::vector<std::uint64_t> tokens;
  tokens.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size();) {
    if (class_of(text[i]) == Class::kBlank) {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    if (class_of(text[i]) == Class::kWord) {
      while (end < text.size() && class_of(text[end]) == Class::kWord)
        ++end;
    }
    tokens.push_back(fnv1a(text.substr(i, end - i)));
    i = end;
  }
  return tokens;
}

std::uint32_t finish(std::uint64_t hash) {
  hash ^= hash >> 33U;
  hash *= 0xff51afd7ed558ccdU;
  hash ^= hash >> 33U;
  hash *= 0xc4ceb9fe1a85ec53U;
  return static_cast<std::uint32_t>(hash >> 32U);
}

/// The minimum hash in each bin of hashes; an empty bin takes the value of the next full bin, offset by the distance.
Signature signature_of(ShingleView shingles) {
  Signature least;
  least.fill(kEmpty);
  for (const std::uint32_t hash : shingles) {
    std::uint32_t& bin = least[hash % kBins];
    bin = std::min(bin, hash / static_cast<std::uint32_t>(kBins));
  }
  Signature signature = least;
  for (std::size_t bin = 0; bin < kBins && !shingles.empty(); ++bin) {
    std::uint32_t distance = 0;
    while (least[(bin + distance) % kBins] == kEmpty)
      ++distance;
    signature[bin] = least[(bin + distance) % kBins] + distance * 0x9e3779b9U;
  }
  return signature;
}

/// Most pairs that agree in a band are rejected by size alone: the intersection is at most as large as the smaller set.
bool are_near(ShingleView a, ShingleView b) {
  const auto least = static_cast<double>(std::min(a.size(), b.size()));
  const auto most = static_cast<double>(std::max(a.size(), b.size()));
  return least >= kNearDuplicateSimilarity * most && jaccard(a, b) >= kNearDuplicateSimilarity;
}

/// Union-find over rows; the first row represents its cluster.
class Union {
 public:
  explicit Union(std::size_t rows) : parents_(rows) { std::iota(parents_.begin(), parents_.end(), std::uint32_t{0}); }
  std::uint32_t find(std::uint32_t row) {
    while (parents_[row] != row)
      row = parents_[row] = parents_[parents_[row]];
    return row;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    parents_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parents_;
};

}  // namespace

Shingles shingles_of(std::string_view text) {
  const std::vector<std::uint64_t> tokens = tokens_of(text);
  const std::size_t length = std::min<std::size_t>(kShingleLength, tokens.size());
  Shingles shingles;
  shingles.reserve(tokens.size());
  for (std::size_t first = 0; length > 0 && first + length <= tokens.size(); ++first) {
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < length; ++i)
      hash = (hash ^ tokens[first + i]) * 0x9e3779b97f4a7c15U;
    shingles.push_back(finish(hash));
  }
  std::ranges::sort(shingles);
  shingles.erase(std::ranges::unique(shingles).begin(), shingles.end());
  return shingles;
}

Shingles shingles_of(const ir::Module& module) {
  if (std::ranges::none_of(module.functions, ir::is_warp_code))
    return shingles_of(ir::to_text(module, ir::NamingScheme::kCanonical));
  ir::Module own = module;
  std::string names;
  for (ir::Function& function : own.functions) {
    if (!ir::is_warp_code(function)) continue;
    append(names, "library ", function.name, "\n");
    function.body = {};
  }
  return shingles_of(ir::to_text(own, ir::NamingScheme::kCanonical) + names);
}

double jaccard(ShingleView a, ShingleView b) {
  if (a.empty() && b.empty()) return 1;
  std::size_t common = 0;
  for (auto left = a.begin(), right = b.begin(); left != a.end() && right != b.end();) {
    if (*left == *right) ++common, ++left, ++right;
    else if (*left < *right) ++left;
    else ++right;
  }
  return static_cast<double>(common) / static_cast<double>(a.size() + b.size() - common);
}

namespace {

/// Calls visit(earlier, later) for the pairs of rows that agree in a band, once for each such band, if the later row
/// has at least the index `first_new`.
template <class Visit>
void for_each_candidate_pair(std::span<const ShingleView> rows, std::size_t first_new, Visit&& visit) {
  std::vector<Signature> signatures;
  signatures.reserve(rows.size());
  for (const ShingleView row : rows)
    signatures.push_back(signature_of(row));
  for (std::size_t band = 0; band < kBins; band += kBand) {
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> alike;
    for (std::uint32_t row = 0; row < rows.size(); ++row) {
      std::uint64_t key = 0;
      for (std::size_t i = 0; i < kBand; ++i)
        key = (key ^ signatures[row][band + i]) * 0x9e3779b97f4a7c15U;
      std::vector<std::uint32_t>& others = alike[key];
      if (row >= first_new)
        for (const std::uint32_t other : others)
          visit(other, row);
      others.push_back(row);
    }
  }
}

}  // namespace

std::vector<std::pair<std::uint32_t, std::uint32_t>> near_duplicates(std::span<const ShingleView> rows,
                                                                     std::size_t first_new) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> later_and_earlier;
  for_each_candidate_pair(rows, first_new, [&](std::uint32_t earlier, std::uint32_t later) {
    if (!later_and_earlier.contains({later, earlier}) && are_near(rows[earlier], rows[later]))
      later_and_earlier.emplace(later, earlier);
  });
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  pairs.reserve(later_and_earlier.size());
  for (const auto& [later, earlier] : later_and_earlier)
    pairs.emplace_back(earlier, later);
  return pairs;
}

std::vector<std::uint32_t> clusters_of(std::span<const ShingleView> rows) {
  Union clusters(rows.size());
  for_each_candidate_pair(rows, 0, [&](std::uint32_t earlier, std::uint32_t later) {
    if (clusters.find(earlier) == clusters.find(later)) return;
    if (are_near(rows[earlier], rows[later])) clusters.join(earlier, later);
  });
  std::vector<std::uint32_t> first(rows.size());
  for (std::uint32_t row = 0; row < rows.size(); ++row)
    first[row] = clusters.find(row);
  return first;
}

}  // namespace assay::dataset
