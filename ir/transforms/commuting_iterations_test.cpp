// Loops whose iterations the reverse sweep may visit in any order: it needs no checkpoints for them.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ir/transforms/testing/against_oracle.hpp"

namespace assay::transforms::testing {
namespace {

constexpr std::string_view kParameters =
    "x: wp.array(dtype=float), y: wp.array(dtype=float), n: int, out: wp.array(dtype=float)";
constexpr std::string_view kDomain = "# domain: 0 <= n <= 12\n";

/// A loop over elements that a sequence of integers selects, with this statement before the loop, in its body and after
/// it.
std::string loop_with(const std::string& before, const std::string& body, const std::string& after) {
  return "\n    i = wp.tid()\n    at = int(i)\n" + before + "    for j in range(n):\n        at = (at * 5 + 3) % 29\n" +
         body + after;
}

struct LoopExample {
  std::string name;
  std::string body;
};
void PrintTo(const LoopExample& example, std::ostream* out) { *out << example.name; }

const std::string kSum = "    s = y[i]\n";
const std::string kStore = "    out[i] = s * s\n";

std::vector<LoopExample> sums() {
  return {
      {"sum", loop_with(kSum, "        s += x[at] * x[at]\n", kStore)},
      {"difference", loop_with(kSum, "        s = s - x[at] * y[i]\n", kStore)},
      {"sum_on_the_right", loop_with(kSum, "        s = x[at] * y[i] + s\n", kStore)},
      {"two_sums", loop_with(kSum + "    t = float(0.5)\n", "        s += x[at]\n        t -= wp.sin(x[at]) * y[i]\n",
                             "    out[i] = s * t\n")},
      {"sum_in_branch",
       loop_with(kSum, "        if at > 9:\n            s += x[at] * y[at]\n        else:\n            s -= y[at]\n",
                 kStore)},
      {"sum_in_one_branch", loop_with(kSum, "        if x[at] > 0.25:\n            s += wp.exp(x[at])\n", kStore)},
      {"continue",
       loop_with(kSum, "        if at % 3 == 0:\n            continue\n        s += x[at] * y[at]\n", kStore)},
      {"break", loop_with(kSum, "        if at == 13:\n            break\n        s += x[at] * y[at]\n", kStore)},
      {"break_after_sum",
       loop_with(kSum, "        s += x[at] * y[at]\n        if s * s > 9.0:\n            break\n", kStore)},
      {"several_terms",
       loop_with(kSum, "        s += x[at] * y[i]\n        s += y[at]\n        s -= x[at + 1]\n", kStore)},
      {"sum_in_inner_loop",
       loop_with(kSum, "        for k in range(at % 4):\n            s += x[at] * y[k]\n        s -= x[at]\n", kStore)},
      {"sum_in_inner_while_loop",
       loop_with(kSum,
                 "        k = int(at)\n        while k > 2:\n            s += x[k] * y[at]\n            k = k / 2\n",
                 kStore)},
      {"product_in_inner_loop",
       loop_with(kSum, "        p = x[at]\n        for k in range(3):\n            p = p * y[k] + p\n        s += p\n",
                 kStore)},
      {"unchanged_state", loop_with(kSum + "    t = x[i]\n", "        s += t * x[at]\n", "    out[i] = s * t\n")},
      {"atomic_addition", loop_with("    s = y[i]\n", "        wp.atomic_add(out, at, x[at] * s)\n", "")},
      {"vector_sum", loop_with("    s = wp.vec2(y[i], 1.0)\n", "        s += wp.vec2(x[at], x[at + 1]) * y[at]\n",
                               "    out[i] = wp.dot(s, s)\n")},
      {"component",
       loop_with("    s = wp.vec2(y[i], 1.0)\n", "        s[at % 2] += x[at] * y[at]\n        s[1] -= x[at]\n",
                 "    out[i] = wp.dot(s, s)\n")},
      {"row", loop_with("    s = wp.mat22(y[i], 1.0, 2.0, x[i])\n", "        s[at % 2] += wp.vec2(x[at], x[at + 1])\n",
                        "    out[i] = wp.determinant(s)\n")},
      {"element_of_matrix", loop_with("    s = wp.mat22(y[i], 1.0, 2.0, x[i])\n",
                                      "        if at > 3:\n            s[at % 2, 1] = x[at] * y[i] + s[at % 2, 1]\n",
                                      "    out[i] = wp.determinant(s)\n")},
      {"computed_stop",
       "\n    i = wp.tid()\n    s = y[i]\n    at = int(i)\n    if at < 2:\n        for j in range(n / 2, n * 2 - 3):\n"
       "            at = (at * 5 + j) % 29\n            s += x[at] * x[at]\n    out[i] = s * s\n"},
      {"while_loop",
       "\n    i = wp.tid()\n    s = y[i]\n    k = int(0)\n    while k < n:\n        s += x[k] * x[k + 1]\n"
       "        k += i + 1\n    out[i] = s * s\n"},
      {"while_loop_in_a_loop",
       "\n    i = wp.tid()\n    s = y[i]\n    for j in range(n):\n        t = float(0.5)\n        k = int(j)\n"
       "        while k < n:\n            t += x[k] * s\n            k += i + 1\n        s = wp.sin(s * t)\n    out[i] "
       "= s\n"},
  };
}

/// The adjoint of a carried value differs between iterations, or an iteration needs the effects of a later one.
std::vector<LoopExample> others() {
  return {
      {"product", loop_with(kSum, "        s += x[at] * s\n", kStore)},
      {"doubled", loop_with(kSum, "        s = s + s + x[at]\n", kStore)},
      {"subtracted", loop_with(kSum, "        s = x[at] * x[at] - s\n", kStore)},
      {"scaled_in_branch",
       loop_with(kSum, "        if at > 9:\n            s = 0.5 * s\n        s += x[at] * x[at]\n", kStore)},
      {"reset_in_branch",
       loop_with(kSum, "        if at > 19:\n            s = y[at]\n        s += x[at] * x[at]\n", kStore)},
      {"last_value", loop_with(kSum, "        s = x[at] * x[at]\n", kStore)},
      {"sum_of_sums", loop_with(kSum + "    t = float(0.5)\n", "        t += s * x[at]\n        s += x[at]\n",
                                "    out[i] = s * t\n")},
      {"sum_added_to_sum", loop_with(kSum + "    t = float(0.5)\n", "        t += s\n        s += x[at] * x[at]\n",
                                     "    out[i] = s * t\n")},
      {"exchanged",
       loop_with(kSum + "    t = float(0.5)\n", "        keep = s\n        s = t + x[at] * x[at]\n        t = keep\n",
                 "    out[i] = s * t * t\n")},
      {"scaled_in_inner_loop",
       loop_with(kSum, "        for k in range(at % 4):\n            s = s * y[k]\n        s += x[at] * x[at]\n",
                 kStore)},
      {"scaled_first_value_in_inner_loop",
       "\n    i = wp.tid()\n    s = y[i]\n    at = int(i)\n    for j in range(n):\n        s += x[at] * x[at]\n"
       "        for k in range(at % 4):\n            s = s * y[k]\n        at = (at * 5 + 3) % 29\n    out[i] = s\n"},
      {"earlier_sum_used_in_branch",
       loop_with(kSum + "    t = float(0.5)\n",
                 "        keep = t\n        t += x[at]\n        if at > 9:\n            s += keep * x[at]\n",
                 "    out[i] = s * t\n")},
      {"sum_used_in_inner_loop",
       loop_with(kSum + "    t = float(0.5)\n",
                 "        for k in range(at % 4):\n            t += s * y[k]\n        s += x[at] * x[at]\n",
                 "    out[i] = s * t\n")},
      {"overwritten_store", loop_with("    s = y[i]\n", "        out[i] = x[at] * x[at] * s\n", "")},
      {"maximum", loop_with(kSum, "        s = wp.max(s, x[at])\n", kStore)},
      {"replaced_component",
       loop_with("    s = wp.vec2(y[i], 1.0)\n", "        s[at % 2] = x[at] * x[at]\n", "    out[i] = wp.dot(s, s)\n")},
      {"other_component", loop_with("    s = wp.vec2(y[i], 1.0)\n", "        s[at % 2] = s[1] + x[at] * x[at]\n",
                                    "    out[i] = wp.dot(s, s)\n")},
      {"component_of_vector", loop_with("    s = wp.vec2(y[i], 1.0)\n", "        s[0] = s[0] + x[at] * s[1]\n",
                                        "    out[i] = wp.dot(s, s)\n")},
  };
}

class CommutingIterations : public ::testing::TestWithParam<LoopExample> {};
class OrderedIterations : public ::testing::TestWithParam<LoopExample> {};

OracleComparison comparison_of(const LoopExample& example, std::uint64_t seed) {
  return compare({.name = example.name, .parameters = kParameters, .body = example.body, .before = kDomain}, seed);
}

TEST_P(CommutingIterations, NeedNoCheckpoints) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const OracleComparison result = comparison_of(GetParam(), seed);
    EXPECT_EQ(result.kind, OracleComparison::Kind::kAgrees) << result.message;
    // The loop around a loop may need checkpoints.
    EXPECT_EQ(result.local_elements > 0,
              GetParam().name == "product_in_inner_loop" || GetParam().name == "while_loop_in_a_loop");
  }
}

TEST_P(OrderedIterations, NeedCheckpoints) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const OracleComparison result = comparison_of(GetParam(), seed);
    EXPECT_EQ(result.kind, OracleComparison::Kind::kAgrees) << result.message;
    EXPECT_GT(result.local_elements, 0);
  }
}

const auto kNameOf = [](const auto& parameter) { return parameter.param.name; };
INSTANTIATE_TEST_SUITE_P(Adjoint, CommutingIterations, ::testing::ValuesIn(sums()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Adjoint, OrderedIterations, ::testing::ValuesIn(others()), kNameOf);

// The state of the loop depends on an array that the loop changes, so the loop cannot run again after its end.
TEST(CommutingIterations, KeepCheckpointsIfTheyReadWhatTheLoopChanges) {
  const OracleComparison result =
      compare({.name = "links",
               .parameters = "x: wp.array(dtype=float), links: wp.array(dtype=int), out: wp.array(dtype=float)",
               .body = R"(
    i = wp.tid()
    s = x[i]
    at = int(i)
    for j in range(3):
        s += x[at] * x[at]
        at = links[3 * i + j]
        links[3 * i + j] = at + 1
    out[i] = s * s
)",
               .before = "# domain: 0 <= links <= 9\n"},
              1);
  EXPECT_EQ(result.kind, OracleComparison::Kind::kAgrees) << result.message;
  EXPECT_GT(result.local_elements, 0);
}

}  // namespace
}  // namespace assay::transforms::testing
