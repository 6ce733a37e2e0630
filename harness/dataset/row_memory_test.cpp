#include "harness/dataset/row_memory.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace assay::dataset {
namespace {

/// Distinct texts of all lengths up to several times the size of a heap allocation.
std::vector<std::string> texts() {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 200; ++i)
    texts.emplace_back(i * i * 7, static_cast<char>('a' + i % 26));
  return texts;
}

TEST(RowArena, StoredTextsDoNotOverlap) {
  RowArena memory;
  std::vector<std::string_view> kept;
  for (const std::string& text : texts())
    kept.push_back(memory.store(text));
  EXPECT_EQ(std::vector<std::string>(kept.begin(), kept.end()), texts());
}

TEST(RowArena, AlignsStoredValuesForTheirType) {
  using Item = std::pair<std::string_view, std::uint32_t>;
  RowArena memory;
  for (std::uint32_t length = 0; length < 40; ++length) {
    memory.store(std::string(length, 'x'));
    const Item item{"name", length};
    const std::span<const Item> kept = memory.store(std::span(&item, 1));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(kept.data()) % alignof(Item), 0U);
    EXPECT_EQ(kept.front(), item);
  }
}

TEST(RowArena, StoredCopiesStayValidAfterMove) {
  RowArena first;
  const std::string_view kept = first.store("kept");
  RowArena second = std::move(first);
  // NOLINTNEXTLINE(bugprone-use-after-move): it must be usable after a move
  const std::string_view of_first = first.store("of the first");
  second.store("of the second");
  EXPECT_EQ(kept, "kept");
  EXPECT_EQ(of_first, "of the first");

  first = std::move(second);
  // NOLINTNEXTLINE(bugprone-use-after-move)
  const std::string_view of_second = second.store("after the move");
  first.store("of the first, again");
  EXPECT_EQ(kept, "kept");
  EXPECT_EQ(of_second, "after the move");
}

}  // namespace
}  // namespace assay::dataset
