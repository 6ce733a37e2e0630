#include "backends/source/names.hpp"

#include <gtest/gtest.h>

namespace assay::source {
namespace {

TEST(EmittedNames, AreLegalIdentifiersForAnySourceName) {
  EXPECT_EQ(legal_identifier("x1"), "x1");
  EXPECT_EQ(legal_identifier("float"), "float_");
  EXPECT_EQ(legal_identifier("threadIdx"), "threadIdx_");
  EXPECT_EQ(legal_identifier("a__b"), "a_b");
  EXPECT_EQ(legal_identifier("_Count"), "v_Count");
  EXPECT_EQ(legal_identifier("__x"), "_x");
  EXPECT_EQ(legal_identifier("_"), "v_");
  EXPECT_EQ(legal_identifier("2x"), "v_2x");
  EXPECT_EQ(legal_identifier("caf\xc3\xa9"), "caf_");
  EXPECT_EQ(legal_identifier(""), "v");
}

TEST(EmittedNames, DifferFromAllNamesInEnclosingScopes) {
  NameScopes names;
  names.reserve("x");
  EXPECT_EQ(names.declare("x"), "x_1");
  names.open();
  EXPECT_EQ(names.declare("x"), "x_2");
  EXPECT_EQ(names.declare("int"), "int_");
  EXPECT_EQ(names.declare("int"), "int_1");
  names.close();
  EXPECT_EQ(names.declare("x"), "x_2");
}

TEST(EmittedNames, DuplicateNamesGetSmallestUnusedNumber) {
  const NameTable fixed{"x_2"};
  NameScopes names(fixed);
  EXPECT_EQ(names.declare("x_2"), "x_2_1");
  EXPECT_EQ(names.declare("x"), "x");
  EXPECT_EQ(names.declare("x"), "x_1");
  names.open();
  EXPECT_EQ(names.declare("x"), "x_3");
  EXPECT_EQ(names.declare("x_4"), "x_4");  // its own name, not a numbered one
  EXPECT_EQ(names.declare("x"), "x_5");
  names.close();
  EXPECT_EQ(names.declare("x"), "x_3");
  EXPECT_EQ(names.declare("x"), "x_4");
  EXPECT_EQ(names.declare("x_1"), "x_1_1");
}

TEST(EmittedNames, NameReservedInBothScopesStaysReservedAfterInnerScopeEnds) {
  NameScopes names;
  names.reserve("x");
  names.open();
  names.reserve("x");
  names.close();
  EXPECT_EQ(names.declare("x"), "x_1");
}

TEST(LibraryNames, IncludeFunctionsOfCStandardLibrary) {
  EXPECT_TRUE(is_library_name("sin"));
  EXPECT_TRUE(is_library_name("sinf"));
  EXPECT_TRUE(is_library_name("printf"));
  EXPECT_FALSE(is_library_name("self"));
  EXPECT_FALSE(is_library_name("f"));
}

}  // namespace
}  // namespace assay::source
