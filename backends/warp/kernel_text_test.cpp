// What kernel_text.py takes from the user's file. Skipped without a Python that has Warp; Warp itself is not started.
#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/cpu/process.hpp"
#include "backends/device/artifact_files.hpp"
#include "backends/device/build_cache.hpp"
#include "backends/warp/host_text.hpp"
#include "backends/warp/interpreter.hpp"

namespace assay::warp {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

/// What the program prints, and whether it succeeds.
struct TakenText {
  int status = -1;
  std::string text;
};

class KernelTextTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!known_interpreter().ok()) GTEST_SKIP() << known_interpreter().error().text();
    folder_.emplace(backends::make_artifact_directory(backends::default_cache_directory()).take());
    ASSERT_TRUE(backends::write_file(folder_->path() / "kernel_text.py", kKernelTextScript));
  }

  /// The text of the kernel `k`, which is defined in the line "def k(".
  TakenText take(const std::string& file, const std::string& definition = "\ndef k(") const {
    EXPECT_TRUE(backends::write_file(folder_->path() / "user.py", file));
    const auto line = std::count(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(file.find(definition)), '\n');
    const cpu::ProcessResult result = cpu::run_process(
        known_interpreter()->program,
        std::vector<std::string>{"-B", (folder_->path() / "kernel_text.py").string(),
                                 (folder_->path() / "user.py").string(), std::to_string(line + 2), "k"},
        std::chrono::milliseconds{20'000});
    return {.status = result.status_or_signal, .text = result.output};
  }

  /// The text for a kernel whose body is `body`, in a file that begins with `top`.
  TakenText take_with(const std::string& top, const std::string& body = "    x[wp.tid()] = LIMIT") const {
    return take("import warp as wp\n" + top + "\n\n@wp.kernel\ndef k(x: wp.array(dtype=float)):\n" + body + "\n");
  }

  std::optional<backends::ScratchDirectory> folder_;
};

TEST_F(KernelTextTest, TakesDefinitionsVerbatimOnTheirLines) {
  const std::string file =
      "\"\"\"Docstring.\"\"\"\n"
      "from __future__ import annotations\n"
      "import os\n"
      "import numpy as np\n"
      "import warp as wp\n"
      "\n"
      "print(\"side effect\")\n"
      "UNUSED = 3.0\n"
      "RATE = wp.constant(0.5 * np.pi)  # per second\n"
      "wp.set_module_options({\"fast_math\": True})\n"
      "x = wp.zeros(3, dtype=float)\n"
      "\n"
      "@wp.struct\n"
      "class Body:\n"
      "    position: wp.vec3\n"
      "\n"
      "@wp.func\n"
      "def unused(x: float):\n"
      "    return x\n"
      "\n"
      "@wp.func\n"
      "def decay(x: float):\n"
      "    return x * RATE\n"
      "\n"
      "@wp.func_grad(decay)\n"
      "def adj_decay(x: float, adj: float):\n"
      "    wp.adjoint[x] += adj\n"
      "\n"
      "@wp.kernel(enable_backward=True)\n"
      "def k(bodies: wp.array(dtype=Body), x: wp.array(dtype=\"float\")):\n"
      "    i = wp.tid()\n"
      "    # A comment.\n"
      "    x[i] += decay(bodies[i].position[0])\n"
      "\n"
      "wp.launch(k, 3, inputs=[x])\n";
  const TakenText taken = take(file);
  ASSERT_EQ(taken.status, 0) << taken.text;
  const std::vector<std::string> lines = lines_of(taken.text);
  const std::vector<std::string> original = lines_of(file);
  for (std::size_t i = 0; i < lines.size(); ++i)
    EXPECT_TRUE(lines[i].empty() || lines[i] == original[i]) << i + 1 << ": " << lines[i];
  for (const char* kept : {"from __future__", "import numpy as np", "RATE = ", "# per second", "set_module_options",
                           "class Body", "def decay", "def adj_decay", "@wp.kernel(enable", "# A comment."})
    EXPECT_THAT(taken.text, HasSubstr(kept));
  for (const char* dropped : {"Docstring", "import os", "print", "UNUSED", "wp.zeros", "def unused", "wp.launch"})
    EXPECT_THAT(taken.text, Not(HasSubstr(dropped)));
}

TEST_F(KernelTextTest, TakesOverloadsAndFunctionsThatReplaceOperators) {
  const TakenText taken = take(
      "import warp as wp\nfrom typing import Any\n\n@wp.func\ndef mod(a: float, b: float):\n    return a\n\n@wp.func\n"
      "def scale(x: float):\n    return x\n\n@wp.func\ndef scale(x: int):\n    return x\n\n@wp.kernel\n"
      "def generic(x: wp.array(dtype=Any)):\n    x[0] = scale(x[0]) % x[1]\n\n"
      "k = wp.overload(generic, [wp.array(dtype=float)])\n",
      "\ndef generic(");
  ASSERT_EQ(taken.status, 0) << taken.text;
  for (const char* kept : {"def mod", "def scale(x: float)", "def scale(x: int)", "k = wp.overload("})
    EXPECT_THAT(taken.text, HasSubstr(kept));
}

TEST_F(KernelTextTest, FileMayContainConditionalExpressionsAndLambdas) {
  for (const char* statement : {"DEVICE = 'cpu' if True else 'cuda'", "f = lambda x: x"}) {
    const TakenText taken = take_with(std::string("LIMIT = 2.0\n") + statement);
    EXPECT_EQ(taken.status, 0) << taken.text;
    EXPECT_THAT(taken.text, HasSubstr("LIMIT = 2.0"));
  }
}

TEST_F(KernelTextTest, TakesConstantsOfTypesThatTheFileDefines) {
  const TakenText taken = take_with(
      "from enum import IntEnum\nmat63 = wp.types.matrix(shape=(6, 3), dtype=float)\nSPREAD = mat63(1.0)\n"
      "Vec = wp.vec3\nUP = Vec(0.0, 1.0, 0.0)\nclass Side(IntEnum):\n    LEFT = 0\nSIDE = Side(0)",
      "    x[SIDE] = SPREAD[0, 0] + UP[1]");
  EXPECT_EQ(taken.status, 0) << taken.text;
  EXPECT_THAT(take_with("class Limit(float):\n    def __init__(self):\n        print()\nLIMIT = Limit()").text,
              StartsWith("line 5: the kernel needs a value that only Python knows"));
}

TEST_F(KernelTextTest, KeepsParametersAndVariablesApartFromNamesOfTheFile) {
  const TakenText taken =
      take_with("x = open(\"data\")\nLIMIT = 3.0\ny = open(\"data\")", "    y = LIMIT\n    x[wp.tid()] = y");
  ASSERT_EQ(taken.status, 0) << taken.text;
  EXPECT_THAT(taken.text, Not(HasSubstr("open(")));
}

TEST_F(KernelTextTest, RejectsTextThatNeedsOtherCodeToRun) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"LIMIT = open(\"data\").read()", "line 2: the kernel needs a value that only Python knows"},
      {"def limit():\n    return 1.0\nLIMIT = limit()", "line 4: the kernel needs a value that only Python knows"},
      {"LIMIT, = [print(1)]", "line 2: the kernel needs a value that only Python knows"},
      {"wp.x = 1\nif True:\n    LIMIT = 1.0",
       "line 3: the kernel needs a name that is not defined by a simple statement"},
      {"from settings import LIMIT", "line 2: the kernel needs another module"},
      {"import os", "the file does not define 'LIMIT'"},
      {"LIMIT = 1.0; print(LIMIT)", "line 2 has several statements"},
      {"class Limits:\n    TOP = print(1)\nLIMIT = Limits.TOP", "line 2: the class 'Limits' is known only to Python"},
      {"LIMIT = 1.0\nOPTIONS = {}\nwp.set_module_options(dict(OPTIONS))",
       "line 4: the options of the file are known only to Python"},
      {"LIMIT = 1.0\nabs = print\nLIMIT = abs(1)", "line 4: the kernel needs a value that only Python knows"}};
  for (const auto& [top, reason] : cases) {
    const TakenText taken = take_with(top);
    EXPECT_EQ(taken.status, 1) << top << "\n" << taken.text;
    EXPECT_THAT(taken.text, StartsWith(reason)) << top;
  }
  const TakenText nested = take(
      "import warp as wp\n\n\ndef make():\n    @wp.kernel\n    def k(x: wp.array(dtype=float)):\n"
      "        x[0] = 1.0\n    return k\n",
      "\n    def k(");
  EXPECT_THAT(nested.text, StartsWith("the kernel is not defined at the top level of the file"));
}

TEST_F(KernelTextTest, RejectsDefinitionsThatRunOtherCode) {
  const std::string function = "@wp.func\ndef limit(x: float = print(1)):\n    return x\n";
  EXPECT_THAT(take_with(function, "    x[0] = limit(1.0)").text,
              StartsWith("line 2: the header of 'limit' needs a value that only Python knows"));
  const std::string decorated = "@print\n@wp.func\ndef limit(x: float):\n    return x\n";
  EXPECT_THAT(take_with(decorated, "    x[0] = limit(1.0)").text,
              StartsWith("line 2: 'limit' has a decorator that only Python knows"));
  const std::string quoted = "@wp.func\ndef limit(x: \"print(1)\"):\n    return x\n";
  EXPECT_THAT(take_with(quoted, "    x[0] = limit(1.0)").text,
              StartsWith("line 2: the header of 'limit' needs a value that only Python knows"));
  EXPECT_THAT(take_with("LIMIT = 1.0", "    x[0] = LIMIT + wp.static(print(1))").text,
              StartsWith("line 4: 'k' calls wp.static with a value that only Python knows"));
}

}  // namespace
}  // namespace assay::warp
