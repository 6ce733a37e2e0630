// Imports of other files.
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/source/warp/writer.hpp"
#include "frontend/warp/testing/parse.hpp"
#include "ir/source_location.hpp"

namespace assay::frontend {
namespace {

using ::testing::AllOf;
using testing::body_text;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kernel;
using testing::messages;
using ::testing::Not;

constexpr std::string_view kPhysics = R"(import warp as wp
from .constants import SCALE

LIMIT = 2.5


@wp.struct
class Body:
    mass: float
    speed: wp.vec2


class Kind(IntEnum):
    FREE = 3
    FIXED = auto()


class vec6(wp.types.vector(length=6, dtype=float)):
    pass


@wp.func
def clipped(x: float):
    return wp.min(x, LIMIT)


@wp.func
def scaled(x: float, by: float = SCALE):
    return clipped(x) * by


@wp.func
def odd(x: float):
    return wp.nonsense(x)


def plain(x):
    return x
)";

/// Parses a file together with modules, which are found by the name in the import.
class Imports : public ::testing::Test {
 protected:
  std::map<std::string, std::string> modules = {{".physics", std::string(kPhysics)}, {".constants", "SCALE = 4.0\n"}};
  std::map<std::string, int> asked;

  ParsedFile read(const std::string& source) {
    return testing::read(source, "wave.py", [this](const std::string&, const std::string& module) {
      ++asked[module];
      const auto found = modules.find(module);
      return found == modules.end() ? std::nullopt
                                    : std::optional(ModuleSource{module.substr(1) + ".py", found->second});
    });
  }
  /// A kernel of this body behind this import.
  ParsedFile read(const std::string& import, std::string_view body) {
    return read(kernel("x: wp.array(dtype=float)", body, import + "\n"));
  }
};

TEST_F(Imports, ResolveNamesOfImportedFunctionInDefiningFile) {
  const ParsedFile file = read("from .physics import scaled", "x[0] = scaled(x[0])");
  EXPECT_EQ(body_text(file), "x[0] = scaled(x[0], 4.0)\n") << messages(file);
  EXPECT_THAT(ir::to_text(file.module), HasSubstr("mul(clipped(x), by)"));
  EXPECT_THAT(ir::to_text(file.module), HasSubstr("min(x, 2.5)"));
}

TEST_F(Imports, SupportConstantsEnumerationsAndTypesWithAliases) {
  EXPECT_EQ(body_text(read("from .physics import LIMIT as top", "x[0] = top")), "x[0] = 2.5\n");
  EXPECT_EQ(body_text(read("from .physics import Kind", "x[Kind.FREE] = 1.0\nx[int(Kind.FIXED)] = 2.0")),
            "x[3] = 1.0\nx[4] = 2.0\n");
  EXPECT_THAT(body_text(read("from .physics import vec6", "v = vec6(x[0])\nx[1] = v[5]")), HasSubstr("vec<f32,6>"));
}

TEST_F(Imports, StructImportedByTwoFilesIsDefinedOnce) {
  modules[".more"] = R"(import warp as wp
from .physics import Body
@wp.func
def momentum(b: Body):
    return b.mass * b.speed[0]
)";
  const ParsedFile file = read(R"(import warp as wp
from .physics import Body
from .more import momentum
@wp.kernel
def k(b: wp.array(dtype=Body), x: wp.array(dtype=float)):
    x[0] = momentum(b[0])
)");
  EXPECT_EQ(file.module.structs.size(), 1U) << messages(file);
  EXPECT_EQ(file.module.kernels.size(), 1U) << messages(file);
}

TEST_F(Imports, ResolveFunctionReexportedByPackage) {
  modules["."] = "from .physics import scaled as widened\n";
  const ParsedFile file = read("from . import widened", "x[0] = widened(x[0])");
  EXPECT_EQ(file.module.kernels.size(), 1U) << messages(file);
}

TEST_F(Imports, ResolveFunctionsConstantsAndTypesOfImportedModule) {
  modules["."] = "";
  EXPECT_EQ(body_text(read("from . import physics", "x[0] = physics.scaled(x[0]) + physics.LIMIT")),
            "x[0] = add(scaled(x[0], 4.0), 2.5)\n");
  EXPECT_EQ(body_text(read("from . import physics as p", "x[p.Kind.FREE] = 1.0\nv = p.vec6(2.0)\nx[0] = v[1]")),
            body_text(read("from .physics import Kind, vec6", "x[Kind.FREE] = 1.0\nv = vec6(2.0)\nx[0] = v[1]")));
  EXPECT_THAT(messages(read("from . import physics", "x[0] = physics.plain(x[0])")),
              HasSubstr("in physics.py, the name is a Python function"));
  EXPECT_THAT(messages(read("from . import physics", "x[0] = physics.absent(x[0])")),
              HasSubstr("physics.py does not define this name"));
  EXPECT_THAT(messages(read("from . import physics", "physics = x[0]\nx[0] = physics.scaled(x[0])")),
              HasSubstr("error: in k"));

  modules["deep.physics"] = modules[".physics"];
  modules[".constants"] = "SCALE = 8.0\n";
  EXPECT_EQ(body_text(read("import deep.physics as p", "x[0] = p.scaled(x[0])")), "x[0] = scaled(x[0], 8.0)\n");

  // A package that names a module of its own for others.
  modules["."] = "from . import physics as inner\n";
  EXPECT_EQ(body_text(read("from . import inner as p", "x[0] = p.scaled(x[0], 1.0)")), "x[0] = scaled(x[0], 1.0)\n");
}

TEST_F(Imports, AssignmentsGiveFunctionsFurtherNames) {
  modules["."] = "from . import physics\nwidened = physics.scaled\n";
  const auto call = [this](const std::string& definitions, const std::string& name) {
    const ParsedFile file = read(definitions, "x[0] = " + name + "(x[0])");
    return body_text(file) + messages(file);
  };
  EXPECT_EQ(call("from . import physics\nwide = physics.scaled", "wide"), "x[0] = scaled(x[0], 4.0)\n");
  EXPECT_EQ(call("from .physics import scaled\nwide = scaled\nwider = wide", "wider"), "x[0] = scaled(x[0], 4.0)\n");
  EXPECT_EQ(call("from . import physics as p\na, b = p.clipped, p.scaled", "a"), "x[0] = clipped(x[0])\n");
  EXPECT_EQ(call("from . import widened", "widened"), "x[0] = scaled(x[0], 4.0)\n");
  EXPECT_THAT(call("from .physics import clipped, scaled\nf = clipped\nf = scaled", "f"),
              HasSubstr("the value 'scaled' is known only when Python runs"));
  EXPECT_THAT(call("from .physics import clipped\nif N:\n    f = 1\nf = clipped", "f"), HasSubstr("error: in k"));
  EXPECT_THAT(call("from .physics import plain\nf = plain", "f"),
              HasSubstr("the value 'plain' is known only when Python runs"));
}

TEST_F(Imports, LaterDefinitionReplacesAssignedFunction) {
  const std::string later = "@wp.func\ndef f(x: float):\n    return -x";
  for (const std::string first :
       {"from .physics import clipped\nf = clipped\n", "@wp.func\ndef g(x: int):\n    return float(x)\nf = g\n"}) {
    const ParsedFile file = read(first + later, "x[0] = f(x[0])");
    EXPECT_THAT(ir::to_text(file.module), HasSubstr("return neg(x)")) << messages(file);
    EXPECT_THAT(messages(read(first + later, "x[0] = f(1)")), HasSubstr("error: in k: f(...)"));
  }
}

TEST_F(Imports, FactoryArgumentMayBeFunctionOfModule) {
  modules["."] = "";
  const ParsedFile file = read(R"(import warp as wp
from . import physics
def make(f):
    @wp.kernel
    def k(x: wp.array(dtype=float)):
        x[0] = f(x[0])
    return k
made = make(physics.scaled)
)");
  EXPECT_THAT(ir::to_text(file.module), HasSubstr("x[0] = scaled(x[0], 4.0)")) << messages(file);
}

TEST_F(Imports, LoadOnlyModulesOfReferencedNames) {
  modules[".large"] = "from .physics import Body\nfrom .absent import other\nwanted = 7.0\nunwanted = other + 1\n";
  const ParsedFile file = read("from .large import wanted\nfrom .physics import odd", "x[0] = wanted");
  EXPECT_EQ(body_text(file), "x[0] = 7.0\n");
  EXPECT_EQ(asked, (std::map<std::string, int>{{".large", 1}}));
  EXPECT_THAT(messages(file), IsEmpty());
}

TEST_F(Imports, ResolveNamesAcrossCircularImports) {
  modules[".a"] = "from .b import B\nfrom .b import C as A\n";
  modules[".b"] = "from .a import A as C\nB = 5.0\n";
  EXPECT_EQ(body_text(read("from .a import B", "x[0] = B")), "x[0] = 5.0\n");
  EXPECT_THAT(messages(read("from .a import A", "x[0] = A")),
              HasSubstr("in a.py, in b.py, the file a.py does not define this name"));
}

TEST_F(Imports, ResolveDecoratorAcrossCircularImports) {
  // Loading a.py needs to know whether g has a Warp decorator.
  modules[".a"] = "from .b import mark\n@mark\ndef g(): pass\nN = 6.0\n";
  modules[".b"] = "from .a import N\nfrom .c import mark\n";
  modules[".c"] = "from .a import N\ndef mark(f): return f\n@N\ndef h(): pass\n";
  EXPECT_EQ(body_text(read("from .a import g\nfrom .c import N", "x[0] = N")), "x[0] = 6.0\n");
}

TEST_F(Imports, DistinguishFunctionsOfSameNameFromDifferentFiles) {
  const ParsedFile file = read("from .physics import scaled\n@wp.func\ndef clipped(x: float):\n    return x + 1.0",
                               "x[0] = scaled(x[0]) + clipped(x[0])");
  ASSERT_EQ(file.module.kernels.size(), 1U) << messages(file);
  const Result<std::string> written = source::warp::write_kernel(file.module, 0);
  ASSERT_TRUE(written.ok()) << written.error().text();
  const ParsedFile again = testing::read(*written);
  EXPECT_THAT(ir::to_text(again.module), HasSubstr("add(x, 1.0)"));
  EXPECT_THAT(ir::to_text(again.module), HasSubstr("min(x, 2.5)"));
}

TEST_F(Imports, LocationsAndErrorsContainNameOfImportedFile) {
  const ParsedFile file = read("from .physics import scaled, odd", "x[0] = scaled(x[0])");
  ASSERT_EQ(file.module.functions.size(), 2U);
  EXPECT_EQ(ir::location_text(file.module, file.module.functions[0].loc), "physics.py:23:1");
  EXPECT_EQ(ir::line_text(file.module, file.module.kernels[0].loc), "line 4");

  const ParsedFile failed = read("from .physics import odd", "x[0] = odd(x[0])");
  EXPECT_THAT(messages(failed),
              HasSubstr("wave.py:5:12: error: in k: odd(...): function odd could not be parsed: physics.py:34:12: "
                        "wp.nonsense(...): unknown or unsupported function\n"));
  EXPECT_THAT(messages(failed), HasSubstr("physics.py:34:12: error: in odd: wp.nonsense(...): unknown or unsupp"));
}

TEST_F(Imports, ErrorReportsWhyImportedNameIsUnknown) {
  EXPECT_THAT(messages(read("from .absent import f", "x[0] = f(x[0])")),
              HasSubstr("imported from module '.absent', which could not be loaded"));
  EXPECT_THAT(messages(read("from .physics import f", "x[0] = f(x[0])")),
              HasSubstr("physics.py does not define this name"));
  EXPECT_THAT(messages(read("from .physics import plain", "x[0] = plain(x[0])")),
              HasSubstr("in physics.py, the name is a Python function without the decorator @wp.func"));
  modules[".broken"] = "import warp as wp\n@wp.struct\nclass S(Base):\n    a: float\n\nN = = 1\n";
  EXPECT_THAT(messages(read("from .broken import S", "s = S()")),
              HasSubstr("in broken.py, struct S could not be parsed: the file has a syntax error here"));
  modules[".binary"] = std::string("a\0b", 3);
  EXPECT_THAT(
      messages(read("from .binary import f", "x[0] = f(x[0])")),
      HasSubstr("imported from module '.binary', which could not be loaded: binary.py:1:2: file contains a zero "
                "byte"));
  modules[".indented"] = "import warp as wp\n  N = 1\n";
  EXPECT_THAT(messages(read("from .indented import N", "x[0] = float(N)")),
              HasSubstr("which could not be loaded: indented.py:2:3: unexpected indentation"));
}

TEST_F(Imports, LaterDefinitionReplacesImportedName) {
  const ParsedFile file = read(
      "from .physics import clipped, Body\n@wp.func\ndef clipped(x: float):\n    return -x\n"
      "@wp.struct\nclass Body:\n    own: float",
      "b = Body()\nx[0] = clipped(x[0]) + b.own");
  EXPECT_THAT(ir::to_text(file.module), HasSubstr("return neg(x)")) << messages(file);
  EXPECT_EQ(file.module.kernels.size(), 1U) << messages(file);
  const ParsedFile later =
      read("@wp.func\ndef clipped(x: float):\n    return -x\nfrom .physics import clipped", "x[0] = clipped(x[0])");
  EXPECT_THAT(ir::to_text(later.module), HasSubstr("return min(x, 2.5)")) << messages(later);
  EXPECT_THAT(messages(read("@wp.func\ndef clipped(x: float):\n    return -x\nfrom .absent import clipped",
                            "x[0] = clipped(x[0])")),
              HasSubstr("imported from module '.absent', which could not be loaded"));
  EXPECT_THAT(messages(read("from .physics import LIMIT\nLIMIT = 1.0", "x[0] = LIMIT")),
              HasSubstr("the name is assigned more than once"));
}

TEST_F(Imports, ParametersAndVariablesShadowImportedNames) {
  const ParsedFile file = read(R"(import warp as wp
from . import physics
from .physics import Kind
@wp.struct
class Own:
    LIMIT: float
    FREE: float
@wp.kernel
def k(physics: Own, x: wp.array(dtype=float)):
    Kind = Own()
    x[0] = physics.LIMIT + Kind.FREE
)");
  EXPECT_THAT(body_text(file), AllOf(Not(HasSubstr("2.5")), Not(HasSubstr("3")))) << messages(file);
}

TEST_F(Imports, IgnoreKernelsOfImportedFiles) {
  modules[".other"] = kernel("x: wp.array(dtype=float)", "x[0] = unknown", "N = 3.0\n");
  const ParsedFile file = read("from .other import N, k as other", "x[0] = N");
  EXPECT_EQ(body_text(file), "x[0] = 3.0\n");
  EXPECT_EQ(file.declarations.size(), 1U);
}

TEST_F(Imports, ImportedFunctionKeepsItsCustomGradient) {
  modules[".custom"] = R"(import warp as wp
@wp.func
def f(x: float):
    return x * x
@wp.func_grad(f)
def adj_f(x: float, adj: float):
    wp.adjoint[x] += 3.0 * adj
@wp.func
def g(x: float):
    return x
@wp.func
def g(x: wp.vec2):
    return x[0]
@wp.func_grad(g)
def adj_g(x: wp.vec3, adj: float):
    wp.adjoint[x] += adj * wp.vec3(1.0)
)";
  const ParsedFile file = read("from .custom import f", "x[0] = f(x[0])");
  EXPECT_EQ(body_text(file), "x[0] = f(x[0])\n") << messages(file);
  ASSERT_EQ(file.module.functions.size(), 2U);
  EXPECT_NE(file.module.functions[0].gradient_function_index, ir::kNone);
  EXPECT_THAT(messages(read("from .custom import g", "x[0] = g(x[0])")),
              HasSubstr("custom.py:15:1: error: in adj_g: def adj_g: no function named"));
}

TEST_F(Imports, RejectChainOfImportsAboveMaximumFileCount) {
  for (std::size_t i = 0; i <= kMaxImportedFiles; ++i)
    modules[".m" + std::to_string(i)] = "from .m" + std::to_string(i + 1) + " import N\n";
  modules[".m" + std::to_string(kMaxImportedFiles - 1)] = "N = 1.0\n";
  EXPECT_EQ(body_text(read("from .m0 import N", "x[0] = N")), "x[0] = 1.0\n");
  modules[".m" + std::to_string(kMaxImportedFiles - 1)] = "from .m" + std::to_string(kMaxImportedFiles) + " import N\n";
  modules[".m" + std::to_string(kMaxImportedFiles)] = "N = 1.0\n";
  EXPECT_THAT(messages(read("from .m0 import N", "x[0] = N")), HasSubstr("which could not be loaded"));
}

TEST_F(Imports, RejectChainOfImportsAboveMaximumTotalSize) {
  const std::string remark = "# " + std::string(1'000'000 - 3, 'x') + "\n";
  const std::size_t enough = kMaxImportedBytes / remark.size();
  for (std::size_t i = 0; i <= enough; ++i)
    modules[".m" + std::to_string(i)] = "from .m" + std::to_string(i + 1) + " import N\n#" + remark.substr(100);
  modules[".m" + std::to_string(enough - 1)] = "N = 1.0\n";
  EXPECT_EQ(body_text(read("from .m0 import N", "x[0] = N")), "x[0] = 1.0\n");
  modules[".m" + std::to_string(enough - 1)] = "from .m" + std::to_string(enough) + " import N\n" + remark;
  modules[".m" + std::to_string(enough)] = "N = 1.0\n#" + remark.substr(1000);
  EXPECT_THAT(messages(read("from .m0 import N", "x[0] = N")), HasSubstr("which could not be loaded"));
}

TEST(Enumerations, HaveSameValuesAsInPython) {
  constexpr std::string_view kKinds = R"(import enum
class Kind(enum.IntEnum):
    """What it is."""
    A = 5
    B = enum.auto()
    C = A + B
    D = len("abcd")
    def name_of(self):
        return "x"
class Bits(enum.IntFlag):
    P = enum.auto()
    Q = enum.auto()
    R = P | Q
    S = enum.auto()
class Low(enum.IntEnum):
    A = -5
    B = enum.auto()
    C = 0
    D = enum.auto()
    E = 0
    F = enum.auto()
class Open(enum.IntEnum):
    A = len("abcd")
    B = enum.auto()
    C = 9
    D = enum.auto()
)";
  const std::map<std::string, std::string> values = {
      {"Kind.A", "5"}, {"Kind.B", "6"}, {"Kind.C", "11"}, {"Bits.P", "1"}, {"Bits.Q", "2"},      {"Bits.R", "3"},
      {"Bits.S", "4"}, {"Low.B", "-4"}, {"Low.D", "1"},   {"Open.C", "9"}, {"Kind.A.value", "5"}};
  for (const auto& [name, value] : values) {
    const auto file = testing::read(kernel("x: wp.array(dtype=int)", "x[0] = " + name, kKinds));
    EXPECT_EQ(body_text(file), "x[0] = " + value + "\n") << name;
  }
  for (const char* name : {"Kind.D", "Kind.E", "Low.F", "Open.A", "Open.B", "Open.D"}) {
    const auto file = testing::read(kernel("x: wp.array(dtype=int)", std::string("x[0] = ") + name, kKinds));
    EXPECT_THAT(messages(file), HasSubstr("the value of this enumeration member is known only when Python runs"))
        << name;
  }
}

}  // namespace
}  // namespace assay::frontend
