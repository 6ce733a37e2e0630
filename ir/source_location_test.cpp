#include "ir/source_location.hpp"

#include <gtest/gtest.h>

namespace assay::ir {
namespace {

Module module_of_three_files() {
  Module module;
  module.source_name = "wave.py";
  module.source_lines = {"a", "b", "c", "d", "e"};
  module.imported_files = {{.name = "types.py", .preceding_line_count = 2},
                           {.name = "empty.py", .preceding_line_count = 4},
                           {.name = "math.py", .preceding_line_count = 4}};
  return module;
}

TEST(SourceLocation, MapsLineOfConcatenatedSourceToOriginalFileAndLine) {
  const Module module = module_of_three_files();
  EXPECT_EQ(location_text(module, {.line = 2, .column = 7}), "wave.py:2:7");
  EXPECT_EQ(location_text(module, {.line = 3, .column = 7}), "types.py:1:7");
  EXPECT_EQ(location_text(module, {.line = 4, .column = 1}), "types.py:2:1");
  EXPECT_EQ(location_text(module, {.line = 5, .column = 1}), "math.py:1:1");
}

TEST(SourceLocation, LineTextIncludesFileNameOnlyIfImported) {
  const Module module = module_of_three_files();
  EXPECT_EQ(line_text(module, {.line = 2, .column = 7}), "line 2");
  EXPECT_EQ(line_text(module, {.line = 4, .column = 7}), "line 2 of types.py");
}

TEST(SourceLocation, LinesAfterSourceCommentHaveOriginalLocation) {
  Module module;
  module.source_name = "exported.py";
  module.source_lines = {"import warp as wp",
                         "# source: user/wave.py:40",
                         "@wp.kernel",
                         "def k():",
                         "  a",
                         "# source: user/math.py:7",
                         "@wp.kernel",
                         "def f():",
                         "  b"};
  module.copied_lines = copied_lines(module.source_lines);
  EXPECT_EQ(location_text(module, {.line = 1, .column = 1}), "exported.py:1:1");
  EXPECT_EQ(location_text(module, {.line = 4, .column = 5}), "user/wave.py:40:5");
  EXPECT_EQ(line_text(module, {.line = 5, .column = 3}), "line 41 of user/wave.py");
  EXPECT_EQ(location_text(module, {.line = 9, .column = 3}), "user/math.py:8:3");
}

TEST(SourceLocation, IgnoresMalformedSourceComments) {
  const std::vector<std::string> lines{"# source: wave.py", "# source: wave.py:", "# source: wave.py:0",
                                       "# source: wave.py:1x", "  # source: wave.py:1"};
  EXPECT_TRUE(copied_lines(lines).empty());
  for (std::string mark : lines) {
    const std::vector<std::string> function{std::move(mark), "@wp.kernel", "def k():"};
    EXPECT_TRUE(copied_lines(function).empty()) << function[0];
  }
  const std::vector<std::string> link{"# source: https://example.org:80", "import warp as wp", "", ""};
  EXPECT_TRUE(copied_lines(link).empty());
}

TEST(SourceLocation, TextOfLocationWithoutLineIsTheFileName) {
  EXPECT_EQ(location_text(module_of_three_files(), {}), "wave.py");
}

}  // namespace
}  // namespace assay::ir
