#include "harness/compilers/statement_tree.hpp"

#include <gtest/gtest.h>

namespace assay::compilers {
namespace {

constexpr const char* kText = R"(// A comment.
#define UNUSED
__device__ float twice(float x) { return x + x; }
__global__ void k(float* x, int n) {
  for (int j = 0; j < n; ++j) {  // three statements in the head
    if (x[j] > 0) {
      if (n) x[j] += 1;
    } else {
      x[j] = twice(x[j]);
      x[0] = 1;
    }
  }
}
)";

TEST(StatementTree, PrintsParsedSourceWithoutComments) {
  EXPECT_EQ(to_text(parse_statements(kText)), R"(__device__ float twice(float x) {
  return x + x;
}
__global__ void k(float* x, int n) {
  for (int j = 0; j < n; ++j) {
    if (x[j] > 0) {
      if (n) x[j] += 1;
    } else {
      x[j] = twice(x[j]);
      x[0] = 1;
    }
  }
}
)");
}

TEST(StatementTree, PrintsSemicolonAfterTypeDefinition) {
  EXPECT_EQ(to_text(parse_statements("template <typename T> struct A { T* data; };\nint a;")),
            "template <typename T> struct A {\n  T* data;\n};\nint a;\n");
}

TEST(StatementTree, OmitsBracesAroundSingleStatement) {
  EXPECT_EQ(to_text(parse_statements("if (a) { b = 1; } else { c = 2; d = 3; }")),
            "if (a) b = 1;\nelse {\n  c = 2;\n  d = 3;\n}\n");
}

TEST(StatementTree, ParsesItsOwnOutput) {
  const std::vector<CudaStatement> tree = parse_statements(kText);
  EXPECT_EQ(parse_statements(to_text(tree)), tree);
}

TEST(StatementTree, CountsStatementsAndLines) {
  EXPECT_EQ(count_of(parse_statements(kText)), 9U);
  EXPECT_EQ(line_count("a\n\n  \nb"), 2U);
}

}  // namespace
}  // namespace assay::compilers
