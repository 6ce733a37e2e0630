#include "harness/suite/launches/launch_files.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "harness/suite/select/select.hpp"
#include "ir/analysis.hpp"

namespace assay::harness {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kKernels = R"(import warp as wp


@wp.struct
class Spring:
    stiffness: float
    rest: float
    kind: int


@wp.kernel
def push(x: wp.array(dtype=wp.vec3), spring: Spring, flag: bool, out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    if flag:
        out[i] = spring.stiffness * x[i]


@wp.kernel
def rows(a: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = a[i, 0]
)";

/// The arguments of a launch of `push` with the arrays in x.npy and out.npy.
constexpr std::string_view kArguments = R"([
  {"name": "x", "dtype": "vec3f", "shape": [2], "strides": [12], "file": "x.npy"},
  {"name": "spring", "dtype": "Spring", "value": [2.5, "inf", 7]},
  {"name": "flag", "dtype": "bool", "value": [true]},
  {"name": "out", "dtype": "vec3f", "shape": [2], "file": "out.npy", "shares_memory_with": []}])";

class LaunchFilesTest : public ::testing::Test {
 protected:
  LaunchFilesTest() : dir_(fs::temp_directory_path() / fmt::format("assay-launches-{}", ::getpid())) {
    fs::create_directories(dir_);
    write("kernels.py", kKernels);
    for (const char* name : {"x.npy", "out.npy"})
      write_floats(name, "2, 3", {1, 2, 3, 4, 5, 6});
  }
  ~LaunchFilesTest() override { fs::remove_all(dir_); }

  void write(const std::string& name, std::string_view text) const {
    std::ofstream(dir_ / name, std::ios::binary) << text;
  }
  void write_floats(const std::string& name, const std::string& shape, const std::vector<float>& values) const {
    std::string header = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}", shape);
    header.resize(118, ' ');
    write(name, std::string("\x93NUMPY\x01\0\x76\0", 10) + header +
                    std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
  }
  void write_launch(std::string_view kernel, std::string_view dim, std::string_view arguments) const {
    write("first.json", fmt::format(R"({{"schema_version": "1.0.0", "kernel": "{}", "dim": {}, "arguments": {}}})",
                                    kernel, dim, arguments));
  }

  /// Selects the kernels of the file and attaches the launches of the folder.
  Result<Selection> attached() const {
    Result<Selection> selection = select({(dir_ / "kernels.py").string()}, {});
    const auto files = read_launch_files(dir_);
    if (!files.ok()) return files.error();
    if (auto done = attach_launches(*selection, *files); !done.ok()) return done.error();
    return selection;
  }
  std::string error() const {
    const Result<Selection> selection = attached();
    return selection.ok() ? "" : selection.error().text();
  }
  /// The error for a launch of `push` in which a text of its arguments is replaced.
  std::string error_with(std::string_view old, std::string_view changed) const {
    std::string arguments(kArguments);
    const std::size_t at = arguments.find(old);
    if (at == std::string::npos) return fmt::format("the arguments do not contain {}", old);
    write_launch("push", "[2]", arguments.replace(at, old.size(), changed));
    return error();
  }
  std::string unsupported() const {
    const Result<Selection> selection = attached();
    return selection.ok() ? selection->kernels.front().source.unsupported_launch_reason : selection.error().text();
  }

  fs::path dir_;
};

TEST_F(LaunchFilesTest, BindsRecordedArgumentsToKernelParameters) {
  write_launch("push", "[2]", kArguments);
  const Result<Selection> selection = attached();
  ASSERT_TRUE(selection.ok()) << selection.error().text();
  const KernelSource& source = selection->kernels.front().source;
  ASSERT_NE(source.recorded_launches, nullptr);
  const RecordedLaunch& recorded = source.recorded_launches->front();
  EXPECT_EQ(recorded.file_name, "first.json");
  EXPECT_THAT(recorded.launch.extents, ElementsAre(2));
  const auto& arguments = recorded.launch.arguments;
  EXPECT_THAT(arguments[0].shape, ElementsAre(2));
  EXPECT_EQ(ir::read_float(ir::Scalar::kF32, arguments[0].bytes.data() + 20), 6);
  EXPECT_EQ(ir::read_float(ir::Scalar::kF32, arguments[1].bytes.data()), 2.5);
  EXPECT_EQ(ir::read_float(ir::Scalar::kF32, arguments[1].bytes.data() + 4), HUGE_VAL);
  EXPECT_EQ(ir::read_integer(ir::Scalar::kI32, arguments[1].bytes.data() + 8), 7);
  EXPECT_EQ(arguments[2].bytes.front(), std::byte{1});
}

TEST_F(LaunchFilesTest, BindsBlockSizeOfLaunch) {
  write("kernels.py",
        "import warp as wp\n@wp.kernel\ndef strides(out: wp.array(dtype=int)):\n"
        "    i = wp.tid()\n    out[i] = wp.block_dim()\n");
  const std::pair<const char*, std::int64_t> launches[] = {
      {R"("device": "cuda:0", "block_dim": 64,)", 64}, {R"("device": "cuda:0",)", 256}, {R"("device": "cpu",)", 1}};
  for (const auto& [members, expected] : launches) {
    write("first.json", std::string(R"({"schema_version": "1.0.0", "kernel": "strides", "dim": [3], )") + members +
                            R"("arguments": [{"name": "out", "dtype": "int32", "shape": [2], "file": "i.npy"}]})");
    const std::string header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }";
    write("i.npy", std::string("\x93NUMPY\x01\0\x76\0", 10) + header + std::string(118 - header.size(), ' ') +
                       std::string(8, '\0'));
    const Result<Selection> selection = attached();
    ASSERT_TRUE(selection.ok()) << selection.error().text();
    ASSERT_NE(selection->kernels.front().source.recorded_launches, nullptr);
    const ir::Argument& size = selection->kernels.front().source.recorded_launches->front().launch.arguments.at(1);
    EXPECT_EQ(ir::read_integer(ir::Scalar::kI32, size.bytes.data()), expected) << members;
  }
}

TEST_F(LaunchFilesTest, ReportsNoteForKernelWithoutRecordedLaunch) {
  write_launch("push", "[2]", kArguments);
  const Result<Selection> selection = attached();
  ASSERT_TRUE(selection.ok()) << selection.error().text();
  EXPECT_EQ(selection->kernels[1].source.recorded_launches, nullptr);
  EXPECT_THAT(selection->notes,
              ElementsAre(SelectionNote{.kind = "kernel without a recorded launch, judged on generated inputs",
                                        .text = (dir_ / "kernels.py").string() + ":rows"}));
}

TEST_F(LaunchFilesTest, RejectsLaunchFilesThatBelongToNoSelectedKernel) {
  write("first.json",
        fmt::format(
            R"({{"schema_version": "1.0.0", "kernel": "push", "source": "other.py", "dim": [2], "arguments": {}}})",
            kArguments));
  EXPECT_THAT(error(),
              HasSubstr("no recorded launch belongs to a selected kernel; the recorded launches belong to push"));
}

TEST_F(LaunchFilesTest, PadsMissingLaunchExtentsWithOne) {
  write("kernels.py",
        "import warp as wp\n\n\n@wp.kernel\ndef push(out: wp.array2d(dtype=float)):\n"
        "    i, j = wp.tid()\n    out[i, j] = 1.0\n");
  write_launch("push", "[2]", R"([{"name": "out", "dtype": "float32", "shape": [2, 3], "file": "out.npy"}])");
  const Result<Selection> selection = attached();
  ASSERT_TRUE(selection.ok()) << selection.error().text();
  EXPECT_THAT(selection->kernels.front().source.recorded_launches->front().launch.extents, ElementsAre(2, 1));
}

TEST_F(LaunchFilesTest, ReportsPositionAndCauseOfInvalidFile) {
  EXPECT_THAT(error(), HasSubstr("must contain recorded launches"));
  write("first.json", "{");
  EXPECT_THAT(error(), HasSubstr("first.json: invalid JSON"));
  write("first.json", R"({"schema_version": "1.0.0", "kernel": "push", "dim": [-1], "arguments": []})");
  EXPECT_THAT(error(), HasSubstr("/dim/0: found -1"));
  fs::create_directories(dir_ / "a.json");
  EXPECT_THAT(error(), HasSubstr("a.json: cannot be read: the path is a folder"));
  EXPECT_THAT(read_launch_files(dir_ / "missing").error().text(), HasSubstr("No such file or directory"));
}

TEST_F(LaunchFilesTest, RejectsArgumentsThatDoNotMatchTheKernel) {
  write_launch("push", "[2]", "[]");
  EXPECT_THAT(error(), HasSubstr("kernel 'push' has 4 parameters, but the launch has 0 arguments"));
  EXPECT_THAT(error_with(R"("name": "x")", R"("name": "y")"),
              HasSubstr("argument 0 must have the name of parameter 'x'"));
  EXPECT_THAT(error_with(R"("shape": [2], "strides": [12])", R"("shape": [2, 1], "strides": [12, 12])"),
              HasSubstr("argument 'x' must be an array of float32 x 3 with 1 dimensions, got 2 dimensions"));
  EXPECT_THAT(error_with(R"("shape": [2], "strides")", R"("shape": [3], "strides")"),
              HasSubstr("got 24 bytes for the shape (3)"));
  EXPECT_THAT(error_with("[true]", "[true, false]"), HasSubstr("argument 'flag' must be bool, got 2 numbers"));
  EXPECT_THAT(error_with("7", "7.5"), HasSubstr("argument 'spring' must be struct Spring, got the number 7.5"));
  EXPECT_THAT(error_with("x.npy", "../x.npy"), HasSubstr("must be a name without folders, got '../x.npy'"));
  EXPECT_THAT(error_with("x.npy", "none.npy"), HasSubstr("none.npy: cannot be read: No such file"));
}

TEST_F(LaunchFilesTest, RejectsDtypeThatDiffersFromTypeOfParameter) {
  EXPECT_THAT(error_with(R"("dtype": "bool")", R"("dtype": "float32")"),
              HasSubstr("argument 'flag' must be bool, got dtype float32"));
  EXPECT_THAT(
      error_with(R"("dtype": "vec3f", "shape": [2], "strides")", R"("dtype": "quatf", "shape": [2], "strides")"),
      HasSubstr("argument 'x' must be an array of float32 x 3 with 1 dimensions, got dtype quatf"));
  EXPECT_THAT(error_with(R"("dtype": "Spring")", R"("dtype": "float64")"),
              HasSubstr("argument 'spring' must be struct Spring, got dtype float64"));
  for (const char* const name : {"vec3", "vec_t"})
    EXPECT_EQ(error_with(R"("name": "x", "dtype": "vec3f")", fmt::format(R"("name": "x", "dtype": "{}")", name)), "");
}

TEST_F(LaunchFilesTest, RejectsLaunchFileThatContradictsItself) {
  EXPECT_THAT(error_with(R"("strides": [12])", R"("strides": [12, 4])"),
              HasSubstr("first.json: 'strides' of argument 'x' must have one number for each of its 1 dimensions"));
  EXPECT_THAT(error_with(R"("shares_memory_with": [])", R"("shares_memory_with": ["y"])"),
              HasSubstr("'shares_memory_with' of argument 'out' must name an array argument of the launch, got 'y'"));
  EXPECT_THAT(error_with(R"("shares_memory_with": [])", R"("same_array_as": "flag")"),
              HasSubstr("'same_array_as' of argument 'out' must name an array argument of the launch, got 'flag'"));
}

TEST_F(LaunchFilesTest, LaunchWithoutThreadsIsUnsupported) {
  write_launch("push", "[0]", kArguments);
  EXPECT_THAT(unsupported(), HasSubstr("the recorded launch first.json is not supported: 'dim' is (0), so no thread"));
  write_launch("push", "[2, 0]", kArguments);
  EXPECT_THAT(unsupported(), HasSubstr("'dim' is (2, 0), so no thread"));
}

TEST_F(LaunchFilesTest, RejectsArrayWithUnexpectedElementType) {
  std::string header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }";
  header.resize(118, ' ');
  write("x.npy", std::string("\x93NUMPY\x01\0\x76\0", 10) + header + std::string(24, '\0'));
  write_launch("push", "[2]", kArguments);
  EXPECT_THAT(error(), HasSubstr("got elements of vec3f (<i4)"));
}

TEST_F(LaunchFilesTest, RejectsArraysThatShareMemoryOnlyIfKernelWritesThem) {
  const std::string two(R"([{"name": "a", "dtype": "float32", "shape": [2, 3], "file": "x.npy",
                             "shares_memory_with": ["SHARED"]},
                            {"name": "out", "dtype": "float32", "shape": [6], "file": "out.npy"}])");
  const auto sharing = [&](const std::string& name) {
    std::string text = two;
    return text.replace(text.find("SHARED"), 6, name);
  };
  write("kernels.py", kKernels.substr(0, kKernels.find("@wp.struct")));
  std::ofstream(dir_ / "kernels.py", std::ios::app) << kKernels.substr(kKernels.find("@wp.kernel\ndef rows"));
  write_launch("rows", "[2]", sharing("out"));
  EXPECT_THAT(unsupported(), HasSubstr("arrays 'a' and 'out' share memory and the kernel changes 'out'"));
  write_launch("rows", "[2]", sharing("a"));
  EXPECT_EQ(unsupported(), "");
}

TEST_F(LaunchFilesTest, MergesParametersThatReceiveTheSameWrittenArray) {
  write("kernels.py", R"(import warp as wp


@wp.kernel
def step(before: wp.array(dtype=float), h: float, after: wp.array(dtype=float), twice: wp.array(dtype=float)):
    i = wp.tid()
    after[i] = before[i] + h * twice[i]
)");
  write_launch("step", "[6]", R"([
  {"name": "before", "dtype": "float32", "shape": [6], "file": "out.npy",
   "shares_memory_with": ["after"]},
  {"name": "h", "dtype": "float32", "value": [0.5]},
  {"name": "after", "dtype": "float32", "shape": [6], "file": "out.npy", "same_array_as": "before",
   "shares_memory_with": ["before"]},
  {"name": "twice", "dtype": "float32", "shape": [6], "file": "out.npy"}])");
  const Result<Selection> selection = attached();
  ASSERT_TRUE(selection.ok()) << selection.error().text();
  const KernelSource& source = selection->kernels.at(0).source;
  EXPECT_EQ(source.unsupported_launch_reason, "");
  const ir::Function& kernel = source.module->kernels.at(source.kernel_index);
  ASSERT_EQ(kernel.parameter_count, 3);
  EXPECT_EQ(kernel.variables[2].name, "twice");
  EXPECT_TRUE(ir::parameter_use(*source.module, kernel)[0].changed());
  EXPECT_EQ(source.recorded_launches->at(0).launch.arguments.size(), 3U);
  ASSERT_EQ(selection->notes.size(), 1U);
  EXPECT_THAT(selection->notes[0].text, HasSubstr("'after' is 'before'"));
}

TEST_F(LaunchFilesTest, RejectsExtraLaunchExtentsGreaterThanOne) {
  write_launch("push", "[2, 4]", kArguments);
  EXPECT_THAT(unsupported(), HasSubstr("the launch has 2 extents, but wp.tid() returns 1 indices"));
  write_launch("push", "[2, 1]", kArguments);
  EXPECT_EQ(unsupported(), "");
}

}  // namespace
}  // namespace assay::harness
