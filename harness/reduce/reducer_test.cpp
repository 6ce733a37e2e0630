// The reducer with fake judges. A program fails if it contains a certain construct, so the expected result is known.
#include "harness/reduce/reducer.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "generators/generator.hpp"
#include "ir/text.hpp"
#include "ir/verifier.hpp"
#include "ir/visit.hpp"
#include "support/rng.hpp"

namespace assay::reduce {
namespace {

using namespace ir;

Module program(const std::string& text) {
  Result<Module> module = parse_text(text);
  EXPECT_TRUE(module.ok()) << module.error().text();
  for (const VerifierError& diagnostic : verify(*module))
    ADD_FAILURE() << to_text(*module, diagnostic);
  return alone(*module, 0);
}

using Shows = std::function<bool(const Module&)>;

/// Judges each candidate alone, and checks that it is a valid candidate.
Judge judge_by(const Shows& shows) {
  return [shows](std::span<const Module> candidates) {
    std::vector<bool> shown;
    for (const Module& candidate : candidates) {
      EXPECT_TRUE(verify(candidate).empty()) << to_text(candidate);
      EXPECT_EQ(candidate.kernels.size(), 1U);
      shown.push_back(shows(candidate));
    }
    return shown;
  };
}

Reduction reduced(const std::string& text, const Shows& shows, ReductionBudget budget = {}) {
  Result<Reduction> reduction = reduce(program(text), judge_by(shows), budget);
  EXPECT_TRUE(reduction.ok()) << to_text(program(text));
  return reduction.take();
}

/// Whether a value stored to the named array contains the operation.
bool stores_operation(const Module& module, Op op, const std::string& array) {
  const Function& kernel = module.kernels.front();
  bool found = false;
  for_each_statement(kernel.body, [&](const Stmt& statement) {
    const auto* store = std::get_if<Store>(&statement.node);
    if (store == nullptr || kernel.var(kernel.expr(store->array).variable).name != array) return;
    for_each_expression(kernel, store->value,
                        [&](ExprId, const Expr& expr) { found |= expr.kind == ExprKind::kOperation && expr.op == op; });
  });
  return found;
}

bool has_operation(const Module& module, Op op) {
  return std::ranges::any_of(module.kernels.front().expressions,
                             [op](const Expr& expr) { return expr.kind == ExprKind::kOperation && expr.op == op; });
}

constexpr const char* kLong = R"(struct P {
  a: f32
  b: f64
}

func f(x: f32, s: f32) -> f32 {
  let t: f32 = mul(x, s)
  return add(t, 1.0)
}

# domain: 0 <= n <= 9
kernel k(x: array<f32,2>, y: array<f64,1>, p: P, n: i32, out: array<f32,1>, other: array<f32,1>; i, j) {
  let a: f32 = x[i, j]
  let s: f32 = 0.0
  for m: i32 in range(0, n, 1) {
    if lt(a, f(a, p.a)) {
      s = add(s, mul(a, cast<f32>(y[m])))
    } else {
      s = sub(s, sqrt(add(mul(a, a), 1.0)))
    }
  }
  other[i] = s
  if gt(s, 1.0) {
    out[j] = add(s, sin(mul(a, 3.25)))
  }
}
)";

TEST(Reducer, KeepsOnlyFailingOperationAndItsStore) {
  const Reduction reduction =
      reduced(kLong, [](const Module& module) { return stores_operation(module, Op::kSin, "out"); });
  EXPECT_TRUE(reduction.is_minimal);
  EXPECT_EQ(
      to_text(reduction.module),
      "# launch: (1,)\n# domain: 0.75 <= out <= 0.75\nkernel k(out: array<f32,1>; i) {\n  out[0] = sin(0.5)\n}\n");
  EXPECT_EQ(reduction.reduced_size.statements, 1);
  EXPECT_EQ(reduction.original_size.statements, 11);
}

TEST(Reducer, KeepsDeadCodeIfItCausesTheFailure) {
  const Reduction reduction = reduced(
      "kernel k(x: array<f32,1>, out: array<f32,1>; i) {\n  let a: f32 = sin(x[i])\n  let b: f32 = cos(a)\n"
      "  out[i] = x[i]\n}\n",
      [](const Module& module) { return has_operation(module, Op::kCos); });
  EXPECT_EQ(reduction.reduced_size.statements, 1);
}

TEST(Reducer, RejectsKernelThatDoesNotFail) {
  const Result<Reduction> reduction = reduce(program(kLong), judge_by([](const Module&) { return false; }));
  EXPECT_FALSE(reduction.ok());
}

TEST(Reducer, StopsWhenTrialOrTimeBudgetIsSpent) {
  std::int64_t judged = 0;
  const auto count = [&](const Module& module) {
    ++judged;
    return stores_operation(module, Op::kSin, "out");
  };
  const Reduction few = reduced(kLong, count, {.max_candidates = 10});
  EXPECT_FALSE(few.is_minimal);
  EXPECT_EQ(few.candidate_count, judged);
  EXPECT_LE(judged, 10 + 17) << "at most one further batch, and its accepted candidates";
  EXPECT_TRUE(stores_operation(few.module, Op::kSin, "out"));
  const Reduction none = reduced(kLong, count, {.time_limit = std::chrono::milliseconds(0)});
  EXPECT_FALSE(none.is_minimal);
  EXPECT_EQ(none.reduced_size.statements, 11);
}

TEST(Reducer, JudgesOnlyAcceptedCandidatesTwice) {
  std::map<std::string, int> seen;
  int taken = 0;
  const Judge judge = judge_by([&](const Module& module) {
    ++seen[to_text(module)];
    return stores_operation(module, Op::kSin, "out");
  });
  const Result<Reduction> reduction = reduce(program(kLong), judge, {}, [&](const ReductionProgress&) { ++taken; });
  const auto again = std::ranges::count_if(seen, [](const auto& program) { return program.second > 1; });
  EXPECT_LE(again, taken);
  EXPECT_GE(seen.size(), 20U);
}

TEST(Reducer, RejectsCandidatesThatFailOnlyTogetherWithOthers) {
  const auto judge = [](std::span<const Module> candidates) {
    std::vector<bool> shown;
    for (const Module& candidate : candidates)
      shown.push_back(candidates.size() > 1 || stores_operation(candidate, Op::kSin, "out"));
    return shown;
  };
  const Result<Reduction> reduction = reduce(program(kLong), judge);
  ASSERT_TRUE(reduction.ok());
  EXPECT_TRUE(stores_operation(reduction->module, Op::kSin, "out"));
  EXPECT_TRUE(reduction->is_minimal);
}

/// A straight-line program of many statements that contains the two operations of the fault.
std::string long_program(Rng& rng, int statements) {
  static constexpr const char* kOperations[] = {"add", "sub", "mul", "min", "max"};
  std::string text =
      "kernel k(x: array<f32,1>, y: array<f32,1>, n: i32, out: array<f32,1>, other: array<f32,1>; i) {\n";
  text += "  let v0: f32 = x[i]\n  let v1: f32 = y[i]\n";
  const int first = rng.uniform_int(2, statements / 2);
  const int second = rng.uniform_int(first + 1, statements - 1);
  for (int s = 2; s < statements; ++s) {
    const auto recent = [&] { return fmt::format("v{}", rng.uniform_int(std::max(0, s - 6), s - 1)); };
    if (s == first) {
      text += fmt::format("  let v{}: f32 = atan2({}, {})\n", s, recent(), recent());
    } else if (s == second) {
      text += fmt::format("  let v{}: f32 = hypot({}, v{})\n", s, recent(), first);
    } else if (s % 9 == 0) {
      text += fmt::format("  let v{0}: f32 = {1}\n  if lt({2}, {3}) {{\n    v{0} = sin({2})\n  }}\n", s, recent(),
                          recent(), recent());
    } else if (s % 13 == 0) {
      text +=
          fmt::format("  let v{0}: f32 = 0.0\n  for m{0}: i32 in range(0, n, 1) {{\n    v{0} = add(v{0}, {1})\n  }}\n",
                      s, recent());
    } else {
      text += fmt::format("  let v{}: f32 = {}({}, {})\n", s, kOperations[rng.uniform_int(0, 4)], recent(), recent());
    }
  }
  return text + fmt::format("  out[i] = v{}\n  other[i] = add(v{}, v{})\n}}\n", second, statements - 1, statements - 2);
}

TEST(Reducer, ReducesMajorityOfLongProgramsToTwoStatements) {
  Rng rng(7);
  std::vector<std::int64_t> statements;
  for (int program = 0; program < 20; ++program) {
    const Reduction reduction = reduced(long_program(rng, rng.uniform_int(60, 200)), [](const Module& module) {
      return has_operation(module, Op::kAtan2) && has_operation(module, Op::kHypot);
    });
    EXPECT_TRUE(reduction.is_minimal);
    EXPECT_GE(reduction.original_size.statements, 60);
    EXPECT_LE(reduction.candidate_count, 400);
    statements.push_back(reduction.reduced_size.statements);
  }
  std::ranges::nth_element(statements, statements.begin() + 10);
  EXPECT_LE(statements[10], 2);
}

TEST(Reducer, IsDeterministic) {
  Rng rng(11);
  const std::string text = long_program(rng, 100);
  const auto shows = [](const Module& module) { return has_operation(module, Op::kHypot); };
  EXPECT_EQ(to_text(reduced(text, shows).module), to_text(reduced(text, shows).module));
}

TEST(Reducer, TerminatesEvenIfVerdictsAreRandom) {
  for (const generators::KernelFamilyDefinition& family : generators::families()) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      Rng rng(seed);
      int judged = 0;
      const auto shows = [&](const Module&) { return ++judged <= 2 || rng.uniform_int(0, 2) > 0; };
      const Module module = alone(generators::generate(family.family, seed).module, 0);
      const Result<Reduction> reduction = reduce(module, judge_by(shows));
      ASSERT_TRUE(reduction.ok());
      EXPECT_TRUE(reduction->is_minimal);
      EXPECT_LE(reduction->reduced_size, reduction->original_size) << family.name;
    }
  }
}

}  // namespace
}  // namespace assay::reduce
