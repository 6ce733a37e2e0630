// Kernels of a file that Warp really imports. Skipped without a Python that has Warp.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "harness/live/live.hpp"

namespace assay::live {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kUserFile = R"(import warp as wp
from typing import Any

SCALES = {"half": 0.5}


def make(factor, function):
    # Known inputs only.
    # domain: 0.5 <= x <= 2
    @wp.kernel
    def scale(x: wp.array(dtype=float), out: wp.array(dtype=float)):
        i = wp.tid()
        out[i] = function(x[i]) * factor + wp.static(SCALES["half"])

    return scale


@wp.func
def root(x: float):
    return wp.sqrt(x)


@wp.kernel
def generic(x: wp.array(dtype=Any), out: wp.array(dtype=Any)):
    i = wp.tid()
    out[i] = x[i] + x[i]


class Solver:
    kernels = [make(2.0, root), make(3.0, root)]
    instances = [wp.overload(generic, [wp.array(dtype=t), wp.array(dtype=t)]) for t in (wp.float64, wp.vec2)]

    @wp.kernel
    def step(x: wp.array(dtype=float)):
        i = wp.tid()
        x[i] = 2.0 * x[i]


scaled = make(4.0, root)


def in_python(x):
    return x


@wp.func
def opaque(x: float):
    return in_python(x)


@wp.kernel
def unsupported(x: wp.array(dtype=float)):
    x[0] = opaque(1.0)
)";

class LiveWarpTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "assay-live-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    std::ofstream(folder_ / "user.py") << kUserFile;
    const char* const named = std::getenv("ASSAY_WARP_PYTHON");
    const fs::path own = fs::path(ASSAY_SOURCE_DIR) / "third_party" / "warp-venv" / "bin" / "python";
    const Result<ImportedKernels> imported = import_kernels({.files = {(folder_ / "user.py").string()},
                                                             .module_names = {},
                                                             .python_interpreter = named != nullptr  ? named
                                                                                   : fs::exists(own) ? own.string()
                                                                                                     : ""});
    if (!imported.ok() && imported.error().message.find("has no Warp") != std::string::npos)
      GTEST_SKIP() << imported.error().text();
    ASSERT_TRUE(imported.ok()) << imported.error().text();
    imported_ = *imported;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] const ImportedKernel& kernel(const std::string& name) const {
    for (const ImportedKernel& kernel : imported_.kernels)
      if (kernel.name == "user." + name) return kernel;
    ADD_FAILURE() << "no kernel " << name;
    return imported_.kernels.front();
  }

  fs::path folder_;
  ImportedKernels imported_;
};

TEST_F(LiveWarpTest, ListsKernelsInSourceOrder) {
  std::vector<std::string> names;
  for (const ImportedKernel& kernel : imported_.kernels)
    names.push_back(kernel.name);
  EXPECT_THAT(names, ElementsAre("user.scale", "user.scale_2", "user.scaled", "user.generic", "user.generic_2",
                                 "user.Solver_step", "user.unsupported"));
  EXPECT_EQ(imported_.kernels.front().selector, (folder_ / "user.py").string() + ":scale");
  EXPECT_TRUE(imported_.notes.empty());
  EXPECT_EQ(changed_source(imported_.sources), std::nullopt);
}

TEST_F(LiveWarpTest, ExportedTextContainsCapturedValuesAndComments) {
  const ImportedKernel& scaled = kernel("scaled");
  EXPECT_THAT(scaled.source_text, HasSubstr("factor = 4.0"));
  EXPECT_THAT(scaled.source_text, HasSubstr("* factor + 0.5"));
  EXPECT_THAT(scaled.source_text, HasSubstr("def root("));
  EXPECT_THAT(scaled.source_text, HasSubstr("# Known inputs only.\n# domain: 0.5 <= x <= 2\n# source: "));
  EXPECT_THAT(scaled.source_text, HasSubstr("@wp.kernel\ndef scaled("));
  EXPECT_THAT(kernel("scale").source_text, HasSubstr("factor = 2.0"));
  EXPECT_THAT(kernel("scale_2").source_text, HasSubstr("factor = 3.0"));
}

TEST_F(LiveWarpTest, GenericKernelInstancesHaveTypesAndSourceLines) {
  const ImportedKernel& instance = kernel("generic_2");
  EXPECT_THAT(instance.source_text, HasSubstr("def generic_2(x: wp.array(dtype=wp.vec2f, ndim=1)"));
  EXPECT_EQ(instance.line, 24);
  EXPECT_THAT(instance.source_text, HasSubstr("user.py:24\n@wp.kernel\n"));
}

TEST_F(LiveWarpTest, ReportsWhyKernelCannotBeExported) {
  const ImportedKernel& unsupported = kernel("unsupported");
  EXPECT_EQ(unsupported.source_text, "");
  EXPECT_EQ(unsupported.export_error, "it calls the Python function in_python");
}

TEST_F(LiveWarpTest, WritesEachExportedKernelToAFile) {
  const Result<void> written = write_exports(imported_, folder_ / "export");
  ASSERT_TRUE(written.ok()) << written.error().text();
  std::ifstream stream(folder_ / "export" / "user.scaled.py");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_EQ(text, kernel("scaled").source_text);
  EXPECT_FALSE(fs::exists(folder_ / "export" / "user.unsupported.py"));
}

}  // namespace
}  // namespace assay::live
