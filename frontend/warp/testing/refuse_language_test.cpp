// Constructs that the parser rejects, with location and reason: types, data flow and Python constructs.

#include "frontend/warp/testing/rejection.hpp"

namespace assay::frontend::testing {
namespace {

const RejectionCase kCases[] = {
    {.name = "FloatTimesInteger",
     .body = "i = wp.tid()\nx[i] = a * 2",
     .messages = "5:12: error: in k: a * 2: mul takes two numeric scalars of the same type, a vector or matrix and a "
                 "scalar of its component type, or matrices and vectors of matching sizes, got float32 and int32"},
    {.name = "FloatToIntegerPower",
     .body = "x[0] = a ** 2",
     .messages = "4:12: error: in k: a ** 2: pow takes float scalars of the same type, got float32 and int32"},
    {.name = "IntegerStoredInFloatArray",
     .body = "x[0] = 0",
     .messages = "4:5: error: in k: x[0]: assigned value must be float32, got int32"},
    {.name = "VectorTimesInteger",
     .body = "p = v * 2",
     .messages = "4:9: error: in k: v * 2: mul takes two numeric scalars of the same type, a vector or matrix and a "
                 "scalar of its component type, or matrices and vectors of matching sizes, got vec3 and int32"},
    {.name = "TypeChange",
     .body = "s = 0.0\ns = 1",
     .messages = "5:5: error: in k: s: variable has type float32, cannot assign int32"},
    {.name = "TypeChangeByAugmentedAssignment",
     .body = "n += 1.5",
     .messages = "4:5: error: in k: n += 1.5: add takes two numeric values of the same type, got int32 and float32"},
    {.name = "IntegerSqrt",
     .body = "x[0] = wp.sqrt(n)",
     .messages = "4:12: error: in k: wp.sqrt(...): sqrt takes float scalars of the same type, got int32"},
    {.name = "NotOperatorOnFloat",
     .body = "p = not a",
     .messages = "4:9: error: in k: not a: `not` is not supported for floats; compare with 0.0"},
    {.name = "ChainedAssignment",
     .body = "p = q = a",
     .messages = "4:5: error: in k: p = q = a: chained assignment is not supported by Warp: assign each target in its "
                 "own statement"},
    {.name = "FloatConditionOfConditional",
     .body = "x[0] = 1.0 if a else 2.0",
     .messages = "4:19: error: in k: a: condition must be a bool or an integer, got float32: compare it with 0.0"},
    {.name = "FloatConditionOfWhere",
     .body = "x[0] = wp.where(a, 1.0, 2.0)",
     .messages = "4:21: error: in k: a: condition must be a bool or an integer, got float32: compare it with 0.0"},
    {.name = "ConstantOfTwoTypes",
     .body = "q = 1.5\nx[0] = q\ny = wp.float64(q)",
     .messages = "6:20: error: in k: q: the constant 'q' is used before and after a conversion to float64, which in "
                 "Warp changes the type of the constant itself; use a second constant"},
    {.name = "ChainedComparisonOfDifferentTypes",
     .body = "p = 0 < a < 1",
     .messages = "4:9: error: in k: 0 < a < 1: chained comparisons must compare values of the same type, got int32 and "
                 "float32"},
    {.name = "ChainedComparisonWithLastElement",
     .body = "p = x[0] < a < x[1]",
     .messages = "4:20: error: in k: x[1]: Warp does not compile a chained comparison whose last operands are array "
                 "elements or fields; assign the value to a variable before"},
    {.name = "ChainedComparisonWithLastField",
     .above = "@wp.struct\nclass S:\n    lo: float\n    hi: float\n",
     .parameters = "s: S, a: float",
     .body = "p = s.lo < a < (s.hi)",
     .messages = "8:20: error: in k: (s.hi): Warp does not compile a chained comparison whose last operands are array "
                 "elements or fields; assign the value to a variable before"},
    {.name = "ChainedComparisonWithLastFieldOfStructWithArray",
     .above = "@wp.struct\nclass S:\n    y: wp.array(dtype=float)\n    hi: float\n",
     .parameters = "s: S, a: float",
     .body = "p = 0.0 < a < s.hi",
     .messages = "8:19: error: in k: s.hi: Warp does not compile a chained comparison whose last operands are array "
                 "elements or fields; assign the value to a variable before"},
    {.name = "ChainedComparisonWithNameOfElement",
     .body = "lo, hi = a, x[1]\np = lo < a < hi",
     .messages = "5:18: error: in k: hi: Warp does not compile a chained comparison whose last operands are array "
                 "elements or fields; assign the value to a variable before"},
    {.name = "ChainedComparisonWithSecondToLastElement",
     .body = "p = 0.0 < a < x[0] < 1.0",
     .messages = "4:19: error: in k: x[0]: Warp does not compile a chained comparison whose last operands are array "
                 "elements or fields; assign the value to a variable before"},
    {.name = "IntegerLiteralOutOfRange",
     .body = "m = 3000000000",
     .messages =
         "4:9: error: in k: 3000000000: integer literal is out of range for int32; convert it, as in wp.int64(...)"},
    {.name = "ConversionWithoutArgument",
     .body = "x[0] = float()",
     .messages = "4:12: error: in k: float(...): type conversion takes one argument"},
    {.name = "ConversionOfLargeIntegerToFloat",
     .body = "x[0] = float(0xFFFFFFFF)",
     .messages = "4:18: error: in k: 0xFFFFFFFF: integer is out of range for int32, which Warp makes of it before the "
                 "conversion to float32; write a float literal, such as 4294967296.0, or convert it to wp.int64 first"},
    {.name = "ConversionOfLargeStaticIntegerToFloat16",
     .body = "h = wp.float16(wp.static(-(1 << 32)))",
     .messages = "4:20: error: in k: wp.static(...): integer is out of range for int32, which Warp makes of it before "
                 "the conversion to float16; write a float literal, such as 4294967296.0, or convert it to wp.int64 "
                 "first"},
    {.name = "ConversionOfLargeIntegerToBool",
     .body = "b = bool(4294967296)",
     .messages = "4:14: error: in k: 4294967296: integer is out of range for int32, which Warp makes of it before the "
                 "conversion to bool; write a float literal, such as 4294967296.0, or convert it to wp.int64 first"},
    {.name = "ConditionalWithDifferentTypes",
     .body = "x[0] = a if n > 0 else 0",
     .messages = "4:12: error: in k: a if n > 0 else 0: conditional takes a bool and two values of the same type, "
                 "got bool and float32 and int32"},
    {.name = "UseBeforeAssignment",
     .body = "x[0] = s\ns = a",
     .messages = "4:12: error: in k: s: variable may be used before assignment; assign it on every path"},
    {.name = "ComponentOfVariableUnassignedOnOnePath",
     .body = "if n > 0:\n    w = wp.vec2(a, a)\nw[0] = a\nx[0] = w[0]",
     .messages = "6:5: error: in k: w: variable may be used before assignment; assign it on every path"},
    {.name = "UpdateOfVariableUnassignedOnOnePath",
     .body = "if n > 0:\n    s = a\ns += a\nx[0] = s",
     .messages = "6:5: error: in k: s: variable may be used before assignment; assign it on every path"},
    {.name = "ParameterAsLoopVariableThatIsReadAfterTheLoop",
     .body = "for n in range(n):\n    pass\nx[n] = a",
     .messages = "4:9: error: in k: n: loop variable is already defined outside the loop, which may have no "
                 "iterations; use another name\n"
                 "6:7: error: in k: n: loop variable is undefined after a loop that may have no iterations; copy it to "
                 "another variable"},
    {.name = "StaticOfVariableOfDynamicLoop",
     .body = "for i in range(n):\n    x[i] = float(wp.static(i))",
     .messages =
         "5:22: error: in k: wp.static(...): wp.static argument must be a compile-time constant; to evaluate names of "
         "the module in Python, run with --import"},
    {.name = "StaticOfVariableOfLoopWithBreak",
     .body = "for i in range(4):\n    if n < i:\n        break\n    x[i] = float(wp.static(i))",
     .messages = "4:9: error: in k: i: Warp does not support the loop variable in wp.static(...) if the loop changes "
                 "the variable or contains break or continue"},
    {.name = "StaticOfVariableThatAnInnerLoopChanges",
     .body = "for i in range(2):\n    for i in range(3):\n        x[i] = a\n    x[i] = float(wp.static(i))",
     .messages = "4:9: error: in k: i: an inner loop changes this variable, which wp.static(...) uses; give the inner "
                 "loop another variable"},
    {.name = "StaticOfVariableOfLongLoop",
     .body = "for i in range(1000):\n    x[i] = float(wp.static(i))",
     .messages = "4:14: error: in k: range(...): a loop whose variable is used in wp.static(...) must have at most 256 "
                 "iterations"},
    {.name = "LoopOverArray",
     .body = "for y in x:\n    pass",
     .messages =
         "4:14: error: in k: x: for loops must iterate over range(...) or reversed(range(...)) with one variable"},
    {.name = "ReversedRangeWithStep",
     .body = "for i in reversed(range(0, n, 3)):\n    pass",
     .messages = "4:35: error: in k: 3: the step of a reversed range must be 1 or -1, unless the range has constant "
                 "bounds and is not empty: with other steps, Warp 1.18 runs a loop over an empty range once"},
    {.name = "ReversedRangeWithZeroStep",
     .body = "for i in reversed(range(0, n, 0)):\n    pass",
     .messages = "4:35: error: in k: 0: range step must not be zero"},
    {.name = "ReversedArray",
     .body = "for y in reversed(x):\n    pass",
     .messages =
         "4:23: error: in k: x: for loops must iterate over range(...) or reversed(range(...)) with one variable"},
    {.name = "FloatRange",
     .body = "for i in range(a):\n    pass",
     .messages = "4:20: error: in k: a: range arguments must be int32, got float32"},
    {.name = "ZeroStep",
     .body = "for i in range(0, n, 0):\n    pass",
     .messages = "4:26: error: in k: 0: range step must not be zero"},
    {.name = "ElseClauseOfLoop",
     .body = "for i in range(n):\n    pass\nelse:\n    x[0] = a",
     .messages = "6:5: error: in k: else:: else clauses of loops are not supported"},
    {.name = "Lambda",
     .body = "f = lambda t: t",
     .messages = "4:9: error: in k: lambda t: t: expression is not supported in kernels (lambda)"},
    {.name = "List",
     .body = "s = [1, 2]",
     .messages = "4:9: error: in k: [1, 2]: expression is not supported in kernels (list)"},
    {.name = "ListComprehension",
     .body = "s = [t for t in range(3)]",
     .messages =
         "4:9: error: in k: [t for t in range(3)]: expression is not supported in kernels (list_comprehension)"},
    {.name = "Dictionary",
     .body = "s = {1: 2}",
     .messages = "4:9: error: in k: {1: 2}: expression is not supported in kernels (dictionary)"},
    {.name = "FormatString",
     .body = "s = f'{a}'",
     .messages = "4:9: error: in k: f'{a}': strings are not supported in kernels"},
    {.name = "NoneValue", .body = "s = None", .messages = "4:9: error: in k: None: None is not supported in kernels"},
    {.name = "Walrus",
     .body = "s = (t := 2)",
     .messages = "4:10: error: in k: t := 2: expression is not supported in kernels (named_expression)"},
    {.name = "Membership",
     .body = "p = n in (1, 2)",
     .messages = "4:14: error: in k: (1, 2): expression is not supported in kernels (tuple)"},
    {.name = "NestedFunction",
     .body = "def f():\n    pass",
     .messages = "4:5: error: in k: def f():: Warp does not support functions inside kernels and functions; define the "
                 "function at module level with @wp.func"},
    {.name = "Try",
     .body = "try:\n    x[0] = a\nexcept:\n    pass",
     .messages = "4:5: error: in k: try:: statement is not supported in kernels (try_statement)"},
    {.name = "With",
     .body = "with a:\n    pass",
     .messages = "4:5: error: in k: with a:: statement is not supported in kernels (with_statement)"},
    {.name = "Global",
     .body = "global N",
     .messages = "4:5: error: in k: global N: statement is not supported in kernels (global_statement)"},
    {.name = "Import",
     .body = "import math",
     .messages = "4:5: error: in k: import math: statement is not supported in kernels (import_statement)"},
    {.name = "Raise",
     .body = "raise a",
     .messages = "4:5: error: in k: raise a: statement is not supported in kernels (raise_statement)"},
    {.name = "Delete",
     .body = "del a",
     .messages = "4:5: error: in k: del a: statement is not supported in kernels (delete_statement)"},
    {.name = "AnnotatedVariable",
     .body = "s: float = 1.0",
     .messages = "4:5: error: in k: s: float = 1.0: annotated variables are not supported in kernels; write x = "
                 "float(...) instead"},
};

INSTANTIATE_TEST_SUITE_P(Language, RejectionTest, ::testing::ValuesIn(kCases), rejection_name);

}  // namespace
}  // namespace assay::frontend::testing
