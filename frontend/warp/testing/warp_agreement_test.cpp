// Kernels that Warp rejects, or for which it computes something else than Python: assignments that share the storage of
// a variable or array element where Python copies a value, names of two types, and others.

#include <ostream>
#include <string>
#include <string_view>

#include <gmock/gmock.h>

#include "frontend/warp/testing/parse.hpp"

namespace assay::frontend::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kArrays = "x: wp.array(dtype=float), y: wp.array(dtype=float), n: int";
constexpr std::string_view kVectors = "v: wp.array(dtype=wp.vec3), o: wp.array(dtype=wp.vec3)";

/// A kernel and a part of the only message expected.
struct AgreementCase {
  std::string_view name;                  ///< name of the test
  std::string_view parameters = kArrays;  ///< parameters of the kernel
  std::string_view body;                  ///< statements of the kernel
  std::string_view message = "";          ///< part of the message; empty: the kernel is accepted without an error
  std::string_view above = "";            ///< text before the kernel
};

void PrintTo(const AgreementCase& agreement, std::ostream* stream) { *stream << agreement.name; }

std::string agreement_name(const ::testing::TestParamInfo<AgreementCase>& param) {
  return std::string(param.param.name);
}

class WarpAgreementTest : public ::testing::TestWithParam<AgreementCase> {};

TEST_P(WarpAgreementTest, KernelIsAcceptedOnlyIfWarpComputesTheSame) {
  const AgreementCase& agreement = GetParam();
  const ParsedFile file = read(kernel(agreement.parameters, agreement.body, agreement.above));
  if (agreement.message.empty()) {
    EXPECT_EQ(file.module.kernels.size(), 1U) << messages(file);
    return;
  }
  EXPECT_EQ(file.module.kernels.size(), 0U);
  EXPECT_THAT(messages(file), HasSubstr(std::string(agreement.message)));
}

const AgreementCase kSharingCases[] = {
    // References to array elements
    {.name = "ExchangesElements",
     .body = "a, b = x[0], y[0]\nx[0] = b\ny[0] = a",
     .message =
         "4:5: error: in k: a: in Warp, this assignment does not copy its value but makes 'a' a reference to the "
         "array element or field; line 5 changes it and line 6 reads the old value of 'a'"},
    {.name = "StoresAfterTheLastUse", .body = "a, b = x[0], y[0]\nx[0] = a - b"},
    {.name = "StoresToAnotherArray", .body = "a, b = x[0], x[1]\ny[0] = a\ny[1] = b"},
    {.name = "CopiesElementsOneByOne", .body = "a = x[0]\nb = y[0]\nx[0] = b\ny[0] = a"},
    {.name = "StoresInAnIterationBeforeTheNextUse",
     .body = "a, b = x[0], x[1]\nfor k in range(n):\n    y[k] = a\n    x[0] = b",
     .message = "makes 'a' a reference"},
    {.name = "UpdatesTheElementAtomically",
     .body = "a, b = x[0], x[1]\nx[0] += 1.0\ny[0] = a",
     .message = "makes 'a' a reference"},
    {.name = "StoresToARowOfTheArray",
     .parameters = "m: wp.array2d(dtype=float), y: wp.array(dtype=float)",
     .body = "row = m[0]\na, b = row[0], row[1]\nm[0, 1] = 2.0\ny[0] = b",
     .message = "makes 'b' a reference"},
    {.name = "ReadsComponentsOfElements",
     .parameters = kVectors,
     .body = "a, b = v[0][0], v[0].y\nv[0] = wp.vec3(7.0)\no[0] = wp.vec3(a, b, 0.0)"},
    {.name = "ChangesAComponentOfAReference",
     .parameters = kVectors,
     .body = "a, b = v[0], v[1]\na[0] = 5.0\no[0] = b",
     .message = "makes 'a' a reference to an array element or field, which line 5 would change"},
    {.name = "FunctionChangesTheArray",
     .body = "a, b = x[0], x[1]\nclear(x)\ny[0] = a",
     .message = "makes 'a' a reference",
     .above = "@wp.func\ndef clear(z: wp.array(dtype=float)):\n    z[0] = 0.0\n"},
    {.name = "FunctionReadsTheArray",
     .body = "a, b = x[0], x[1]\ny[0] = first(x)\ny[1] = a",
     .above = "@wp.func\ndef first(z: wp.array(dtype=float)):\n    return z[0]\n"},
    {.name = "FieldOfAStruct",
     .body = "s = S()\ns.f = x[0]\na, b = s.f, 1.0\ns.f = 9.0\ny[0] = a + b",
     .message = "makes 'a' a reference",
     .above = "@wp.struct\nclass S:\n    f: float\n"},
    // Warp rejects other assignments of a reference.
    {.name = "AddsToAReference",
     .body = "a, b = x[0], y[0]\na += b\ny[0] = a",
     .message = "4:5: error: in k: a: this assignment makes 'a' a reference to an array element or field, and Warp "
                "rejects a name that is such a reference and has another assignment (line 5)"},
    {.name = "ReferenceAfterValue",
     .body = "a = 2.0\na, b = x[0], y[0]\ny[0] = a",
     .message = "has another assignment (line 4)"},
    {.name = "ReferencesInAnUnrolledLoop",
     .body = "s = float(0.0)\nfor k in range(3):\n    a, b = x[k], y[k]\n    s += a * b\nx[0] = s",
     .message = "has another assignment (line 6, in the next iteration)"},
    {.name = "ReferencesInALoop",
     .body = "s = float(0.0)\nfor k in range(n):\n    a, b = x[k], y[k]\n    s += a * b\nx[0] = s"},
    {.name = "ReferencesInTwoBranches",
     .body = "if n > 0:\n    a, b = x[0], x[1]\nelse:\n    a, b = x[2], x[1]\ny[0] = a",
     .message = "Warp cannot select between the references that two branches assign to 'a'"},
    {.name = "ReferenceInOneBranch",
     .body = "if n > 0:\n    a, b = x[0], x[1]\nelse:\n    a = 1.0\n    b = 2.0\nx[0] = 9.0\ny[0] = a"},
    // Shared variables
    {.name = "BoundsInALoop",
     .body = "first = x[0]\nlo, hi = first, first\nfor k in range(n):\n    lo = wp.min(lo, x[k])\n"
             "    hi = wp.max(hi, x[k])\ny[0] = lo + hi",
     .message = "5:5: error: in k: lo: in Warp, this assignment does not copy its value but makes 'lo' and 'first' "
                "the same variable; the loop in line 6 changes it and line 7 reads the old value of 'lo'"},
    {.name = "BoundsInAnUnrolledLoop",
     .body = "first = x[0]\nlo, hi = first, first\nfor k in range(4):\n    lo = wp.min(lo, x[k])\n"
             "    hi = wp.max(hi, x[k])\ny[0] = lo + hi"},
    {.name = "BoundsThatDoNotChange", .body = "lo, hi = 0.0, 1.0\nfor k in range(n):\n    y[k] = lo + hi"},
    {.name = "ExchangeInALoop",
     .body = "a = x[0]\nb = y[0]\nfor k in range(n):\n    a, b = b, a\nx[0] = a\ny[0] = b",
     .message = "does not copy its value"},
    {.name = "ExchangeOutsideLoops", .body = "a = x[0]\nb = y[0]\na, b = b, a\nx[0] = a\ny[0] = b"},
    {.name = "ExchangeInAnUnrolledLoop",
     .body = "a = x[0]\nb = y[0]\nfor k in range(3):\n    a, b = b, a\nx[0] = a\ny[0] = b"},
    // Warp writes the variables back in the order of their first assignments.
    {.name = "RecurrenceWrittenBackInOrder",
     .body = "a = x[0]\nb = x[1]\nfor k in range(n):\n    a, b = b, a + b\ny[0] = a + b"},
    {.name = "RecurrenceWrittenBackTooLate",
     .body = "b = x[1]\na = x[0]\nfor k in range(n):\n    a, b = b, a + b\ny[0] = a + b",
     .message = "makes 'a' and 'b' the same variable"},
    {.name = "RecurrenceInAWhileLoop",
     .body = "b = x[1]\na = x[0]\nk = int(0)\nwhile k < n:\n    a, b = b, a + b\n    k += 1\ny[0] = a + b",
     .message = "makes 'a' and 'b' the same variable"},
    {.name = "ComponentOfASharedVariable",
     .parameters = kVectors,
     .body = "c = v[0]\na, b = c, c\na[0] = 7.0\no[0] = b",
     .message = "line 6 changes it and line 7 reads the old value of 'b'"},
    {.name = "ComponentOfACopy", .parameters = kVectors, .body = "c = v[0]\na = c\na[0] = 7.0\no[0] = c"},
    {.name = "StateOfARandomGenerator",
     .body = "s = wp.rand_init(1)\na, b = s, s\nx[0] = wp.randf(a)\ny[0] = wp.randf(b)",
     .message = "makes 'b' and 's' the same variable"},
    {.name = "ParametersOfReferenceType",
     .body = "c = x[0]\nd = y[0]\nexchange(c, d)\nx[0] = c",
     .above = "@wp.func\ndef exchange(a: wp.ref[float], b: wp.ref[float]):\n    a, b = b, a\n"},
    // A conditional expression with a constant condition
    {.name = "VariableChosenByAConstant",
     .parameters = kVectors,
     .body = "c = v[0]\nw = c if LOCAL else -c\nw[0] = 9.0\no[0] = c",
     .message = "makes 'w' and 'c' the same variable",
     .above = "LOCAL = True\n"},
    {.name = "VariableChosenAtRunTime",
     .parameters = kVectors,
     .body = "c = v[0]\nw = c if c[0] > 0.0 else -c\nw[0] = 9.0\no[0] = c"},
};

const AgreementCase kTypeCases[] = {
    {.name = "TypesInTwoBranches",
     .body = "if n > 0:\n    t = wp.vec3(1.0, 2.0, 3.0)\n    y[0] = t[2]\nelse:\n    t = 5.0\n    y[0] = t",
     .message = "8:9: error: in k: t: in Warp, a variable has one type in the whole function; line 5 assigns vec3 and "
                "this statement float32; use two names"},
    {.name = "SameTypeInTwoBranches",
     .body = "if n > 0:\n    t = x[0]\n    y[0] = t\nelse:\n    t = 5.0\n    y[0] = t"},
    // Variables of unrolled loops
    {.name = "ConvertsAnIndexOfAnUnrolledLoop",
     .body = "s = wp.float64(0.0)\nfor k in range(4):\n    s += wp.float64(x[k]) * wp.float64(k)\ny[0] = float(s)",
     .message = "Warp unrolls this loop, and this conversion changes the type of its variable 'k' itself to float64"},
    {.name = "ConvertsACopyOfTheIndex",
     .body =
         "s = wp.float64(0.0)\nfor k in range(4):\n    s += wp.float64(x[k]) * wp.float64(int(k))\ny[0] = float(s)"},
    {.name = "ConvertsTheIndexOfALoop",
     .body = "s = wp.float64(0.0)\nfor k in range(n):\n    s += wp.float64(x[k]) * wp.float64(k)\ny[0] = float(s)"},
    {.name = "OnlyConvertsTheVariableOfAnUnrolledLoop",
     .body = "s = wp.float64(0.0)\nfor k in range(4):\n    s += wp.float64(k) * wp.float64(k)\ny[0] = float(s)"},
    {.name = "ConvertsInOneBranch",
     .body = "s = wp.float64(0.0)\nfor k in range(4):\n    if n > 0:\n        s += wp.float64(k)\n    else:\n"
             "        s -= wp.float64(k)\ny[0] = float(s)",
     .message = "Warp unrolls this loop"},
    {.name = "ConvertsInTheInnerLoop",
     .body = "s = wp.float64(0.0)\nfor p in range(1, 4):\n    for q in range(1, 4):\n"
             "        s += wp.float64(p) * wp.float64(q)\ny[0] = float(s)"},
};

const AgreementCase kOtherCases[] = {
    {.name = "ScalesAComponentOfAnElement",
     .parameters = kVectors,
     .body = "v[0].y *= 2.0",
     .message = "Warp rejects *= on a component or field of an array element"},
    {.name = "AddsToAComponentOfAnElement", .parameters = kVectors, .body = "v[0].y += 2.0"},
    {.name = "ScalesAComponentWithoutBackward",
     .parameters = kVectors,
     .body = "v[0].y *= 2.0",
     .above = "wp.set_module_options({\"enable_backward\": False})\n"},
    {.name = "PrintsTwoValues", .body = "print(\"x\", x[0])", .message = "in Warp, print takes one argument"},
    {.name = "PrintsAFormattedString", .body = "print(f\"{n}\")", .message = "Warp does not support f-strings"},
    {.name = "ReturnsNone", .body = "if n > 0:\n    return None\nx[0] = 1.0", .message = "Warp does not support None"},
    {.name = "ComparesHalfWithLiteral",
     .parameters = "h: wp.array(dtype=wp.float16), o: wp.array(dtype=float)",
     .body = "if h[0] > 0.5:\n    o[0] = 1.0",
     .message = "Warp does not compile a comparison of float16 with float32"},
};

constexpr std::string_view kConstantMessage =
    "Warp treats a variable whose value is a literal or constant as a constant, and rejects the loop in line";
constexpr std::string_view kConstants =
    "from enum import IntEnum\nZERO = 0.0\nV = wp.vec3(1.0)\nclass E(IntEnum):\n    A = 1\n";

/// Names that Warp makes stand for constants, and loops that change them.
const AgreementCase kConstantCases[] = {
    {.name = "ChangesLiteralInLoop",
     .body = "s = 0.0\nfor j in range(n):\n    s += x[j]\ny[0] = s",
     .message = "4:5: error: in k: s: Warp treats a variable whose value is a literal or constant as a constant, and "
                "rejects the loop in line 5 because it changes the variable; write s = float(...)"},
    {.name = "ChangesLiteralOfMultipleAssignment",
     .body = "lo, hi = 0, x.shape[0]\nwhile lo < hi:\n    lo = lo + 1\ny[0] = float(lo)",
     .message = "write lo = int(...)"},
    {.name = "ChangesBoolInLoop",
     .body = "f = False\nfor j in range(n):\n    if x[j] > 0.0:\n        f = True\nif f:\n    y[0] = 1.0",
     .message = "write f = bool(...)"},
    {.name = "ConvertedLiteral", .body = "s = float(0.0)\nfor j in range(n):\n    s += x[j]\ny[0] = s"},
    {.name = "ConvertedToDouble",
     .body = "s = wp.float64(0.0)\nfor j in range(n):\n    s += wp.float64(x[j])\ny[0] = float(s)"},
    {.name = "LaterLiteral",
     .body = "s = float(0.0)\ns = 1.0\nfor j in range(n):\n    s += x[j]\ny[0] = s",
     .message = "5:5: error: in k: s: Warp treats"},
    {.name = "LiteralBetweenLoops",
     .body = "s = float(0.0)\nfor j in range(n):\n    s += x[j]\ns = 0.0\nfor j in range(n):\n    s += x[j]\ny[0] = s",
     .message = "rejects the loop in line 8"},
    {.name = "ValueAfterLiteral", .body = "s = 0.0\ns = x[0]\nfor j in range(n):\n    s += x[j]\ny[0] = s"},
    {.name = "SumAfterLiteral", .body = "s = 0.0\ns += x[0]\nfor j in range(n):\n    s += x[j]\ny[0] = s"},
    {.name = "LiteralOfInnerLoop",
     .body = "for i in range(n):\n    t = 0.0\n    for j in range(n):\n        t += x[j]\n    y[i] = t",
     .message = "rejects the loop in line 6"},
    {.name = "LiteralInLoop", .body = "s = float(0.0)\nfor j in range(n):\n    s = 0.0\n    s += x[j]\ny[0] = s"},
    {.name = "LiteralInUnrolledLoop",
     .body = "s = float(0.0)\nfor k in range(2):\n    for j in range(n):\n        s += x[j]\n    s = 0.0\ny[0] = s",
     .message = "rejects the loop in line 6"},
    {.name = "ChangesLiteralInUnrolledLoop", .body = "s = 0.0\nfor j in range(4):\n    s += x[j]\ny[0] = s"},
    {.name = "ChangesLiteralInLongLoop",
     .body = "s = 0.0\nfor j in range(20):\n    s += x[j]\ny[0] = s",
     .message = kConstantMessage},
    {.name = "ChangesLiteralBeforeBreak",
     .body = "s = 0.0\nfor j in range(n):\n    if x[j] > 3.0:\n        s = 1.0\n        break\ny[0] = s",
     .message = kConstantMessage},
    {.name = "LiteralInOneBranch",
     .body = "s = x[0]\nif s > 0.0:\n    s = 0.0\nfor j in range(n):\n    s += x[j]\ny[0] = s"},
    {.name = "LiteralsInBothBranches",
     .body = "if n > 2:\n    s = 0.0\nelse:\n    s = 1.0\nfor j in range(n):\n    s += x[j]\ny[0] = s"},
    {.name = "LiteralAndLoopInOneBranch",
     .body = "s = float(1.0)\nif n > 2:\n    s = 0.0\n    for j in range(n):\n        s += x[j]\ny[0] = s",
     .message = kConstantMessage},
    {.name = "LiteralInCompiledBranch",
     .body = "s = x[0]\nif wp.static(3 > 2):\n    s = 0.0\nfor j in range(n):\n    s += x[j]\ny[0] = s",
     .message = kConstantMessage},
    {.name = "NamedConstant", .body = "s = ZERO\nfor j in range(n):\n    s += x[j]\ny[0] = s", .above = kConstants},
    {.name = "NegativeOfNamedConstant",
     .body = "s = -ZERO\nfor j in range(n):\n    s += x[j]\ny[0] = s",
     .message = kConstantMessage,
     .above = kConstants},
    {.name = "NegativeOfVectorConstant",
     .body = "s = -V\nfor j in range(n):\n    s += V\ny[0] = s[0]",
     .above = kConstants},
    {.name = "NamedConstantOfMultipleAssignment",
     .body = "s, c = ZERO, x[0]\nfor j in range(n):\n    s += c\ny[0] = s",
     .message = kConstantMessage,
     .above = kConstants},
    {.name = "ConstantThatAMultipleAssignmentShares",
     .body = "a = 0.0\ns, c = a, x[0]\nfor j in range(n):\n    s += c\ny[0] = s",
     .message = kConstantMessage},
    {.name = "CopyOfLiteral", .body = "a = 0.0\ns = a\nfor j in range(n):\n    s += x[j]\ny[0] = s"},
    {.name = "MemberOfEnumeration",
     .body = "s = E.A\nfor j in range(n):\n    s += 1\ny[s] = 1.0",
     .message = kConstantMessage,
     .above = kConstants},
    {.name = "StaticValue",
     .body = "s = wp.static(3)\nfor j in range(n):\n    s += 1\ny[s] = 1.0",
     .message = kConstantMessage},
    {.name = "LengthOfVector",
     .body = "v = wp.vec3(x[0])\ns = len(v)\nfor j in range(n):\n    s += 1\ny[s] = 1.0",
     .message = kConstantMessage},
    {.name = "LengthOfArray", .body = "s = len(x)\nfor j in range(n):\n    s += 1\ny[s] = 1.0"},
    {.name = "SumOfLiterals", .body = "s = 0.0 + 1.0\nfor j in range(n):\n    s += x[j]\ny[0] = s"},
    {.name = "ChosenLiteral", .body = "s = 0.0 if n > 2 else 1.0\nfor j in range(n):\n    s += x[j]\ny[0] = s"},
    {.name = "ComponentOfVector", .body = "v = wp.vec3(0.0)\nfor j in range(n):\n    v[0] += x[j]\ny[0] = v[0]"},
    {.name = "LoopVariableOfUnrolledLoop",
     .body = "for k in range(4):\n    y[k] = 1.0\nfor j in range(n):\n    k += 1\ny[k] = x[0]"},
    {.name = "LoopVariableThatReplacesLiteral", .body = "i = 0\nfor i in range(n):\n    y[i] = 2.0"},
    {.name = "LoopVariableThatReplacesLiteralInLoop",
     .body = "k = 0\nfor i in range(n):\n    for k in range(n):\n        y[k] = 2.0",
     .message = kConstantMessage},
};

INSTANTIATE_TEST_SUITE_P(Constants, WarpAgreementTest, ::testing::ValuesIn(kConstantCases), agreement_name);
INSTANTIATE_TEST_SUITE_P(SharedStorage, WarpAgreementTest, ::testing::ValuesIn(kSharingCases), agreement_name);
INSTANTIATE_TEST_SUITE_P(Types, WarpAgreementTest, ::testing::ValuesIn(kTypeCases), agreement_name);
INSTANTIATE_TEST_SUITE_P(Others, WarpAgreementTest, ::testing::ValuesIn(kOtherCases), agreement_name);

}  // namespace
}  // namespace assay::frontend::testing
