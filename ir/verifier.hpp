// The rules that make a Module valid. Every stage after parsing may rely on them.
//
// Each rule has a label, which diagnostics, tests and reports use. The verifier accepts any module as input, even one
// with indices out of range.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.hpp"

namespace assay::ir {

/// The rules that a valid module satisfies. kRules states what each requires.
enum class VerifierRule : std::uint8_t {
  // declarations
  kNameSyntax,          ///< names are ASCII identifiers
  kDuplicateName,       ///< names of kernels, and of the fields of a struct, are unique
  kMalformedType,       ///< types are well-formed and within the size limits
  kUnknownStruct,       ///< struct types refer to existing structs
  kEmptyStruct,         ///< structs have fields
  kFieldType,           ///< fields are values or arrays
  kStructDepth,         ///< structs are not nested too deeply
  kSignatureOrder,      ///< parameters and thread indices are the first variables
  kParameterType,       ///< parameters are values or arrays
  kNullableParameter,   ///< only array parameters are nullable
  kLaunchRank,          ///< kernels have 1 to 4 thread indices, functions none
  kThreadIndexType,     ///< thread indices are i32
  kKernelReturnsValue,  ///< kernels return no values
  kResultType,          ///< results are values
  // expressions
  kUnknownExpression,  ///< expressions that a statement uses exist
  kOperandAfterUse,    ///< operands precede the expression that uses them
  kExpressionSize,     ///< expressions are neither too deep nor too large
  kLiteralValue,       ///< literals are exactly representable in their type
  kUnknownVariable,    ///< variables that are used exist
  kOperandTypes,       ///< operands match the operation
  kExpressionType,     ///< the type of an expression follows from its operands
  kArrayOperand,       ///< array accesses, shape queries and array arguments name an array variable
  kIndexCount,         ///< accesses have one index for each dimension
  kIndexType,          ///< indices are integers
  kShapeDimension,     ///< the dimension of a shape query exists
  kUnknownField,       ///< the field of a field access exists
  kUnknownFunction,    ///< functions call only functions that are declared before them
  kCallArguments,      ///< arguments match the parameters
  kCallResults,        ///< calls in expressions return one value; call statements declare a variable for each result
  kCallWithEffects,    ///< calls with side effects are statements or the whole assigned value
  // statements
  kUndeclaredVariable,    ///< variables are declared before their use
  kRedeclaredVariable,    ///< variables are declared once
  kVariableType,          ///< declared variables have a type that a variable may have
  kReadOnlyVariable,      ///< parameters, thread indices and loop variables are not assigned
  kLocalArrayAssignment,  ///< local arrays are not assigned as a whole
  kValueType,             ///< values have the type of the variable or element that they are assigned to
  kConditionType,         ///< conditions are bools
  kLoopBoundType,         ///< the variable and the bounds of a loop are integers of one type
  kZeroStep,              ///< a literal loop step is not zero
  kJumpOutsideLoop,       ///< break and continue are inside a loop
  kUnreachableStatement,  ///< break, continue and return end their block
  kReturnValues,          ///< returned values match the result types
  kMissingReturn,         ///< functions with results return on every path
  kAtomicTarget,          ///< atomics act on arrays, not on local arrays
  kAtomicType,            ///< atomics act on element types that they support
  kAtomicCompareOperand,  ///< compare-and-swap has a compare value, other atomics have none
  kBlockNesting,          ///< blocks are not nested too deeply
  // custom derivatives
  kCustomGradient,  ///< a custom gradient has the required parameters and results
  kCustomReplay,    ///< a custom replay has the parameters and results of its function
  // tiles
  kTileOutsideKernel,  ///< only kernels use tiles
  kTileArrayAccess,    ///< arrays have the element type and rank of the tiles that are loaded from or stored to them
};

/// The maximum number of components of a vector, and of rows or columns of a matrix.
inline constexpr int kMaxMatrixSide = 255;
inline constexpr int kMaxMatrixComponents = 256;  ///< maximum number of components of a matrix

/// A rule: its label and its requirement.
struct VerifierRuleEntry {
  VerifierRule rule;             ///< the rule
  std::string_view label;        ///< label in messages: "V36-value-type"
  std::string_view requirement;  ///< the requirement, for messages
};
inline constexpr std::array kRules = {
    VerifierRuleEntry{VerifierRule::kNameSyntax, "V01-name", "names must be ASCII identifiers"},
    VerifierRuleEntry{VerifierRule::kDuplicateName, "V02-duplicate-name",
                      "kernels must have unique names, and so must the fields of a struct"},
    VerifierRuleEntry{
        VerifierRule::kMalformedType, "V03-malformed-type",
        "vectors must have 1 to 255 components, and matrices 1 to 256; quaternions and transforms must have float "
        "components; arrays must have rank 1 to 4; local arrays must have at most 65536 elements; tiles must have "
        "at most 4096 elements, which must be scalars; a type must set only the members that its shape uses"},
    VerifierRuleEntry{
        VerifierRule::kUnknownStruct, "V04-unknown-struct",
        "a struct type must refer to an existing struct; the type of a field must refer to a struct declared earlier"},
    VerifierRuleEntry{VerifierRule::kEmptyStruct, "V05-empty-struct", "a struct must have at least one field"},
    VerifierRuleEntry{VerifierRule::kFieldType, "V06-field-type", "a field must be a value or an array"},
    VerifierRuleEntry{VerifierRule::kStructDepth, "V07-struct-depth", "structs must be nested at most 16 levels deep"},
    VerifierRuleEntry{
        VerifierRule::kSignatureOrder, "V08-signature",
        "parameters and thread indices must come first in the variables of a function; kernels must be in the module's "
        "list of kernels"},
    VerifierRuleEntry{VerifierRule::kParameterType, "V09-parameter-type", "a parameter must be a value or an array"},
    VerifierRuleEntry{VerifierRule::kNullableParameter, "V10-nullable", "only array parameters may be nullable"},
    VerifierRuleEntry{VerifierRule::kLaunchRank, "V11-launch-rank",
                      "a kernel must have 1 to 4 thread indices, and a function must have none"},
    VerifierRuleEntry{VerifierRule::kThreadIndexType, "V12-thread-index-type", "thread indices must be i32"},
    VerifierRuleEntry{VerifierRule::kKernelReturnsValue, "V13-kernel-results", "kernels must not return values"},
    VerifierRuleEntry{VerifierRule::kResultType, "V14-result-type", "a result must be a value"},
    VerifierRuleEntry{VerifierRule::kUnknownExpression, "V15-unknown-expression",
                      "expressions used by a statement must exist"},
    VerifierRuleEntry{VerifierRule::kOperandAfterUse, "V16-operand-order",
                      "operands must precede the expression that uses them"},
    VerifierRuleEntry{VerifierRule::kExpressionSize, "V17-expression-size",
                      "an expression must be at most 256 levels deep and have at most 65536 nodes"},
    VerifierRuleEntry{VerifierRule::kLiteralValue, "V18-literal",
                      "the type of a literal must be a scalar type that represents its value exactly"},
    VerifierRuleEntry{VerifierRule::kUnknownVariable, "V19-unknown-variable",
                      "a variable used by an expression or a statement must exist"},
    VerifierRuleEntry{VerifierRule::kOperandTypes, "V20-operands",
                      "operands must match the operation in number and type"},
    VerifierRuleEntry{VerifierRule::kExpressionType, "V21-expression-type",
                      "the type of an expression must follow from its operands"},
    VerifierRuleEntry{VerifierRule::kArrayOperand, "V22-array-operand",
                      "array accesses, shape queries and array arguments must name a variable of array type"},
    VerifierRuleEntry{VerifierRule::kIndexCount, "V23-index-count", "an access must have one index for each dimension"},
    VerifierRuleEntry{VerifierRule::kIndexType, "V24-index-type", "indices must be integer scalars"},
    VerifierRuleEntry{VerifierRule::kShapeDimension, "V25-dimension", "a shape query must name an existing dimension"},
    VerifierRuleEntry{VerifierRule::kUnknownField, "V26-unknown-field",
                      "the operand of a field access must be a struct with this field"},
    VerifierRuleEntry{VerifierRule::kUnknownFunction, "V27-unknown-function",
                      "a function may call only functions declared before it"},
    VerifierRuleEntry{VerifierRule::kCallArguments, "V28-arguments",
                      "arguments must match the parameters in number, type and nullability"},
    VerifierRuleEntry{
        VerifierRule::kCallResults, "V29-call-results",
        "a call in an expression must return one value; a call statement must declare a variable for each "
        "result"},
    VerifierRuleEntry{
        VerifierRule::kCallWithEffects, "V30-call-effects",
        "a call of a function that changes arrays must be a call statement or the whole value assigned to a variable"},
    VerifierRuleEntry{VerifierRule::kUndeclaredVariable, "V31-undeclared-variable",
                      "a variable must be declared before its use, in the same or an enclosing block"},
    VerifierRuleEntry{VerifierRule::kRedeclaredVariable, "V32-redeclared-variable",
                      "a variable must be declared only once"},
    VerifierRuleEntry{
        VerifierRule::kVariableType, "V33-variable-type",
        "a declared variable must have the type of a value; a let statement may also declare a tile or a local array"},
    VerifierRuleEntry{VerifierRule::kReadOnlyVariable, "V34-read-only-variable",
                      "parameters, thread indices and loop variables must not be assigned"},
    VerifierRuleEntry{VerifierRule::kLocalArrayAssignment, "V35-local-array-value",
                      "a local array must not be assigned as a whole"},
    VerifierRuleEntry{VerifierRule::kValueType, "V36-value-type",
                      "a value must have the type of the variable or element that it is assigned to"},
    VerifierRuleEntry{VerifierRule::kConditionType, "V37-condition-type", "a condition must be a bool"},
    VerifierRuleEntry{VerifierRule::kLoopBoundType, "V38-loop-type",
                      "the variable and bounds of a loop must be integers of the same type"},
    VerifierRuleEntry{VerifierRule::kZeroStep, "V39-zero-step", "a loop step that is a literal must not be zero"},
    VerifierRuleEntry{VerifierRule::kJumpOutsideLoop, "V40-outside-loop", "break and continue must be inside a loop"},
    VerifierRuleEntry{VerifierRule::kUnreachableStatement, "V41-unreachable",
                      "break, continue and return must be the last statement of their block"},
    VerifierRuleEntry{VerifierRule::kReturnValues, "V42-return-values",
                      "returned values must match the function's result types"},
    VerifierRuleEntry{VerifierRule::kMissingReturn, "V43-missing-return",
                      "a function with results must return on every path"},
    VerifierRuleEntry{VerifierRule::kAtomicTarget, "V44-atomic-target",
                      "atomics must act on arrays, not on local arrays"},
    VerifierRuleEntry{
        VerifierRule::kAtomicType, "V45-atomic-type",
        "atomics must act on numeric scalars, and bitwise atomics on integers; atomic_add and atomic_sub may also act "
        "on vectors, matrices, quaternions and transforms; atomic_min, atomic_max and atomic_cas may also act on "
        "vectors and matrices"},
    VerifierRuleEntry{
        VerifierRule::kAtomicCompareOperand, "V46-atomic-compare",
        "compare-and-swap must have a compare value of the element type, and other atomics must have none"},
    VerifierRuleEntry{VerifierRule::kBlockNesting, "V47-nesting", "blocks must be nested at most 256 levels deep"},
    VerifierRuleEntry{
        VerifierRule::kCustomGradient, "V48-gradient",
        "a gradient must take the function's parameters, the adjoints of its results and optionally the nullable "
        "adjoints of its float arrays, return the adjoints of the differentiable value parameters, and change no "
        "arrays, except that it may add to elements of adjoint arrays; a function with a gradient must not change "
        "float arrays"},
    VerifierRuleEntry{VerifierRule::kCustomReplay, "V49-replay",
                      "a replay must have the function's parameters and results and must not change arrays"},
    VerifierRuleEntry{VerifierRule::kTileOutsideKernel, "V50-tile", "only kernels may use tiles"},
    VerifierRuleEntry{
        VerifierRule::kTileArrayAccess, "V51-tile-access",
        "an array from which a tile is loaded, or to which it is stored or added, must have the tile's element "
        "type and number of dimensions"},
};
constexpr const VerifierRuleEntry& row(VerifierRule rule) { return kRules[static_cast<std::size_t>(rule)]; }

/// A violation of a rule.
struct VerifierError {
  VerifierRule rule = VerifierRule::kNameSyntax;  ///< violated rule
  Loc loc;                                        ///< source location; 0:0 if unknown
  std::string message;                            ///< what is wrong, and in which kernel or function
};

/// "file.py:12:5: V36-value-type: ..."
std::string to_text(const Module& module, const VerifierError& diagnostic);

/// All violations found; none if the module is valid. Consequences of a violation are not reported again.
std::vector<VerifierError> verify(const Module& module);

namespace detail {
/// Returns whether the rows of kRules are in the order of VerifierRule.
constexpr bool rules_are_in_order() {
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    if (static_cast<std::size_t>(kRules[i].rule) != i) return false;
  }
  return kRules.size() == static_cast<std::size_t>(VerifierRule::kTileArrayAccess) + 1;
}
}  // namespace detail
static_assert(detail::rules_are_in_order(),
              "kRules must have one entry for each VerifierRule, in the order of the enumeration");

}  // namespace assay::ir
