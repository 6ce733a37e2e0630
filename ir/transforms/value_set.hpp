// Sets of the values of a kernel in SSA form, for the analyses and sweeps.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::transforms {

/// A set of values of a kernel, as one bit for each ValueId.
class ValueSet {
 public:
  ValueSet() = default;
  /// The empty set for a kernel with `values` values. Sets can be combined only if they belong to the same kernel.
  explicit ValueSet(std::size_t values)
      : kernel_value_count_(values), words_((values + kBitsPerWord - 1) / kBitsPerWord) {}

  /// Number of values of the kernel, in the set or not.
  [[nodiscard]] std::size_t size() const { return kernel_value_count_; }
  bool operator[](std::size_t value) const { return (words_[value / kBitsPerWord] >> value % kBitsPerWord & 1U) != 0; }
  void add(std::size_t value) { words_[value / kBitsPerWord] |= std::uint64_t{1} << value % kBitsPerWord; }

  ValueSet& operator|=(const ValueSet& other) {
    return combine(other, [](std::uint64_t a, std::uint64_t b) { return a | b; });
  }
  ValueSet& operator&=(const ValueSet& other) {
    return combine(other, [](std::uint64_t a, std::uint64_t b) { return a & b; });
  }
  ValueSet& operator-=(const ValueSet& other) {
    return combine(other, [](std::uint64_t a, std::uint64_t b) { return a & ~b; });
  }
  friend bool operator==(const ValueSet&, const ValueSet&) = default;
  friend ValueSet operator&(ValueSet a, const ValueSet& b) { return a &= b; }
  friend ValueSet operator-(ValueSet a, const ValueSet& b) { return a -= b; }

  /// Returns whether the sets have a common value.
  [[nodiscard]] bool intersects(const ValueSet& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & other.words_[i]) != 0) return true;
    }
    return false;
  }

  /// Calls visit(std::size_t) for each value in the set, ascending.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t left = words_[i]; left != 0; left &= left - 1)
        visit(i * kBitsPerWord + static_cast<std::size_t>(std::countr_zero(left)));
    }
  }

 private:
  static constexpr std::size_t kBitsPerWord = 64;  ///< number of bits of an element of words_

  template <class Combine>
  ValueSet& combine(const ValueSet& other, const Combine& combine_words) {
    std::ranges::transform(words_, other.words_, words_.begin(), combine_words);
    return *this;
  }

  std::size_t kernel_value_count_ = 0;  ///< number of values of the kernel, in the set or not
  std::vector<std::uint64_t> words_;    ///< one bit for each value, set if the value is in the set
};

}  // namespace assay::transforms
