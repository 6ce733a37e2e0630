// Checks that the parser and CPython's own parser find the same kernels, functions, lines and parameters.
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "frontend/warp/testing/parse.hpp"

namespace assay::frontend::testing {
namespace {

/// Prints a line per decorated definition in the order of the file; does not run the file.
constexpr std::string_view kJudge = R"python(
import ast, sys
tree = ast.parse(open(sys.argv[1], encoding="utf-8").read())
found = []
for node in ast.walk(tree):
    if not isinstance(node, ast.FunctionDef):
        continue
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(target, ast.Attribute) and target.attr in ("kernel", "func"):
            names = [argument.arg for argument in node.args.args]
            found.append((node.lineno, node.col_offset + 1, target.attr, node.name, names))
for line, column, kind, name, names in sorted(found):
    print(line, column, kind, name, *names)
)python";

/// A file that is removed at the end of the test.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& suffix, std::string_view text)
      : path_(std::filesystem::temp_directory_path() /
              ("assay_judge_" + std::to_string(::getpid()) + "_" + std::to_string(++first_entries_) + suffix)) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  static inline int first_entries_ = 0;
  std::filesystem::path path_;
};

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string output;
  std::array<char, 4096> buffer{};
  while (pipe && std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe.get()) != nullptr)
    output += buffer.data();
  return output;
}

std::string declarations(const ParsedFile& file) {
  std::ostringstream text;
  for (const FunctionDeclaration& declaration : file.declarations) {
    text << declaration.loc.line << ' ' << declaration.loc.column << ' ' << (declaration.is_kernel ? "kernel" : "func")
         << ' ' << declaration.name;
    for (const std::string& parameter : declaration.parameter_names)
      text << ' ' << parameter;
    text << '\n';
  }
  return text.str();
}

class CpythonComparison : public ::testing::Test {
 protected:
  void SetUp() override {
    if (output_of("python3 -c 'print(1)' 2>/dev/null") != "1\n") GTEST_SKIP() << "no python3 here";
  }

  void expect_agreement(std::string_view source) {
    const TemporaryFile script(".py", kJudge);
    const TemporaryFile file(".py", source);
    const std::string expected = output_of("python3 " + script.path() + " " + file.path());
    ASSERT_NE(expected, "") << source;
    EXPECT_EQ(declarations(read(source)), expected) << source;
  }
};

TEST_F(CpythonComparison, ParserFindsSameDefinitionsAsCpythonInExamples) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ASSAY_SOURCE_DIR "/examples")) {
    if (entry.path().extension() != ".py") continue;
    expect_agreement(file_text(entry.path().string()));
    ++files;
  }
  EXPECT_GE(files, 6);
}

TEST_F(CpythonComparison, ParserFindsSameDefinitionsAsCpythonInUnusualLayout) {
  expect_agreement(
      "import warp as wp\n\n\n@wp.kernel\n# between\n\ndef k(  # first\n    x: float,\n\n    y: int = 2,  # last\n):\n "
      "   pass\n");
  expect_agreement(
      "import warp as wp\n@wp.func\ndef f(x: float): return x\n@wp.kernel(enable_backward=False)\ndef k(): pass\n");
  expect_agreement("import warp as wp\r\n@wp.kernel\r\ndef k(x: float):\r\n    pass\r\n");
  expect_agreement("import warp as wp\n@wp.kernel\ndef k(x: float) -> None:\n\tif x > (1.0 +\n2.0):\n\t\tpass\n");
  expect_agreement(
      "import warp as wp\ns = '''\n@wp.kernel\ndef no(): pass\n'''\n@wp.kernel\ndef yes(n: int): \\\n  pass\n");
  expect_agreement("import warp as wp\n# größe\n@wp.kernel\ndef k(x: wp.array(dtype=float), n: int): pass  # ü\n");
}

TEST_F(CpythonComparison, ParserFindsSameNestedDefinitionsAsCpython) {
  expect_agreement(
      "import warp as wp\nif True:\n  @wp.kernel\n  def a(x: float): pass\nelse:\n  @wp.func\n  def b(): pass\n"
      "class C:\n    def m(self):\n        @wp.kernel\n        def c(y: int): pass\n"
      "try:\n    pass\nexcept E:\n    @wp.kernel\n    def d(): pass\nfinally:\n    x = 1\n"
      "with open('f') as g:\n    @wp.kernel\n    def e(): pass\nfor i in range(3):\n    @wp.kernel\n    def h(): "
      "pass\n");
}

}  // namespace
}  // namespace assay::frontend::testing
