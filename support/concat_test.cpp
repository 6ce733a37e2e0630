#include "support/concat.hpp"

#include <string>

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Concat, JoinsStringsLiteralsAndViews) {
  const std::string name = "x";
  EXPECT_EQ(concat(name, " = ", std::string_view("1.0f;\n").substr(0, 5), ""), "x = 1.0f;");
  EXPECT_EQ(concat(), "");
  std::string text = "if ";
  append(text, "(", name, ")");
  EXPECT_EQ(text, "if (x)");
}

}  // namespace
}  // namespace assay
