// The structured form of a program has no jumps and computes the same results.
#include "ir/transforms/structure.hpp"

#include <string>

#include <gtest/gtest.h>

#include "generators/generator.hpp"
#include "ir/builder.hpp"
#include "ir/text.hpp"
#include "ir/transforms/testing/against_oracle.hpp"
#include "ir/transforms/testing/random_program.hpp"
#include "ir/verifier.hpp"

namespace assay::transforms::testing {
namespace {

using generators::Family;
using namespace ir;

/// Whether the block satisfies the contract of structure(): no jumps, and only loops over bool variables.
bool is_structured(const Function& function, const Block& block) {
  for (const Stmt& statement : block.statements) {
    if (std::holds_alternative<Break>(statement.node) || std::holds_alternative<Continue>(statement.node) ||
        std::holds_alternative<Return>(statement.node)) {
      return false;
    }
    if (const auto* branch = std::get_if<If>(&statement.node)) {
      if (!is_structured(function, branch->then_block) || !is_structured(function, branch->else_block)) return false;
    }
    if (const auto* loop = std::get_if<For>(&statement.node)) {
      if (!is_structured(function, loop->body)) return false;
    }
    if (const auto* loop = std::get_if<While>(&statement.node)) {
      const bool variable = function.expr(loop->condition).kind == ExprKind::kVariable;
      if (!variable || !is_structured(function, loop->body)) return false;
    }
  }
  return true;
}

/// The module with every function and kernel in structured form; functions return their result variables at the end.
Module structured(const Module& module) {
  Module result = module;
  for (Function& function : result.functions) {
    JumpFreeFunction made = structure(module, function);
    EXPECT_TRUE(is_structured(made.function, made.function.body));
    Builder builder(result, made.function);
    std::vector<ExprId> values;
    for (const VarId variable : made.results)
      values.push_back(builder.var(variable));
    builder.return_(values);
    function = std::move(made.function);
  }
  for (Function& kernel : result.kernels) {
    JumpFreeFunction made = structure(module, kernel);
    EXPECT_TRUE(is_structured(made.function, made.function.body));
    EXPECT_TRUE(made.results.empty());
    kernel = std::move(made.function);
  }
  return result;
}

reference::ReferenceResult evaluate(const Module& module, const OracleInput& input) {
  const auto oracle = reference::Oracle::make(module, module.kernels[0]);
  if (!oracle.ok()) {
    ADD_FAILURE() << oracle.error().text();
    return {};
  }
  return oracle->evaluate({.launch = input.launch});
}

void expect_same(const Module& module, std::uint64_t seed) {
  const Module other = structured(module);
  for (const VerifierError& diagnostic : verify(other))
    ADD_FAILURE() << to_text(other, diagnostic);
  if (::testing::Test::HasFailure()) return;
  const OracleInput input = draw(module, module.kernels[0], seed);
  const reference::ReferenceResult want = evaluate(module, input);
  const reference::ReferenceResult got = evaluate(other, input);
  ASSERT_TRUE(want.findings.empty() && got.findings.empty() && got.is_complete);
  for (std::size_t p = 0; p < want.outputs.size(); ++p) {
    ASSERT_EQ(want.outputs[p].has_value(), got.outputs[p].has_value());
    for (std::size_t k = 0; want.outputs[p] && k < want.outputs[p]->elements.size(); ++k) {
      const reference::OutputElement& a = want.outputs[p]->elements[k];
      const reference::OutputElement& b = got.outputs[p]->elements[k];
      ASSERT_TRUE(a.value == b.value && a.integer == b.integer && a.is_written == b.is_written)
          << "parameter " << p << ", element " << k << "\n"
          << to_text(module) << to_text(other);
    }
  }
}

class StructuredGeneratedKernel : public ::testing::TestWithParam<Family> {};

TEST_P(StructuredGeneratedKernel, ComputesSameResultsAsOriginal) {
  for (std::uint64_t seed = 0; seed < 100 && !HasFatalFailure(); ++seed)
    expect_same(generators::generate(GetParam(), seed).module, seed);
}

INSTANTIATE_TEST_SUITE_P(Passes, StructuredGeneratedKernel,
                         ::testing::Values(Family::kControlFlow, Family::kNestedLoop, Family::kLoop));

TEST(StructuredControlFlow, PreservesResultsOfRandomPrograms) {
  for (std::uint64_t seed = 0; seed < 500 && !HasFatalFailure(); ++seed)
    expect_same(random_program(seed), seed);
}

/// Jumps at every kind of position, on paths selected by the inputs.
constexpr std::string_view kJumps[] = {
    R"(
    for a in range(n):
        for b in range(n):
            if x[b] > 1.0:
                break
            if x[b] < -1.0:
                continue
            s += x[a] * x[b]
            if s > 3.0:
                out[i] = s
                return
        if s < -2.0:
            break
)",
    R"(
    while True:
        k += 1
        if k > n:
            break
        if x[k] > 0.0:
            if x[k] > 1.0:
                continue
            else:
                s += 1.0
                if x[k] > 0.5:
                    break
        else:
            if x[k] < -1.5:
                out[i] = -s
                return
            s -= x[k]
        s *= 1.25
)",
    R"(
    if x[i] > 0.0:
        if x[i] > 1.0:
            return
        s = 2.0
    else:
        if x[i] < -1.0:
            out[i] = 7.0
            return
        else:
            s = 3.0
    for a in range(n, 0, -1):
        while s < 50.0:
            s = s * 2.0 + x[a]
            if s > 20.0:
                break
            if s < -20.0:
                return
        s = s * 0.25
)",
};

TEST(StructuredControlFlow, PreservesResultsForJumpsAtEveryPosition) {
  for (const std::string_view body : kJumps) {
    const Example example = {.name = "jumps",
                             .parameters = "x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)",
                             .body = body,
                             .before = "# domain: 0 <= n <= 9\n"};
    std::string source = example.source();
    const std::string head = "):\n";
    source.insert(source.find(head) + head.size(), "\n    i = wp.tid()\n    s = float(0.5)\n    k = int(0)");
    source += "    out[i] = s + float(k)\n";
    const Module module = read(source);
    ASSERT_FALSE(module.kernels.empty());
    for (std::uint64_t seed = 0; seed < 60 && !HasFatalFailure(); ++seed)
      expect_same(module, seed);
  }
}

}  // namespace
}  // namespace assay::transforms::testing
