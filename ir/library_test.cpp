#include "ir/library.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/verifier.hpp"

namespace assay::ir {
namespace {

constexpr Type kVector = vector_type(Scalar::kF32, 3);
constexpr Type kMat33 = matrix_type(Scalar::kF32, 3, 3);

Result<int> function_of(Module& module, std::string_view name, std::vector<Type> operands) {
  return library_function(module, name, operands);
}

TEST(FunctionLibrary, AppendsEachFunctionOncePerType) {
  Module module;
  EXPECT_EQ(function_of(module, "determinant", {kMat33}).value(), 0);
  EXPECT_EQ(function_of(module, "determinant", {matrix_type(Scalar::kF64, 3, 3)}).value(), 1);
  EXPECT_EQ(function_of(module, "determinant", {kMat33}).value(), 0);
  ASSERT_EQ(module.functions.size(), 2U);
  EXPECT_EQ(module.functions[0].results[0], kF32);
  EXPECT_EQ(module.functions[1].results[0], kF64);
  EXPECT_THAT(verify(module), ::testing::IsEmpty());
}

TEST(FunctionLibrary, DistinguishesAppendedFunctionsFromUserFunctions) {
  Module module;
  ASSERT_TRUE(function_of(module, "skew", {kVector}).ok());
  EXPECT_EQ(library_name(module.functions[0]), "skew");
  module.functions[0].loc = {.line = 3, .column = 1};
  EXPECT_EQ(library_name(module.functions[0]), std::nullopt) << "the file has a function of this name";
  module.functions[0] = {.name = "wp_unheard_of"};
  EXPECT_EQ(library_name(module.functions[0]), std::nullopt);
}

TEST(FunctionLibrary, BuildsDiagonalMatrixOfIntegers) {
  Module module;
  for (const Scalar scalar : {Scalar::kI32, Scalar::kU8, Scalar::kF16}) {
    const int function = function_of(module, "diag", {vector_type(scalar, 3)}).value();
    EXPECT_EQ(module.functions[static_cast<std::size_t>(function)].results[0], matrix_type(scalar, 3, 3));
  }
  EXPECT_THAT(verify(module), ::testing::IsEmpty());
}

TEST(FunctionLibrary, RejectsInvalidOperandsAndReportsValidTypes) {
  Module module;
  EXPECT_EQ(function_of(module, "trace", {kVector}).error().message, "trace takes a square matrix");
  EXPECT_EQ(function_of(module, "trace", {matrix_type(Scalar::kF32, 2, 3)}).error().message,
            "trace takes a square matrix");
  EXPECT_EQ(function_of(module, "norm_huber", {kVector, kF64}).error().message,
            "norm_huber takes a float vector, or a float vector and a float");
  EXPECT_FALSE(function_of(module, "max", {kVector, vector_type(Scalar::kF32, 2)}).ok());
  EXPECT_FALSE(function_of(module, "determinant", {matrix_type(Scalar::kF32, 5, 5)}).ok());
  EXPECT_TRUE(module.functions.empty());
}

TEST(FunctionLibrary, EveryFunctionHasFormulaAndDescribedOperandTypes) {
  std::set<char> letters;
  for (const OperandKind& kind : kOperandKinds)
    letters.insert(kind.letter);
  for (const LibraryFunctionInfo& row : library()) {
    EXPECT_TRUE(is_in_library(row.name));
    EXPECT_FALSE(row.formula.empty()) << row.name;
    for (const char letter : row.operand_kind_letters)
      EXPECT_TRUE(letters.contains(letter)) << row.name;
  }
}

}  // namespace
}  // namespace assay::ir
