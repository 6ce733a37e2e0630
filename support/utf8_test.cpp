#include "support/utf8.hpp"

#include <string_view>

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Utf8, AcceptsWellFormedText) {
  for (const std::string_view text :
       {"", "scale.py", "größe-日本.py", "\x7f", "\u0080", "\u07ff\u0800\ud7ff\ue000\uffff", "\U00010000\U0010ffff"})
    EXPECT_TRUE(is_utf8(text)) << text;
}

TEST(Utf8, RejectsMalformedText) {
  for (const std::string_view text :
       {"a\xe9.py", "\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xff", "a\xc3", "\xe6\x97", "\xc3("})
    EXPECT_FALSE(is_utf8(text)) << text;
}

}  // namespace
}  // namespace assay
