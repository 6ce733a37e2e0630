// What makes a Module valid. Every stage after the readers may rely on it.
//
// Each rule has a label, which its complaints, its negative test and the reports share. The verifier takes any
// module whatever, also one with indices out of range.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.hpp"

namespace assay::ir {

enum class Rule : std::uint8_t {
  // declarations
  kName,
  kDuplicateName,
  kMalformedType,
  kUnknownStruct,
  kEmptyStruct,
  kFieldType,
  kStructDepth,
  kSignature,
  kParameterType,
  kNullable,
  kLaunchRank,
  kThreadIndexType,
  kKernelResults,
  kResultType,
  // expressions
  kUnknownExpression,
  kOperandOrder,
  kExpressionSize,
  kLiteral,
  kUnknownVariable,
  kOperands,
  kExpressionType,
  kArrayOperand,
  kIndexCount,
  kIndexType,
  kDimension,
  kUnknownField,
  kUnknownFunction,
  kArguments,
  kCallResults,
  kCallEffects,
  // statements
  kUndeclaredVariable,
  kRedeclaredVariable,
  kVariableType,
  kReadOnlyVariable,
  kLocalArrayValue,
  kValueType,
  kConditionType,
  kLoopType,
  kZeroStep,
  kOutsideLoop,
  kUnreachable,
  kReturnValues,
  kMissingReturn,
  kAtomicTarget,
  kAtomicType,
  kAtomicCompare,
  kNesting,
  // custom derivatives
  kGradient,
  kReplay,
  // tiles
  kTile,
  kTileAccess,
};

/// One rule: its label and what it demands.
struct RuleRow {
  Rule rule;
  std::string_view label;
  std::string_view demand;
};
inline constexpr std::array kRules = {
    RuleRow{Rule::kName, "V01-name", "names are ASCII identifiers"},
    RuleRow{Rule::kDuplicateName, "V02-duplicate-name", "kernels, and fields of a struct, have names of their own"},
    RuleRow{Rule::kMalformedType, "V03-malformed-type",
            "vectors and matrices have 1 to 16 numbers a side, quaternions and transforms floats, arrays rank 1 to 4, "
            "local arrays at most 65536 elements, tiles scalars, and at most 4096 of them, and a type sets only the "
            "members of its shape"},
    RuleRow{Rule::kUnknownStruct, "V04-unknown-struct", "a struct type names a struct, in a field an earlier one"},
    RuleRow{Rule::kEmptyStruct, "V05-empty-struct", "a struct has a field"},
    RuleRow{Rule::kFieldType, "V06-field-type", "a field is a value or an array"},
    RuleRow{Rule::kStructDepth, "V07-struct-depth", "structs nest at most 16 deep"},
    RuleRow{Rule::kSignature, "V08-signature",
            "parameters and thread indices are the first variables; kernels lie with kernels"},
    RuleRow{Rule::kParameterType, "V09-parameter-type", "a parameter is a value or an array"},
    RuleRow{Rule::kNullable, "V10-nullable", "only array parameters are nullable"},
    RuleRow{Rule::kLaunchRank, "V11-launch-rank", "a kernel has 1 to 4 thread indices, a function none"},
    RuleRow{Rule::kThreadIndexType, "V12-thread-index-type", "thread indices are i32"},
    RuleRow{Rule::kKernelResults, "V13-kernel-results", "kernels return nothing"},
    RuleRow{Rule::kResultType, "V14-result-type", "a function returns values"},
    RuleRow{Rule::kUnknownExpression, "V15-unknown-expression", "a statement's expressions exist"},
    RuleRow{Rule::kOperandOrder, "V16-operand-order", "operands precede their expression"},
    RuleRow{Rule::kExpressionSize, "V17-expression-size", "an expression is at most 256 deep and has 65536 nodes"},
    RuleRow{Rule::kLiteral, "V18-literal", "a literal is a scalar that its type represents exactly"},
    RuleRow{Rule::kUnknownVariable, "V19-unknown-variable", "variables exist"},
    RuleRow{Rule::kOperands, "V20-operands", "operands are of the number and types that the operation takes"},
    RuleRow{Rule::kExpressionType, "V21-expression-type", "an expression's type is the one that its operands give"},
    RuleRow{Rule::kArrayOperand, "V22-array-operand",
            "what is indexed, measured or passed as an array is a variable "
            "of array type"},
    RuleRow{Rule::kIndexCount, "V23-index-count", "there is one index for each dimension"},
    RuleRow{Rule::kIndexType, "V24-index-type", "indices are integer scalars"},
    RuleRow{Rule::kDimension, "V25-dimension", "the dimension asked for exists"},
    RuleRow{Rule::kUnknownField, "V26-unknown-field", "the operand is a struct with this field"},
    RuleRow{Rule::kUnknownFunction, "V27-unknown-function", "a function calls only functions before it"},
    RuleRow{Rule::kArguments, "V28-arguments", "arguments are of the number, types and nullability of the parameters"},
    RuleRow{Rule::kCallResults, "V29-call-results",
            "a call as a value returns one value; a call statement declares a variable for each"},
    RuleRow{Rule::kCallEffects, "V30-call-effects",
            "a function that changes arrays is called by a call statement or as the whole value of a variable"},
    RuleRow{Rule::kUndeclaredVariable, "V31-undeclared-variable",
            "a variable is declared before, in this block or "
            "around it"},
    RuleRow{Rule::kRedeclaredVariable, "V32-redeclared-variable", "a variable is declared once"},
    RuleRow{Rule::kVariableType, "V33-variable-type",
            "a declared variable is a value, a tile of a let, or a local array of a let"},
    RuleRow{Rule::kReadOnlyVariable, "V34-read-only-variable",
            "parameters, thread indices and loop variables are not assigned"},
    RuleRow{Rule::kLocalArrayValue, "V35-local-array-value", "a local array is not given a value as a whole"},
    RuleRow{Rule::kValueType, "V36-value-type", "a value has the type of the variable or element that it goes to"},
    RuleRow{Rule::kConditionType, "V37-condition-type", "a condition is a bool"},
    RuleRow{Rule::kLoopType, "V38-loop-type", "a loop's variable and bounds are integers of one type"},
    RuleRow{Rule::kZeroStep, "V39-zero-step", "a literal step is not zero"},
    RuleRow{Rule::kOutsideLoop, "V40-outside-loop", "break and continue stand in a loop"},
    RuleRow{Rule::kUnreachable, "V41-unreachable", "break, continue and return end their block"},
    RuleRow{Rule::kReturnValues, "V42-return-values", "a return has values of the function's result types"},
    RuleRow{Rule::kMissingReturn, "V43-missing-return", "a function with results returns on every path"},
    RuleRow{Rule::kAtomicTarget, "V44-atomic-target", "atomics act on arrays, not on local ones"},
    RuleRow{Rule::kAtomicType, "V45-atomic-type",
            "an atomic acts on numeric scalars, those on bits on integers, sums and differences also on vectors, "
            "matrices and quaternions"},
    RuleRow{Rule::kAtomicCompare, "V46-atomic-compare",
            "compare-and-swap has a compare value of the element's type, others have none"},
    RuleRow{Rule::kNesting, "V47-nesting", "blocks nest at most 256 deep"},
    RuleRow{Rule::kGradient, "V48-gradient",
            "a function's gradient takes its parameters and the adjoints of its results, returns the adjoints of its "
            "values with floats, and neither changes float arrays"},
    RuleRow{Rule::kReplay, "V49-replay", "a function's replay has its parameters and results and changes no arrays"},
    RuleRow{Rule::kTile, "V50-tile", "tiles belong to kernels: no function has one"},
    RuleRow{
        Rule::kTileAccess, "V51-tile-access",
        "a tile is loaded from, stored to or added to an array of its elements with as many dimensions; in a kernel "
        "with tiles no atomic returns what was there"},
};
constexpr const RuleRow& row(Rule rule) { return kRules[static_cast<std::size_t>(rule)]; }

/// One breach of a rule.
struct VerifierError {
  Rule rule = Rule::kName;
  Loc loc;              ///< in the user's file; 0:0 where nothing was noted
  std::string message;  ///< what was found, in which kernel or function
};

/// "file.py:12:5: V36-value-type: ..."
std::string to_text(const Module& module, const VerifierError& diagnostic);

/// All breaches found; none if the module is valid. What depends on a breach is not complained of again.
std::vector<VerifierError> verify(const Module& module);

namespace detail {
constexpr bool rules_in_order() {
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    if (static_cast<std::size_t>(kRules[i].rule) != i) return false;
  }
  return kRules.size() == static_cast<std::size_t>(Rule::kTileAccess) + 1;
}
}  // namespace detail
static_assert(detail::rules_in_order(), "a rule's row is missing or out of order");

}  // namespace assay::ir
