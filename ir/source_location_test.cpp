#include "ir/source_location.hpp"

#include <gtest/gtest.h>

namespace assay::ir {
namespace {

Module module_of_three_files() {
  Module module;
  module.source_name = "wave.py";
  module.source_lines = {"a", "b", "c", "d", "e"};
  module.imported_files = {{.name = "types.py", .lines_before = 2},
                           {.name = "empty.py", .lines_before = 4},
                           {.name = "math.py", .lines_before = 4}};
  return module;
}

TEST(SourceLocation, FindsTheFileOfALine) {
  const Module module = module_of_three_files();
  EXPECT_EQ(location_text(module, {.line = 2, .column = 7}), "wave.py:2:7");
  EXPECT_EQ(location_text(module, {.line = 3, .column = 7}), "types.py:1:7");
  EXPECT_EQ(location_text(module, {.line = 4, .column = 1}), "types.py:2:1");
  EXPECT_EQ(location_text(module, {.line = 5, .column = 1}), "math.py:1:1");
}

TEST(SourceLocation, LineTextNamesOnlyImportedFiles) {
  const Module module = module_of_three_files();
  EXPECT_EQ(line_text(module, {.line = 2, .column = 7}), "line 2");
  EXPECT_EQ(line_text(module, {.line = 4, .column = 7}), "line 2 of types.py");
}

TEST(SourceLocation, LocationWithoutLineIsTheFileName) {
  EXPECT_EQ(location_text(module_of_three_files(), {}), "wave.py");
}

}  // namespace
}  // namespace assay::ir
