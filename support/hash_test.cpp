#include "support/hash.hpp"

#include <string>

#include <gtest/gtest.h>

namespace assay {
namespace {

// The vectors of FIPS 180-4's examples: one block, two blocks, and many.
TEST(Sha256, MatchesThePublishedVectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, HashesBytesAfterAZeroByte) {
  EXPECT_NE(sha256_hex(std::string_view("a\0b", 3)), sha256_hex(std::string_view("a\0c", 3)));
}

// Vectors of the draft "The FNV Non-Cryptographic Hash Algorithm", appendix C.
TEST(Fnv1a, MatchesThePublishedVectors) {
  static_assert(fnv1a("") == 0xcbf29ce484222325);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8c);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8);
}

TEST(Fnv1a, TreatsBytesAboveAsciiAsUnsigned) { EXPECT_EQ(fnv1a("\xff"), 0xaf64724c8602eb6e); }

TEST(Fnv1a, HashOfPartsEqualsHashOfWhole) { EXPECT_EQ(fnv1a("bar", fnv1a("foo")), fnv1a("foobar")); }

}  // namespace
}  // namespace assay
