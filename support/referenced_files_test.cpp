#include "support/referenced_files.hpp"

#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/testing/temporary_directory.hpp"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ReferencedFilesTest : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::vector<std::string> relative(const std::vector<std::filesystem::path>& files) const {
    std::vector<std::string> names;
    for (const std::filesystem::path& file : files)
      names.push_back(file.lexically_relative(std::filesystem::absolute(folder_.path()).lexically_normal()).string());
    return names;
  }

  TemporaryDirectory folder_;
};

TEST_F(ReferencedFilesTest, ListsHeadersThatAreIncludedIndirectly) {
  const auto source = write("k.cu",
                            "#include <cuda_runtime.h>\n# include \"sub/a.cuh\"\n#include <own.h>\n"
                            "// #include \"comment.h\"\nint included;");
  write("sub/a.cuh", "#pragma once\n#include \"b.cuh\"\n#include \"own.h\"\n#include \"a.cuh\"");
  write("sub/b.cuh", "");
  write("own.h", "#include \"k.cu\"");
  write("comment.h", "");
  EXPECT_THAT(relative(included_files(source)), ElementsAre("own.h", "sub/a.cuh", "sub/b.cuh"));
  EXPECT_THAT(included_files(write("none.cu", "")), IsEmpty());
  EXPECT_THAT(included_files(folder_.path() / "missing.cu"), IsEmpty());
}

TEST_F(ReferencedFilesTest, ListsModulesThatAreImportedIndirectly) {
  const auto source = write("pkg/spec.py",
                            "import warp as wp, numbers_of_mine\nfrom common import FACTOR\n"
                            "from . import types\nfrom .deep.more import (\n    x,\n    y as z,\n)\n"
                            "    import inner.part as part  # indented\nimportant = 1\n");
  write("pkg/common.py", "from . import (\n    types,\n    last,\n)\n");
  write("pkg/types.py", "");
  write("pkg/last.py", "import common\nimport spec\n");
  write("pkg/deep/more/__init__.py", "");
  write("pkg/deep/more/y.py", "");
  write("pkg/important.py", "");
  write("inner/part.py", "");
  write("numbers_of_mine.py", "");
  EXPECT_THAT(relative(imported_files(source)),
              ElementsAre("inner/part.py", "numbers_of_mine.py", "pkg/common.py", "pkg/deep/more/__init__.py",
                          "pkg/deep/more/y.py", "pkg/last.py", "pkg/types.py"));
}

}  // namespace
}  // namespace assay
