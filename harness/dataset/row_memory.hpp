// Where lies what is kept of rows: packed, apart from what their making takes and gives back.
//
// Of each row a few small pieces stay until the dataset is finished. Taken from the heap one by one they would lie
// between those that the next rows take and free, which then wander over ever more memory, out of the caches: of 10,000
// rows each took a quarter longer than of 1,000.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay::dataset {

/// Takes copies, which live as long as it does, or as what it was moved to.
class RowMemory {
 public:
  RowMemory() = default;
  RowMemory(RowMemory&& other) noexcept
      : pieces_(std::exchange(other.pieces_, {})), free_(std::exchange(other.free_, {})) {}
  RowMemory& operator=(RowMemory&& other) noexcept {
    pieces_ = std::exchange(other.pieces_, {});
    free_ = std::exchange(other.free_, {});
    return *this;
  }
  ~RowMemory() = default;

  std::string_view keep(std::string_view text) {
    const std::span<const char> kept = keep(std::span<const char>(text.data(), text.size()));
    return {kept.data(), kept.size()};
  }

  template <class T>
  std::span<const T> keep(std::span<const T> items) {
    static_assert(std::is_trivially_destructible_v<T>);
    static_assert(alignof(T) <= kAlignment);
    auto* const to = reinterpret_cast<T*>(take(items.size_bytes()));
    std::uninitialized_copy(items.begin(), items.end(), to);
    return {to, items.size()};
  }

 private:
  static constexpr std::size_t kAlignment = alignof(std::max_align_t);
  static constexpr std::size_t kPiece = std::size_t{1} << 16;

  /// Bytes that begin on kAlignment.
  std::byte* take(std::size_t size) {
    const std::size_t rounded = (size + kAlignment - 1) / kAlignment * kAlignment;
    if (rounded > free_.size()) {
      const std::size_t taken = std::max(rounded, kPiece);
      pieces_.push_back(std::make_unique_for_overwrite<std::byte[]>(taken));
      free_ = {pieces_.back().get(), taken};
    }
    std::byte* const bytes = free_.data();
    free_ = free_.subspan(rounded);
    return bytes;
  }

  std::vector<std::unique_ptr<std::byte[]>> pieces_;
  std::span<std::byte> free_;  ///< of the last piece
};

}  // namespace assay::dataset
