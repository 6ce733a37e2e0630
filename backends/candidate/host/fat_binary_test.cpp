#include "backends/candidate/host/fat_binary.hpp"

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::candidate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FatBinary {
 public:
  FatBinary() {
    append(std::uint32_t{0xBA55ED50});
    append(std::uint16_t{1});
    append(std::uint16_t{16});
    append(std::uint64_t{0});
  }
  FatBinary& add(std::uint16_t kind, const std::string& content, std::uint32_t compressed = 0) {
    append(kind);
    append(std::uint16_t{0x101});
    append(std::uint32_t{64});
    append(std::uint64_t{content.size()});
    append(compressed);
    bytes_.resize(bytes_.size() + 64 - 20);
    for (const char c : content)
      bytes_.push_back(static_cast<std::byte>(c));
    const std::uint64_t body = bytes_.size() - 16;
    std::memcpy(bytes_.data() + 8, &body, sizeof(body));
    return *this;
  }
  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  template <typename T>
  void append(T value) {
    const auto* const first = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof(value));
  }
  std::vector<std::byte> bytes_;
};

TEST(FatBinaryTest, RemovesTrailingZeroBytesFromPtxEntries) {
  FatBinary binary;
  binary.add(1, std::string(".version 8.0\n\0\0", 15)).add(2, "machine code").add(1, ".version 9.0");
  const Result<std::vector<std::string>> texts = ptx_of(binary.bytes());
  ASSERT_TRUE(texts.ok()) << texts.error().text();
  EXPECT_THAT(*texts, ElementsAre(".version 8.0\n", ".version 9.0"));
}

TEST(FatBinaryTest, ContainsWrittenPtx) {
  const std::string binary = fat_binary_of(".version 8.5\n");
  const Result<std::vector<std::string>> texts = ptx_of(std::as_bytes(std::span(binary)));
  ASSERT_TRUE(texts.ok()) << texts.error().text();
  EXPECT_THAT(*texts, ElementsAre(".version 8.5\n"));
}

TEST(FatBinaryTest, RejectsCompressedAndMalformedContainers) {
  const auto error = [](const std::vector<std::byte>& bytes) {
    const Result<std::vector<std::string>> texts = ptx_of(bytes);
    return texts.ok() ? std::string("no error") : texts.error().text();
  };
  EXPECT_THAT(error(FatBinary().add(1, "packed", 6).bytes()), HasSubstr("is compressed"));
  EXPECT_THAT(error(FatBinary().add(2, "machine code").bytes()), HasSubstr("contains no PTX"));
  EXPECT_THAT(error({}), HasSubstr("no fat binary of a known layout"));
  FatBinary truncated;
  truncated.add(1, "text").bytes().pop_back();
  EXPECT_THAT(error(truncated.bytes()), HasSubstr("no fat binary of a known layout"));
  FatBinary too_long;
  too_long.add(1, "text").bytes()[16 + 8] = std::byte{0xff};
  EXPECT_THAT(error(too_long.bytes()), HasSubstr("an invalid entry at byte 16"));
}

}  // namespace
}  // namespace assay::candidate
