// The text of backward kernels: each contribution is one statement that a person would write.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text.hpp"
#include "ir/transforms/adjoint.hpp"

namespace assay::transforms::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// The statements of the backward kernel of a kernel with these parameters and statements.
std::string backward_of(const std::string& parameters, const std::string& statements) {
  const Result<ir::Module> module = ir::parse_text(
      "struct Inner {\n  gain: f32\n  bias: vec<f32,2>\n}\nstruct Body {\n  mass: f32\n  inner: Inner\n}\n"
      "kernel k(" +
      parameters + ", out: array<f32,1>; i) {\n" + statements + "\n}\n");
  EXPECT_TRUE(module.ok()) << module.error().text();
  if (!module.ok()) return {};
  const Result<AdjointModule> adjoint = make_adjoint(*module, module->kernels[0]);
  EXPECT_TRUE(adjoint.ok()) << adjoint.error().text();
  return adjoint.ok() ? ir::to_text(adjoint->module) : std::string();
}

TEST(AdjointText, ComponentsAddToTheAdjointOfTheWholeVector) {
  EXPECT_THAT(
      backward_of("x: array<vec<f32,3>,1>", "let v: vec<f32,3> = x[i]\nout[i] = mul(extract(v, 0), extract(v, 2))"),
      AllOf(HasSubstr("adj_v = insert(adj_v, 2, adj_"),
            HasSubstr("adj_v = insert(adj_v, 0, add(extract(adj_v, 0), adj_"), Not(HasSubstr("add(adj_v, "))));
}

TEST(AdjointText, ComponentOfRowAddsToTheAdjointOfTheMatrix) {
  EXPECT_THAT(
      backward_of("x: array<mat<f32,2,2>,1>",
                  "let m: mat<f32,2,2> = x[i]\n"
                  "out[i] = add(extract(extract(m, 0), 1), extract(extract(m, 1), 1))"),
      AllOf(HasSubstr("adj_m = insert(adj_m, 0, insert(extract(adj_m, 0), 1, add(extract(extract(adj_m, 0), 1), "),
            Not(HasSubstr("let adj_extract: vec"))));
}

TEST(AdjointText, RowThatIsUsedAsAWholeHasAnAdjointOfItsOwn) {
  EXPECT_THAT(backward_of("x: array<mat<f32,2,2>,1>",
                          "let m: mat<f32,2,2> = x[i]\nlet row: vec<f32,2> = extract(m, 0)\n"
                          "out[i] = add(dot(row, row), extract(row, 1))"),
              AllOf(HasSubstr("adj_row = insert(adj_row, 1, "), HasSubstr("adj_m = insert(adj_m, 0, adj_row)")));
}

TEST(AdjointText, FieldsAddToTheAdjointOfTheWholeStruct) {
  EXPECT_THAT(backward_of("b: Body", "out[i] = add(mul(b.mass, b.inner.gain), extract(b.inner.bias, 1))"),
              AllOf(HasSubstr("adj_b = with_field(adj_b, mass, "), HasSubstr("insert(adj_b.inner.bias, 1, "),
                    Not(HasSubstr("let zero"))));
}

TEST(AdjointText, ReplacedFieldContributesNothing) {
  const std::string text =
      backward_of("x: array<f32,1>, b: Body",
                  "let c: Body = b\nc = with_field(c, mass, x[i])\nout[i] = mul(c.mass, add(b.mass, c.inner.gain))");
  EXPECT_THAT(text, Not(HasSubstr("with_field(adj_b, mass, add(adj_b.mass, adj_c")));
}

TEST(AdjointText, VectorIsComparedWithZeroOnceForBothOperands) {
  const std::string text =
      backward_of("x: array<vec<f32,3>,1>, y: array<f32,1>", "let q: vec<f32,3> = div(x[i], y[i])\nout[i] = dot(q, q)");
  EXPECT_THAT(text, HasSubstr("let is_nonzero: bool = or(or(ne(extract(adj_q, 0), 0.0), "));
  EXPECT_EQ(text.find("ne(extract(adj_q, 2)"), text.rfind("ne(extract(adj_q, 2)"));
}

TEST(AdjointText, SumPassesItsAdjointOnWithoutCopies) {
  EXPECT_THAT(backward_of("x: array<f32,1>, y: array<f32,1>", "out[i] = add(x[i], y[i])"),
              AllOf(HasSubstr("atomic_add(grad_x[i], seed)"), HasSubstr("atomic_add(grad_y[i], seed)")));
}

TEST(AdjointText, AdditionToComponentLeavesTheAdjointOfTheVector) {
  EXPECT_THAT(backward_of("x: array<vec<f32,3>,1>, y: array<f32,1>",
                          "let v: vec<f32,3> = x[i]\nv = insert(v, 1, sub(extract(v, 1), y[i]))\nout[i] = dot(v, v)"),
              AllOf(HasSubstr("let adj_sub: f32 = extract(adj_v, 1)\n"), HasSubstr("atomic_add(grad_x[i], adj_v)"),
                    HasSubstr("let adj_y_i: f32 = neg(adj_sub)"), Not(HasSubstr("insert(adj_v"))));
}

TEST(AdjointText, AssignmentToElementOfMatrixChangesOneElementOfItsAdjoint) {
  EXPECT_THAT(backward_of("x: array<mat<f32,2,2>,1>, y: array<f32,1>",
                          "let m: mat<f32,2,2> = x[i]\nm = insert(m, 1, insert(extract(m, 1), 0, mul(y[i], y[i])))\n"
                          "out[i] = ddot(m, m)"),
              AllOf(HasSubstr("let adj_mul: f32 = extract(extract(adj_m, 1), 0)\n"),
                    HasSubstr("let adj_m_1: mat<f32,2,2> = insert(adj_m, 1, insert(extract(adj_m, 1), 0, 0.0))\n")));
}

TEST(AdjointText, LoopThatOnlyAddsRunsForwardWithTheAdjointOfTheSum) {
  EXPECT_THAT(
      backward_of(
          "x: array<f32,1>, n: i32",
          "let s: f32 = 0.0\nlet v: vec<f32,3> = splat<vec<f32,3>>(0.0)\n"
          "for j: i32 in range(1, n, 1) {\n  s = add(s, x[j])\n  v = insert(v, j, add(extract(v, j), x[j]))\n}\n"
          "out[i] = add(s, extract(v, 0))"),
      AllOf(HasSubstr("for j: i32 in range(1, n, 1) {"), HasSubstr("atomic_add(grad_x[j], seed)"),
            Not(HasSubstr("trips"))));
}

TEST(AdjointText, FirstContributionInEachBranchIsAssigned) {
  const std::string text = backward_of("x: array<f32,1>, n: i32",
                                       "let s: f32 = x[i]\nlet t: f32 = x[0]\nif gt(s, 0.5) {\n"
                                       "  for j: i32 in range(0, n, 1) {\n    t = mul(t, mul(t, x[j]))\n  }\n"
                                       "  s = mul(s, t)\n  out[0] = mul(t, t)\n} else {\n  s = sin(s)\n}\nout[i] = s");
  EXPECT_THAT(text, AllOf(HasSubstr("adj_s = mul(seed, t_1)\n"), HasSubstr("adj_s = mul(seed, cos(s))\n"),
                          HasSubstr("adj_t = adj_t_2\n")))
      << "the adjoint of t gets a contribution after a loop that does not change it";
}

TEST(AdjointText, ContributionsOfLaterIterationsAreAdded) {
  EXPECT_THAT(backward_of("x: array<f32,1>, n: i32",
                          "let a: f32 = x[i]\nlet s: f32 = 0.0\nfor j: i32 in range(0, n, 1) {\n"
                          "  s = add(s, mul(a, x[j]))\n}\nout[i] = s"),
              HasSubstr("adj_a = add(adj_a, mul("));
}

TEST(AdjointText, LoopReadsTheAdjointsOfCarriedValuesWithoutCopies) {
  const auto text = [](const std::string& body) {
    return backward_of(
        "x: array<f32,1>, n: i32",
        "let s: f32 = x[i]\nlet t: f32 = x[0]\nfor j: i32 in range(0, n, 1) {\n" + body + "}\nout[i] = mul(s, t)");
  };
  EXPECT_THAT(text("s = sin(s)\n"),
              AllOf(HasSubstr("let adj_s_2: f32 = mul(adj_s_1, cos("), HasSubstr("adj_s_1 = adj_s_2")));
  // Both adjoints change at once.
  EXPECT_THAT(text("let u: f32 = s\ns = t\nt = u\n"),
              AllOf(HasSubstr("let adj_s_2: f32 = adj_t_1\n"), HasSubstr("let adj_t_2: f32 = adj_s_1\n"),
                    HasSubstr("adj_s_1 = adj_s_2\n"), HasSubstr("adj_t_1 = adj_t_2\n")));
}

TEST(AdjointText, BranchWithoutNeededStatementsIsLeftOut) {
  const std::string text =
      backward_of("x: array<f32,1>, n: i32", "let s: f32 = x[i]\nif gt(n, 2) {\n  s = add(s, x[0])\n}\nout[i] = s");
  EXPECT_EQ(text.find("if "), text.rfind("if ")) << text;
}

TEST(AdjointText, CopiedAdjointIsNotChanged) {
  // The adjoints of both operands start as the same variable; the second contribution to one must not change the other.
  EXPECT_THAT(backward_of("x: array<f32,1>, y: array<f32,1>",
                          "let a: f32 = x[i]\nlet b: f32 = y[i]\nlet c: f32 = mul(a, 3.0)\nout[i] = add(c, add(a, b))"),
              AllOf(HasSubstr("let adj_a: f32 = add(seed, mul(seed, 3.0))"), HasSubstr("atomic_add(grad_y[i], seed)")));
}

TEST(AdjointText, ShortLoopOfConstantRangeSavesEachState) {
  const auto text = [](const std::string& stop) {
    return backward_of("x: array<f32,1>", "let s: f32 = x[i]\nfor j: i32 in range(0, " + stop +
                                              ", 1) {\n  s = sin(mul(s, s))\n}\nout[i] = s");
  };
  EXPECT_THAT(text("3"), AllOf(HasSubstr("let checkpoint_s: local<f32,3>"), HasSubstr("checkpoint_s[j] = "),
                               HasSubstr("= checkpoint_s[j_1]"), Not(HasSubstr("checkpoint_at"))));
  EXPECT_THAT(text("64"), AllOf(HasSubstr("let checkpoint_s: local<f32,64>"), Not(HasSubstr("checkpoint_at"))));
  EXPECT_THAT(text("65"), AllOf(HasSubstr("let checkpoint_s: local<f32,64>"), HasSubstr("checkpoint_at")));
}

}  // namespace
}  // namespace assay::transforms::testing
