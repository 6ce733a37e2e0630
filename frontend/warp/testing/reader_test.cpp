// Whole files: accepted input, declarations, locations, annotations, examples, speed.
#include "frontend/warp/parse/reader.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/source/warp/writer.hpp"
#include "frontend/warp/testing/parse.hpp"
#include "ir/spatial_paths.hpp"
#include "ir/text.hpp"

namespace assay::frontend::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kSimple = "@wp.kernel\ndef good(y: wp.array(dtype=float)):\n    y[wp.tid()] = 1.0\n";

std::string error_of(std::string_view source) {
  const auto result = parse_python(source, "test.py");
  return result.ok() ? "was accepted" : result.error().text();
}

std::string repeated(std::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i)
    result += text;
  return result;
}

std::vector<std::string> examples() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(ASSAY_SOURCE_DIR "/examples")) {
    if (entry.path().extension() == ".py") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// ---- rejected files

TEST(PythonParser, RejectsEmptyFile) {
  EXPECT_EQ(error_of(""), "test.py: file is empty");
  EXPECT_EQ(error_of(" \n\t\n"), "test.py: file is empty");
  EXPECT_EQ(error_of("\xEF\xBB\xBF"), "test.py: file is empty");
}

TEST(PythonParser, RejectsBinaryFile) {
  using namespace std::string_view_literals;
  EXPECT_EQ(error_of("x = 1\ny\0z"sv), "test.py:2:2: file contains a zero byte and is not Python source");
}

TEST(PythonParser, RejectsInvalidUtf8) {
  for (const std::string_view wrong :
       {"\xFF", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\x80"}) {
    EXPECT_EQ(error_of("x = 1\n# " + std::string(wrong)), "test.py:2:3: file is not valid UTF-8");
  }
}

TEST(PythonParser, AcceptsUtf8CommentsAndByteOrderMark) {
  const ParsedFile file = read("\xEF\xBB\xBFimport warp as wp  # größer \xF0\x9F\x98\x80\n" + std::string(kSimple));
  EXPECT_EQ(file.module.kernels.size(), 1U);
}

TEST(PythonParser, RejectsFileLargerThanTwoMillionBytes) {
  EXPECT_EQ(error_of(std::string(2'000'001, ' ')), "test.py: file has 2000001 bytes, the limit is 2000000");
}

TEST(PythonParser, RejectsTooDeeplyNestedExpressionsAndBlocks) {
  EXPECT_THAT(error_of("x = " + repeated("(", 5000) + "1" + repeated(")", 5000)), HasSubstr("nested more than"));
  EXPECT_THAT(error_of("x = " + repeated("-", 5000) + "1"), HasSubstr("nested more than"));
  EXPECT_THAT(error_of("x = 1" + repeated(" + 1", 5000)), HasSubstr("nested more than"));
  std::string blocks;
  for (int depth = 0; depth < 500; ++depth)
    blocks += repeated(" ", depth) + "if x:\n";
  EXPECT_THAT(error_of(blocks + repeated(" ", 500) + "y\n"), HasSubstr("test.py:"));
}

TEST(PythonParser, RejectsThousandsOfUnclosedBracketsAndBlocks) {
  for (const std::string_view open : {"(", "[", "{", "f(", "\"", "'''", "@", "def f(", "if x:\n "}) {
    EXPECT_NE(error_of(repeated(open, 3000)), "");
  }
}

TEST(PythonParser, AcceptsLineOfAMillionCharacters) {
  const std::string source = "import warp as wp\n# " + std::string(1'000'000, 'x') + "\nN = \"" +
                             std::string(900'000, 'y') + "\"\n" + std::string(kSimple);
  EXPECT_EQ(read(source).module.kernels.size(), 1U);
}

TEST(PythonParser, RejectsOnlyTheKernelWithTooDeeplyNestedExpression) {
  const std::string deep = "import warp as wp\n@wp.kernel\ndef deep(y: wp.array(dtype=float)):\n    y[0] = 1.0" +
                           repeated(" + 1.0", 300) + "\n";
  const ParsedFile file = read(deep + std::string(kSimple));
  EXPECT_THAT(messages(file), HasSubstr("test.py:4:12: error: in deep: V17-expression-size:"));
  ASSERT_EQ(file.module.kernels.size(), 1U);
  EXPECT_EQ(file.module.kernels[0].name, "good");
}

// ---- definitions of kernels

TEST(PythonParser, RejectsNestedKernelsThatUseRunTimeValues) {
  const ParsedFile file = read(
      "import warp as wp\n"
      "def make(n):\n"
      "    @wp.kernel\n"
      "    def inner(x: wp.array(dtype=int)):\n"
      "        x[0] = n\n"
      "    return inner\n"
      "class C:\n"
      "    @wp.func\n"
      "    def method(x: float):\n"
      "        return x\n"
      "if True:\n"
      "    @wp.kernel\n"
      "    def maybe(x: float):\n"
      "        pass\n" +
      std::string(kSimple));
  EXPECT_EQ(messages(file),
            "test.py:5:16: error: in inner: n: the value of this parameter of make is known only when Python runs\n"
            "test.py:9:5: error: in method: def method: defined inside a class, so the names in the definition are "
            "known only when Python runs\n"
            "test.py:13:5: error: in maybe: def maybe: defined inside a compound statement, so the names in the "
            "definition are known only when Python runs\n");
  EXPECT_EQ(file.module.kernels.size(), 1U);
}

TEST(PythonParser, ParsesNestedKernelsThatUseOnlyConstants) {
  const ParsedFile file = read(
      "import warp as wp\n"
      "def test_one(device):\n"
      "    N = 3\n"
      "    @wp.kernel\n"
      "    def k(x: wp.array(dtype=int)):\n"
      "        x[0] = N\n"
      "    wp.launch(k, 1, device=device)\n"
      "class Tests:\n"
      "    def test_two(self):\n"
      "        @wp.kernel\n"
      "        def k(x: wp.array(dtype=int)):\n"
      "            x[0] = 4\n");
  EXPECT_EQ(messages(file), "");
  ASSERT_EQ(file.module.kernels.size(), 2U);
  EXPECT_EQ(file.module.kernels[0].name, "k");
  EXPECT_EQ(file.module.kernels[1].name, "k_2");
}

TEST(PythonParser, InstantiatesKernelForEachFactoryCall) {
  const ParsedFile file = read(
      "import warp as wp\n"
      "import os\n"
      "def make(n: int, both: bool = False):\n"
      "    @wp.kernel\n"
      "    def k(x: wp.array(dtype=int)):\n"
      "        x[0] = n\n"
      "    if both:\n"
      "        return k, n\n"
      "    return k\n"
      "k3 = make(3)\n"
      "k4, count = make(4, both=True)\n"
      "k5 = make(os.cpu_count())\n"
      "@wp.kernel\n"
      "def uses(x: wp.array(dtype=int)):\n"
      "    x[0] = count\n");
  EXPECT_EQ(messages(file),
            "test.py:6:16: error: in k5: n: the argument 'os.cpu_count(...)' is known only when Python runs\n");
  ASSERT_EQ(file.module.kernels.size(), 3U);
  EXPECT_EQ(file.module.kernels[0].name, "k3");
  EXPECT_EQ(file.module.kernels[1].name, "k4");
  EXPECT_NE(ir::to_text(file.module).find("kernel uses(x: array<i32,1>; thread) {\n  x[0] = 4\n}"), std::string::npos)
      << ir::to_text(file.module);
}

TEST(PythonParser, ParsesKernelDespiteExponentiallyManyFactoryCalls) {
  std::string source = "import warp as wp\ndef f0():\n    return 1\n";
  for (int k = 1; k < 15; ++k) {
    source += "def f" + std::to_string(k) + "():\n";
    for (const char* name : {"a", "b", "c", "d"})
      source += std::string("    ") + name + " = f" + std::to_string(k - 1) + "()\n";
    source += "    return a\n";
  }
  const ParsedFile file = read(source + "x = f14()\n" + std::string(kSimple));
  EXPECT_EQ(file.module.kernels.size(), 1U) << messages(file);
}

TEST(PythonParser, RejectsCustomGradientOfUnknownFunction) {
  const ParsedFile file =
      read("import warp as wp\n@wp.func_grad(f)\ndef g(y: float, adj_ret: float):\n    wp.adjoint[y] += adj_ret\n" +
           std::string(kSimple));
  EXPECT_EQ(messages(file),
            "test.py:3:1: error: in g: def g: @wp.func_grad must name a function defined above it in this file\n");
}

TEST(PythonParser, RejectsCustomGradientThatMatchesNoOverload) {
  const std::string overloads =
      "import warp as wp\n@wp.func\ndef f(y: float):\n    return y * y\n@wp.func\ndef f(y: int):\n    return y\n";
  const std::string kernel = "@wp.kernel\ndef k(a: wp.array(dtype=float)):\n    i = wp.tid()\n    a[i] = f(2.0)\n";
  for (const std::string_view parameter : {"y", "y: wp.vec3"}) {
    const ParsedFile file = read(overloads + "@wp.func_grad(f)\ndef g(" + std::string(parameter) +
                                 ", adj_ret: float):\n    pass\n" + kernel);
    EXPECT_TRUE(file.module.kernels.empty());
    EXPECT_EQ(messages(file),
              "test.py:9:1: error: in g: def g: no function named f has the same parameter types\n"
              "test.py:14:12: error: in k: f(...): no supported overload of this function accepts these argument "
              "types\n");
  }
  const ParsedFile fitting =
      read(overloads + "@wp.func_grad(f)\ndef g(y: float, adj_ret: float):\n    wp.adjoint[y] += adj_ret\n" + kernel);
  EXPECT_EQ(fitting.module.kernels.size(), 1U) << messages(fitting);
}

TEST(PythonParser, UsesLastOfTwoKernelsWithTheSameName) {
  const ParsedFile file = read("import warp as wp\n@wp.kernel\ndef good(n: int):\n    pass\n" + std::string(kSimple));
  EXPECT_EQ(messages(file), "test.py:3:1: error: in good: def good: redefined in line 6\n");
  ASSERT_EQ(file.module.kernels.size(), 1U);
  EXPECT_EQ(file.module.kernels[0].loc.line, 6);
}

TEST(PythonParser, RecognizesWarpUnderAnyAlias) {
  for (const std::string_view imports :
       {"import warp\n", "import warp as w\n", "from warp import kernel, tid, array\n",
        "from warp import kernel as k, tid as t, array as a\n", "import warp as wp, numpy\n"}) {
    const bool is_from = imports.starts_with("from");
    const bool renamed = imports.find(" as t") != std::string_view::npos;
    const std::string prefix = imports == "import warp\n" ? "warp." : imports == "import warp as w\n" ? "w." : "wp.";
    const auto name = [&](std::string_view plain, std::string_view alias) {
      return is_from ? std::string(renamed ? alias : plain) : prefix + std::string(plain);
    };
    const ParsedFile file =
        read(std::string(imports) + "@" + name("kernel", "k") + "\ndef good(y: " + name("array", "a") +
             "(dtype=float)):\n    y[" + name("tid", "t") + "()] = 1.0\n");
    EXPECT_EQ(file.module.kernels.size(), 1U) << imports << messages(file);
  }
}

TEST(PythonParser, AcceptsFileWithoutKernels) {
  const ParsedFile file = read("import numpy as np\nx = np.zeros(3)\nprint(x)\n");
  EXPECT_EQ(messages(file), "");
  EXPECT_TRUE(file.module.kernels.empty());
}

TEST(PythonParser, ReportsErrorInUncalledFunctionAsNote) {
  const ParsedFile file =
      read("import warp as wp\n@wp.func\ndef f(x: float):\n    return nothing(x)\n" + std::string(kSimple));
  ASSERT_EQ(file.diagnostics.size(), 1U);
  EXPECT_EQ(file.diagnostics[0].severity, Severity::kNote);
}

TEST(PythonParser, ReportsNoteIfDynamicLoopChangesVariableInitializedWithLiteral) {
  const auto count = [](std::string_view start, std::string_view loop) {
    const std::string body = "s = " + std::string(start) + "\n" + std::string(loop) + "\n    s = s + 1.0\nx[0] = s";
    return read(kernel("x: wp.array(dtype=float), n: int", body)).diagnostics.size();
  };
  EXPECT_EQ(count("0.0", "for i in range(n):"), 1U);
  EXPECT_EQ(count("0.0", "for i in range(100):"), 1U);
  EXPECT_EQ(count("0.0", "while x[0] < 1.0:"), 1U);
  EXPECT_EQ(count("0.0", "for i in range(3):"), 0U);
  EXPECT_EQ(count("float(0.0)", "for i in range(n):"), 0U);
}

// ---- source information in modules

TEST(PythonParser, RecordsLocationsSourceLinesAndAnnotations) {
  const std::string source =
      "import warp as wp\r\n"
      "# domain: too far up\r\n"
      "\r\n"
      "#  launch: (n, 4)  \r\n"
      "# some words\r\n"
      "# domain: 0 <= i < n\r\n"
      "@wp.kernel(enable_backward=False)\r\n"
      "def k(x: wp.array(dtype=float), n: int):\r\n"
      "    # domain: inside\r\n"
      "    i = wp.tid()\r\n"
      "    x[i] = x[i] * 2.0\r\n";
  const ParsedFile file = read(source);
  const ir::Function& kernel = file.module.kernels.at(0);
  EXPECT_THAT(kernel.annotations, ElementsAre("launch: (n, 4)", "domain: 0 <= i < n"));
  EXPECT_EQ(file.module.source_name, "test.py");
  EXPECT_EQ(file.module.source_lines.at(7), "def k(x: wp.array(dtype=float), n: int):");
  EXPECT_EQ(kernel.loc.line, 8);
  const ir::Stmt& store = kernel.body.statements.at(0);
  EXPECT_EQ(store.loc.line, 11);
  EXPECT_EQ(store.loc.column, 5);
  const ir::Expr& product = kernel.expr(std::get<ir::Store>(store.node).value);
  EXPECT_EQ(product.loc.line, 11);
  EXPECT_EQ(product.loc.column, 12);
  for (const ir::Expr& expr : kernel.expressions)
    EXPECT_EQ(expr.loc.line, 11);
}

TEST(PythonParser, BlockSizeIsLastParameterOfKernelAndOfFunctionsThatUseIt) {
  const ParsedFile file = read(R"(import warp as wp
@wp.func
def stride():
    return wp.block_dim()
@wp.func
def next(k: int):
    return k + stride()
@wp.kernel
def rows(x: wp.array2d(dtype=int)):
    i, j = wp.tid()
    x[i, j] = next(j)
# launch: (8, 4)
@wp.kernel
def stated(x: wp.array2d(dtype=int)):
    i, j = wp.tid()
    x[i, j] = wp.block_dim()
@wp.kernel
def line(x: wp.array(dtype=int), block_dim: int):
    i = wp.tid()
    x[i] = wp.block_dim() + block_dim
@wp.kernel
def plain(x: wp.array(dtype=int)):
    x[wp.tid()] = 1
)");
  ASSERT_EQ(file.module.kernels.size(), 4U) << messages(file);
  const auto& kernels = file.module.kernels;
  EXPECT_EQ(kernels[0].parameter_count, 2);
  EXPECT_EQ(kernels[0].variables[1].path, ir::kBlockSizePath);
  EXPECT_THAT(kernels[0].annotations, ElementsAre("launch: (_, block_dim)"));
  EXPECT_EQ(file.module.functions[0].parameter_count, 1);
  EXPECT_EQ(file.module.functions[1].parameter_count, 2);
  EXPECT_THAT(kernels[1].annotations, ElementsAre("launch: (8, 4)"));
  EXPECT_EQ(kernels[2].variables[2].name, "launch_block_dim");
  EXPECT_THAT(kernels[2].annotations, ElementsAre("domain: 1 <= launch_block_dim <= 1024"));
  EXPECT_EQ(kernels[3].parameter_count, 1);
}

TEST(PythonParser, ArraysOfMeshesAreParametersOfKernelAndOfFunctionsThatUseThem) {
  const ParsedFile file = read(R"(import warp as wp
@wp.func
def corner(mesh: wp.uint64, i: int):
    return wp.mesh_get_point(mesh, index=i)
@wp.kernel
def k(mesh: wp.handle, x: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    x[i] = corner(mesh, i)
    surface = wp.mesh_get(mesh)
    x[i + 1] = surface.velocities[surface.indices[i]]
@wp.kernel
def index_only(meshes: wp.array(dtype=wp.uint64), x: wp.array(dtype=int)):
    i = wp.tid()
    x[i] = wp.mesh_get_index(meshes[i], i)
)");
  ASSERT_EQ(file.module.kernels.size(), 2U) << messages(file);
  std::vector<std::string> names;
  for (ir::VarId p = 0; p < file.module.kernels[0].parameter_count; ++p)
    names.push_back(file.module.kernels[0].var(p).name);
  EXPECT_THAT(names, ElementsAre("mesh", "x", "mesh_points", "mesh_velocities", "mesh_indices"));
  EXPECT_EQ(file.module.kernels[0].var(2).path, ir::kMeshPointsPath);
  EXPECT_THAT(file.module.kernels[0].annotations,
              ElementsAre("domain: 0 <= mesh_indices < mesh_points.shape[1]",
                          "domain: 0 <= mesh_indices < mesh_velocities.shape[1]", "domain: mesh_indices are triangles",
                          "domain: 1 <= mesh <= mesh_indices.shape[0]"));
  EXPECT_THAT(file.module.kernels[1].annotations,
              ElementsAre("domain: mesh_indices are triangles", "domain: 1 <= meshes <= mesh_indices.shape[0]"));
  EXPECT_THAT(ir::to_text(file.module), AllOf(HasSubstr("let row: u32 = sub(cast<u32>(mesh), cast<u32>(1))"),
                                              HasSubstr("return vectors[row, cast<u32>(indices[row, cast<u32>(x)])]")));
}

TEST(PythonParser, TexturesAreRowsOfArrays) {
  const ParsedFile file = read(R"(import warp as wp
@wp.struct
class Lamp:
    shade: wp.Texture3D
@wp.func
def bright(image: wp.Texture2D, at: wp.vec2):
    return wp.texture_sample(image, at, dtype=float)
@wp.kernel
def known(image: wp.Texture2D, x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = bright(image, wp.vec2(x[i], 0.5))
@wp.kernel
def fields(lamps: wp.array(dtype=Lamp), x: wp.array(dtype=wp.vec2)):
    i = wp.tid()
    x[i] *= float(lamps[i].shade.width - 3 * lamps[i].shade.depth)
    x[i] = wp.texture_sample(lamps[i].shade, x[i][0], x[i][1], 0.5, dtype=wp.vec2, lod=1.0)
@wp.kernel
def one_of_two(flat: wp.Texture2D, deep: wp.Texture3D, x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = wp.texture_sample(flat, x[i], 0.5, dtype=float)
)");
  ASSERT_EQ(file.module.kernels.size(), 3U) << messages(file);
  const auto names = [&](std::size_t kernel) {
    std::vector<std::string> found;
    for (ir::VarId p = 0; p < file.module.kernels[kernel].parameter_count; ++p)
      found.push_back(file.module.kernels[kernel].var(p).name);
    return found;
  };
  EXPECT_THAT(names(0), ElementsAre("image", "x", "textures_2d"));
  EXPECT_THAT(names(1), ElementsAre("lamps", "x", "textures_3d"));
  EXPECT_THAT(names(2), ElementsAre("flat", "deep", "x", "textures_2d"));
  EXPECT_EQ(file.module.kernels[0].var(2).path, ir::kTextures2DPath);
  EXPECT_EQ(file.module.kernels[0].var(2).type, ir::vector_type(ir::Scalar::kF32, 4).array_of(3));
  EXPECT_THAT(ir::to_text(file.module),
              AllOf(HasSubstr("let row: u32 = cast<u32>(mod(texture, cast<u64>(shape(values, 0))))"),
                    HasSubstr("sub(mul(v, cast<f32>(shape(values, 1))), 0.5)"),
                    HasSubstr("values[row, cast<u32>(high_1), cast<u32>(low)]"),
                    HasSubstr("sub(shape(textures_3d, 3), mul(3, shape(textures_3d, 1)))")));
}

TEST(PythonParser, FunctionsReturnZeroWhereTheyEndWithoutReturn) {
  const ParsedFile file = read(R"(import warp as wp
@wp.struct
class Step:
    length: float
@wp.func
def root(x: float):
    if x > 0.0:
        return wp.vec2(x, 1.0)
@wp.func
def step(x: float):
    while x > 0.0:
        return Step(x)
)");
  EXPECT_THAT(ir::to_text(file.module), AllOf(HasSubstr("  }\n  return splat<vec<f32,2>>(0.0)\n}"),
                                              HasSubstr("  }\n  let nothing: Step\n  return nothing\n}")));
}

TEST(PythonParser, QueriesOfMeshesAreFunctionsThatExamineEachFace) {
  const ParsedFile file = read(R"(import warp as wp
@wp.func
def distance(mesh: wp.uint64, x: wp.vec3):
    query = wp.mesh_query_point_no_sign(mesh, x, max_dist=2.0)
    return wp.length(wp.mesh_eval_position(mesh, query.face, query.u, query.v) - x)
@wp.kernel
def k(mesh: wp.uint64, x: wp.array(dtype=wp.vec3), out: wp.array(dtype=float)):
    i = wp.tid()
    if wp.mesh_query_ray_anyhit(mesh, x[i], wp.vec3(1.0, 0.0, 0.0), 3.0, -1):
        out[i] = distance(mesh, x[i]) * wp.mesh_query_point_sign_parity(mesh, x[i], 1.0, n_sample=3).sign
)");
  ASSERT_EQ(file.module.kernels.size(), 1U) << messages(file);
  EXPECT_THAT(file.module.kernels[0].annotations,
              ElementsAre("domain: 0 <= mesh_indices < mesh_points.shape[1]",
                          "domain: mesh_indices are separate triangles", "domain: 1 <= mesh <= mesh_indices.shape[0]"));
  EXPECT_THAT(ir::to_text(file.module),
              AllOf(HasSubstr("for face: i32 in range(0, div(shape(indices, 1), 3), 1)"),
                    HasSubstr("wp_mesh_query_point_sign_parity(mesh_points, mesh_indices, mesh, x[i], 1.0, 3, 0.1)")));
}

TEST(PythonParser, QueriesThatVisitFacesFollowAnOrderOfTheFaces) {
  const ParsedFile file = read(R"(import warp as wp
@wp.kernel
def k(mesh: wp.uint64, x: wp.array(dtype=wp.vec3), counts: wp.array(dtype=int)):
    i = wp.tid()
    boxes = wp.mesh_query_aabb(mesh, x[i], x[i] + wp.vec3(1.0))
    face = int(0)
    while counts[i] < 3 and wp.mesh_query_next(boxes, face):
        counts[i] += face
    for each in boxes:
        counts[i] += each
)");
  ASSERT_EQ(file.module.kernels.size(), 1U) << messages(file);
  const ir::Function& kernel = file.module.kernels[0];
  EXPECT_EQ(kernel.var(kernel.parameter_count - 1).path, ir::kMeshOrderPath);
  EXPECT_THAT(kernel.annotations, ::testing::Contains("domain: mesh_order is a permutation"));
  const std::string next = "= call wp_mesh_query_aabb_next(mesh_points, mesh_indices, mesh_order, boxes, face)\n";
  EXPECT_THAT(ir::to_text(file.module),
              AllOf(HasSubstr(next), HasSubstr("for place: i32 in range(query.next, shape(order, 0), 1)")));
}

TEST(PythonParser, QueriesOfHashGridsVisitPointsInOrderOfPermutation) {
  const ParsedFile file = read(R"(import warp as wp
@wp.func
def count(grid: wp.uint64, x: wp.vec3h):
    n = int(0)
    for point in wp.hash_grid_query(grid, x, wp.float16(0.5)):
        n += point
    return n
@wp.kernel
def k(grids: wp.array(dtype=wp.uint64), x: wp.array(dtype=wp.vec3), y: wp.vec3h, counts: wp.array(dtype=int)):
    i = wp.hash_grid_point_id(grids[0], wp.tid())
    point = int(0)
    near = wp.hash_grid_query(grids[i], x[i], 2.0, group=1)
    while wp.hash_grid_query_next(near, point):
        counts[i] += point
    counts[i] += count(grids[0], y)
)");
  ASSERT_EQ(file.module.kernels.size(), 1U) << messages(file);
  const ir::Function& kernel = file.module.kernels[0];
  EXPECT_EQ(kernel.var(kernel.parameter_count - 1).path, ir::kGridOrderPath);
  EXPECT_THAT(kernel.annotations,
              ElementsAre("domain: -4 <= grid_cells <= 4", "domain: 1 <= grid_dims <= 6",
                          "domain: 0.375 <= grid_widths <= 1.5", "domain: 0 <= grid_groups <= 2",
                          "domain: grid_order is a permutation", "domain: 1 <= grids <= grid_widths.shape[0]"));
  EXPECT_THAT(
      ir::to_text(file.module),
      AllOf(HasSubstr("wp_hash_grid_point_id(grid_order, tid)"),
            HasSubstr("wp_hash_grid_query_of_group(grid_widths, grids[wrap_index(i, shape(grids, 0))], x[wrap_index(i, "
                      "shape(x, 0))], 2.0, 1)"),
            HasSubstr(
                "call wp_hash_grid_query_of_group_next(grid_cells, grid_dims, grid_groups, grid_order, near, point)"),
            HasSubstr("wp_hash_grid_query_f16(grid_widths, grid, x, 0.5:f16)"),
            HasSubstr("call wp_hash_grid_query_next(grid_cells, grid_dims, grid_order, query, index)")));
}

TEST(PythonParser, GeneratorThatIsUsedOnceNeedsNoVariable) {
  const auto text = [](std::string_view body) {
    return ir::to_text(read(kernel("x: wp.array(dtype=float), n: int", body)).module);
  };
  EXPECT_EQ(text("x[0] = wp.randf(wp.rand_init(n, 3)) * 2.0"),
            text("state = wp.rand_init(n, 3)\nx[0] = wp.randf(state) * 2.0"));
}

TEST(PythonParser, QueriesOfBoxesTakeGroupsOnlyIfRootIsGiven) {
  const ParsedFile file = read(R"(import warp as wp
@wp.kernel
def whole(bvh: wp.uint64, x: wp.array(dtype=wp.vec3), counts: wp.array(dtype=int)):
    i = wp.tid()
    boxes = wp.bvh_query_aabb(bvh, x[i], x[i], root=-1)
    box = int(0)
    while wp.bvh_query_next(boxes, box):
        counts[i] += box
@wp.kernel
def group(bvh: wp.uint64, x: wp.array(dtype=wp.vec3), counts: wp.array(dtype=int)):
    i = wp.tid()
    box = int(0)
    query = wp.bvh_query_ray(bvh, x[i], x[i], wp.bvh_get_group_root(bvh, i))
    while wp.bvh_query_next(query, box):
        counts[i] += box
)");
  ASSERT_EQ(file.module.kernels.size(), 2U) << messages(file);
  EXPECT_THAT(file.module.kernels[0].annotations,
              ElementsAre("domain: -2 <= bvh_lowers <= 2", "domain: -2 <= bvh_uppers <= 2",
                          "domain: bvh_order is a permutation", "domain: bvh_lowers <= bvh_uppers",
                          "domain: 1 <= bvh <= bvh_lowers.shape[0]"));
  EXPECT_THAT(ir::to_text(file.module),
              AllOf(HasSubstr("call wp_bvh_query_aabb_next(bvh_lowers, bvh_uppers, bvh_order, boxes, box)"),
                    HasSubstr("wp_get_group_root(bvh_groups, bvh_order, bvh, i))"),
                    HasSubstr("call wp_bvh_query_ray_of_group_next(bvh_lowers, bvh_uppers, bvh_groups, bvh_order, "
                              "query, box, inf)")));
}

TEST(PythonParser, OutputsOfMeshQueryAreAssignedIfSomethingIsFound) {
  const ParsedFile file = read(R"(import warp as wp
@wp.kernel
def k(mesh: wp.uint64, x: wp.array(dtype=wp.vec3), out: wp.array(dtype=float)):
    i = wp.tid()
    f = int(-1)
    u = float(0.5)
    v = float(0.25)
    if wp.mesh_query_point_no_sign(mesh, x[i], 1.0, bary_u=u, bary_v=v, face=f):
        out[i] = u
)");
  ASSERT_EQ(file.module.kernels.size(), 1U) << messages(file);
  EXPECT_THAT(ir::to_text(file.module), HasSubstr(R"(  if found.result {
    f = found.face
    u = found.u
    v = found.v
  }
  if found.result {
    out[i] = u
  })"));
}

TEST(PythonParser, NewValuesOfReferenceParametersAreLastResults) {
  const ParsedFile file = read(R"(import warp as wp
@wp.func
def swap(a: wp.ref[float], n: int, b: wp.ref[float]) -> int:
    a, b = b, a
    return n + 1
@wp.func
def raise_to(b: wp.ref[float], low: float):
    if b > low:
        return
    b = low
@wp.kernel
def k(x: wp.array(dtype=float), v: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    c = x[i]
    n = swap(c, b=x[i + 1], n=i)
    raise_to(v[n][1], low=c)
)");
  ASSERT_EQ(file.module.kernels.size(), 1U) << messages(file);
  EXPECT_THAT(file.module.functions[0].results, ElementsAre(ir::kI32, ir::kF32, ir::kF32));
  EXPECT_THAT(file.module.functions[1].results, ElementsAre(ir::kF32));
  EXPECT_THAT(ir::to_text(file.module), AllOf(HasSubstr(R"(
  if gt(b_1, low) {
    return b_1
  }
  b_1 = low
  return b_1
)"),
                                              HasSubstr(R"(
  let n: i32, new_c: f32, new_x: f32 = call swap(c, i, x[add(i, 1)])
  c = new_c
  x[index] = new_x
)"),
                                              HasSubstr("] = insert(v[wrap_index(index_1, shape(v, 0))], 1, new_v)")));
}

TEST(PythonParser, RejectsOnlyKernelsThatCallFunctionWithInvalidGradient) {
  const ParsedFile file = read(R"(import warp as wp
@wp.func
def f(counts: wp.array(dtype=int), x: float):
    return x * x
@wp.func_grad(f)
def adj_f(counts: wp.array(dtype=int), x: float, adj: float):
    counts[0] = 1
    wp.adjoint[x] += 2.0 * x * adj
@wp.kernel
def k(counts: wp.array(dtype=int), x: wp.array(dtype=float)):
    x[0] = f(counts, x[1])
@wp.kernel
def good(x: wp.array(dtype=float)):
    x[wp.tid()] = 1.0
)");
  ASSERT_EQ(file.module.kernels.size(), 1U) << messages(file);
  EXPECT_EQ(file.module.kernels[0].name, "good");
  EXPECT_THAT(messages(file), HasSubstr("adj_f must not change the array counts"));
  EXPECT_THAT(messages(file), HasSubstr("in k: f(...): function f could not be parsed"));
}

TEST(PythonParser, ReadsAdjointsOfArraysAsParametersOfTheGradient) {
  const ParsedFile file = read(R"(import warp as wp
@wp.struct
class Holder:
    values: wp.array(dtype=wp.vec2)
@wp.func
def f(h: Holder, adj_x: float, x: wp.array2d(dtype=float), i: int):
    return h.values[i].x * x[i, 0] * adj_x
@wp.func_grad(f)
def g(h: Holder, adj_x: float, x: wp.array2d(dtype=float), i: int, adj_ret: float):
    row = x[i]
    values = h.values
    wp.adjoint[row][1] += adj_ret
    wp.adjoint[x][i, -1] -= 2.0 * adj_ret
    wp.atomic_add(wp.adjoint[values], i, wp.vec2(adj_ret))
    wp.adjoint[h.values][i].y += adj_ret
    wp.adjoint[adj_x] += adj_ret
@wp.kernel
def k(h: Holder, x: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = f(h, 2.0, x, i)
)");
  const std::string text = ir::to_text(file.module);
  EXPECT_EQ(messages(file), "");
  EXPECT_THAT(text, HasSubstr(R"(
func g(h_values: array<vec<f32,2>,1>, adj_x: f32, x: array<f32,2>, i: i32, adj_ret: f32, nullable adj_h_values: array<vec<f32,2>,1>, nullable adj_x_1: array<f32,2>) -> f32 {
  let adj_adj_x: f32
  atomic_add(adj_x_1[wrap_index(i, shape(adj_x_1, 0)), 1], adj_ret)
  atomic_sub(adj_x_1[wrap_index(i, shape(adj_x_1, 0)), wrap_index(add(shape(adj_x_1, 1), -1), shape(adj_x_1, 1))], mul(2.0, adj_ret))
  atomic_add(adj_h_values[wrap_index(i, shape(adj_h_values, 0))], splat<vec<f32,2>>(adj_ret))
  atomic_add(adj_h_values[wrap_index(i, shape(adj_h_values, 0))], insert(splat<vec<f32,2>>(0.0), 1, adj_ret))
  adj_adj_x = add(adj_adj_x, adj_ret)
  return adj_adj_x
}
)"));
}

TEST(PythonParser, RejectsUsesOfAdjointArraysOtherThanAdditions) {
  const std::string above = R"(import warp as wp
@wp.struct
class S:
    v: float
@wp.func
def first(a: wp.array(dtype=float)):
    return a[0]
@wp.func
def f(y: wp.array(dtype=float), s: wp.array(dtype=S), o: wp.array(dtype=int)):
    return y[0]
@wp.func_grad(f)
def g(y: wp.array(dtype=float), s: wp.array(dtype=S), o: wp.array(dtype=int), w: float):
    )";
  const std::string below = R"(
@wp.kernel
def k(x: wp.array(dtype=float), s: wp.array(dtype=S), o: wp.array(dtype=int)):
    x[0] = f(x, s, o)
)";
  constexpr const char* kReads = "adjoints cannot be read; accumulate into them with +=";
  constexpr const char* kNoFloats =
      "wp.adjoint requires a parameter with float components, or an array parameter whose";
  constexpr const char* kOtherUse = "g must use the adjoint of the array y only to add to its elements";
  const std::pair<const char*, const char*> cases[] = {
      {"wp.adjoint[y][0] = w", "adjoints cannot be assigned; use +="},
      {"wp.adjoint[y][0] *= w", "adjoints can only be accumulated, with += or -="},
      {"wp.adjoint[y][0] += w * wp.adjoint[y][1]", kReads},
      {"w = first(wp.adjoint[y])", kReads},
      {"z = wp.adjoint[y]", kReads},
      {"wp.adjoint[s][0].v += w", kNoFloats},
      {"wp.adjoint[o][0] += 1", kNoFloats},
      {"wp.adjoint[y[0]] += w", kNoFloats},
      {"wp.atomic_max(wp.adjoint[y], 0, w)", kOtherUse},
      {"w = wp.atomic_add(wp.adjoint[y], 0, w)", kOtherUse},
  };
  for (const auto& [statement, message] : cases) {
    const ParsedFile file = read(above + statement + below);
    EXPECT_TRUE(file.module.kernels.empty()) << statement;
    EXPECT_THAT(messages(file), HasSubstr(message)) << statement;
  }
}

TEST(PythonParser, RejectsOnlyTheInvalidOverload) {
  const ParsedFile file = read(
      "import warp as wp\nfrom typing import Any\nflags = wp.types.vector(3, wp.bool)\n@wp.kernel\n"
      "def fill(a: wp.array(dtype=Any), value: Any):\n    a[wp.tid()] = value + value\n"
      "one = wp.overload(fill, [wp.array(dtype=flags), flags])\n"
      "two = wp.overload(fill, [wp.array(dtype=float), float])\n");
  ASSERT_EQ(file.module.kernels.size(), 1U) << messages(file);
  EXPECT_EQ(file.module.kernels[0].name, "two");
  ASSERT_EQ(file.declarations.size(), 2U);
  EXPECT_EQ(file.declarations[0].name, "one");
  EXPECT_FALSE(file.declarations[0].is_parsed);
  EXPECT_TRUE(file.declarations[1].is_parsed);
  EXPECT_THAT(messages(file), HasSubstr("error: in one: "));
}

TEST(PythonParser, ListsEveryKernelAndFunctionAsDeclaration) {
  const ParsedFile file = read(
      "import warp as wp\n@wp.func\ndef f(a: float, b: int = 2):\n    return a\n"
      "@wp.kernel\ndef bad(x):\n    pass\n" +
      std::string(kSimple));
  ASSERT_EQ(file.declarations.size(), 3U);
  EXPECT_EQ(file.declarations[0].name, "f");
  EXPECT_THAT(file.declarations[0].parameter_names, ElementsAre("a", "b"));
  EXPECT_TRUE(file.declarations[0].is_parsed);
  EXPECT_FALSE(file.declarations[0].is_kernel);
  EXPECT_TRUE(file.declarations[1].is_kernel);
  EXPECT_FALSE(file.declarations[1].is_parsed);
  EXPECT_EQ(file.declarations[1].loc.line, 6);
  EXPECT_TRUE(file.declarations[2].is_parsed);
}

// ---- examples and speed

TEST(PythonParser, ParsesExamplesWithoutDiagnostics) {
  ASSERT_GE(examples().size(), 6U);
  for (const std::string& path : examples()) {
    const ParsedFile file = read(file_text(path), path);
    EXPECT_EQ(messages(file), "");
    EXPECT_EQ(file.module.kernels.size(), 2U) << path;
  }
}

TEST(PythonParser, ExamplesRoundTripThroughPythonWriter) {
  for (const std::string& path : examples()) {
    const ParsedFile first = read(file_text(path), path);
    const auto written = source::warp::write_python(first.module);
    ASSERT_TRUE(written.ok()) << written.error().text();
    const ParsedFile second = read(*written, path);
    EXPECT_EQ(messages(second), "") << *written;
    EXPECT_EQ(ir::to_text(first.module, ir::NamingScheme::kCanonical),
              ir::to_text(second.module, ir::NamingScheme::kCanonical));
    EXPECT_EQ(ir::hash(first.module), ir::hash(second.module)) << *written;
  }
}

TEST(PythonParser, ParsesTwoThousandLinesQuickly) {
  std::string source = "import warp as wp\n";
  for (int i = 0; i < 200; ++i) {
    source += "@wp.kernel\ndef k" + std::to_string(i) +
              "(x: wp.array(dtype=float), n: int):\n    i = wp.tid()\n    s = float(0.0)\n    for j in range(n):\n"
              "        if x[j] > 0.5:\n            s += wp.sin(x[j]) * 2.0 - x[i] / (1.0 + wp.abs(s))\n"
              "    x[i] = wp.max(s, 0.0)\n\n";
  }
  const auto start = std::chrono::steady_clock::now();
  const auto file = parse_python(source, "test.py");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->module.kernels.size(), 200U);
  // A tenth of this in Release on one core; the bound leaves room for sanitizers and loaded machines.
  EXPECT_LT(took.count(), 0.5);
}

}  // namespace
}  // namespace assay::frontend::testing
